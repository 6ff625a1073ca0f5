// Package security attacks the program from outside, over loopback, as `serve` runs it
// with TLS and authentication, and says for each attack what it gets. After each of
// them an honest caller is served, and the server has let go of the goroutines and
// the memory that the attack took. The table is in table_test.go; docs/security.md
// has it for readers, and a test compares the two.
package security
