// Package redact replaces secrets in text with typed, numbered placeholders
// before the text leaves for a summary or another model.
//
// A secret is found by its value (vendor prefixes, JSON web tokens, private
// keys, passwords in addresses) or by the name it is given (password=...,
// "api_key": "...", Authorization: ...). The same secret gets the same
// placeholder, for example [SECRET:aws-key#1], so that text stays readable and
// two secrets stay apart; nothing of the value is shown.
//
// The scan is written by hand and looks at every byte a bounded number of times:
// its time grows linearly with the text, whatever the text is. Kinds and
// exemptions follow the redaction rules of Hermes Agent, which found several
// regular expressions quadratic on long base64 runs.
package redact
