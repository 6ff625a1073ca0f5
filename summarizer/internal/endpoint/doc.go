// Package endpoint is what the backends that speak HTTP share, under their
// provider's SDK: a client that goes nowhere but where it was sent ([NewClient]),
// an answer with bounds ([Call]), and one table from what went wrong to a
// [summarizer.Failure] ([Explain]). Nothing that a server wrote about an error
// gets into an error's text, because servers quote keys and prompts there.
package endpoint
