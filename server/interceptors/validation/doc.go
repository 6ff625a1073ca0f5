// Package validation checks requests against the rules written in the proto and
// answers violations with INVALID_ARGUMENT, in google.rpc.BadRequest for clients
// of any kind and in buf.validate.Violations for those that know the rules.
//
// The interceptor of go-grpc-middleware returns the latter only, and lists every
// violation, which a hostile request can make millions of.
package validation
