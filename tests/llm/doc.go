// Package llm talks to a real model through the summarizer backends. `make
// test-llm` starts one and sets the variables that the tests look for; without
// them they are skipped. The model is tiny: the tests prove that requests and
// answers get through, not that summaries are good.
package llm
