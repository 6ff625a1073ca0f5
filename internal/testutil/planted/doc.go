// Package planted makes secrets for tests: keys of many vendors, passwords,
// tokens, private keys. None is real, none stands whole in a file, and the same
// seed makes the same ones.
//
// The tests of package redact hold the redactor against them one by one, those of
// package conformance the whole service: what is planted in a conversation must
// not reach the model that summarizes it.
package planted
