// Package httpapi serves the gRPC service over plain HTTP/1.1: as Connect and
// gRPC-Web, in JSON or protobuf, and as the POST /v1/compress that gateways call.
//
// Every call ends up in the same gRPC server, so interceptors, limits and logging
// are those of gRPC. What HTTP adds is kept here: who may call from a browser
// (browser.go), how a body is read within its limits (body.go), how JSON becomes a
// message (codec.go), how an error is written (errors.go), and the gateways' call
// (compress.go). The translation between protocols is Vanguard's, and rpc.go is the
// only file that knows it.
package httpapi
