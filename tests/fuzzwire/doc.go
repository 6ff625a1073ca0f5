// Package fuzzwire sends the program as many requests as are asked for, over gRPC and
// HTTP: real and generated conversations, most of them damaged, with options drawn at
// random, to every call. The independent checker of package conformance judges every
// answer; every refusal must say what is wrong and where, in a code that a caller can
// act on. Each request is made of the run's seed and its own number alone, so a failure
// is repeated by both:
//
//	go test ./tests/fuzzwire -seed SEED -only NUMBER
package fuzzwire
