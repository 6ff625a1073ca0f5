// Package elbowroom is the Go client of Elbowroom, the service that keeps long
// agent conversations inside a model's context window and their prefix in the
// provider's cache.
//
// [Connect] returns a [Client]. Its methods take the JSON that a provider would
// get, a whole request body or its list of messages, and return it changed: as
// [json.RawMessage], byte for byte the caller's own but for what was deliberately
// changed. A large conversation travels once: the service answers with edits, which
// the client applies to the caller's bytes.
//
// Everything else of a request is the protobuf message of the API, for example
// [elbowroomv1.CompressRequest]; nil asks for the defaults. Callers who build
// typed conversations use the generated stub of [Client.Service].
//
// An agent loop needs one [Conversation]: [Conversation.BeforeRequest] turns each
// request into the one to send, [Conversation.AfterResponse] takes the usage that
// the provider reported. It carries the opaque states and sends only what is new.
//
// Errors are of the types below [Error], each with a sentence of advice, and say
// where known which message, field or byte is concerned.
//
// The client passes on what gRPC carries: metadata of the outgoing context, and
// trace context where the caller gives [WithDialOptions] the stats handler of
// OpenTelemetry's otelgrpc.
package elbowroom
