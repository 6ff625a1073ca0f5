// Package server is the gRPC adapter: it turns requests into calls of the engine,
// the breakpoint placer and the token counter, and their results into responses.
// It decides nothing.
//
// Every RPC has a file of its own, named after it, and all of them read the same
// way: decode, call, encode. decode.go reads either form of a conversation;
// typed.go and native.go convert and render the two forms; errors.go holds the
// one table from errors to status codes; chain.go names the interceptors in
// order; server.go assembles everything and lifecycle.go starts and stops it. The
// package httpapi serves the same over HTTP.
package server
