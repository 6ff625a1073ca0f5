// Command load drives a real server, started as a process of its own, with what agents
// send: recorded conversations that grow turn by turn, under every RPC, whole and as
// deltas, native and typed, with extractive summaries and with a model that takes its
// time. Answers are judged by package conformance, which shares nothing with the server.
//
// It runs in phases: a warm-up; closed-loop clients, each of which calls again when it
// has its answer, and whose rate is taken for the capacity; then open-loop arrivals,
// which nobody's slowness holds back, at three quarters of the capacity and at three
// times it. A call that is refused is made again when the server said so, until it is
// answered. The exit code is 1 when a promise breaks: an error without a type, a broken
// conversation, a call that was never answered, a goroutine left behind, more memory
// than was allowed, or accepted calls more than twice as slow under overload.
//
//	go run ./tests/load            # or make load
package main
