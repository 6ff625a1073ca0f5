// Package plugin is the summarizer backend that calls a SummarizerService
// (proto/elbowroom/v1/summarizer.proto) over gRPC, so that a model of your own can
// be plugged in from any language. Prompts are conversations: they leave the
// machine over TLS only. The caller's trace context goes along.
package plugin
