// Package redact replaces secrets in text with typed, numbered placeholders
// before the text leaves for a summary or another model, and again in what comes
// back.
//
// A secret is found by its value (vendor prefixes, JSON web tokens, private
// keys, passwords in addresses, card numbers) or by the name it is given
// (password=..., "api_key": "...", Authorization: ...). The same secret gets the
// same placeholder, for example [SECRET:aws-key#1], so that text stays readable
// and two secrets stay apart; nothing of the value is shown.
//
// Escapes hide names, signs and keys: "\u0070assword", https:\/\/, %3A, &quot;. A
// text that has some is looked at once more as it reads without them, near to where
// they stand, and what is found there is replaced in the text itself, whose other
// escapes stay as they are.
//
// The scan is written by hand. It runs from left to right, stops only where a
// secret can begin, and looks a bounded distance around such a place: its time
// grows linearly with the text, whatever the text is. Rules of the kind "any long
// random string" are left out on purpose: commit hashes, checksums, identifiers
// and images are what a summary is about. Kinds and exemptions follow the
// redaction rules of Hermes Agent, which found several regular expressions
// quadratic on long base64 runs.
package redact
