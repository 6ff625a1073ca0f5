// Package hostile makes the texts that tokenizers disagree on: the joints of the split patterns, long runs, every
// Unicode character, contractions with odd quotes, broken bytes. Everything is seeded, so the same call gives the same
// texts in every run and on every machine.
//
// The tests of package tokens hold the counter against an oracle with them, and bench/tokens against two more.
package hostile
