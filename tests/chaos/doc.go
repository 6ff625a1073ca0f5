// Package chaos breaks what a running service stands on while clients use it: the
// process, its Redis, its summarizing model, its certificate, its configuration, its log.
// The server is the binary, Redis is Redis, and the model is a double on a loopback port.
// Every answer is judged by package conformance, every failure must be one that the fault
// is allowed to cause, and afterwards the process must hold no more than before.
//
// `make test` runs each fault once; `make chaos` runs more clients, and more than once.
// docs/operations.md has a row for each fault.
package chaos
