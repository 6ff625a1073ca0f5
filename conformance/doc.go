// Package conformance checks answers of the service from the outside. It is
// given what went in and what came out, decodes both with encoding/json and its
// own eyes, and lists every promise that was broken: bytes that changed without
// leave, a tool call without its result, a request that was lost, an edit program
// that leads somewhere else. It shares no code with the codecs and the engine it
// judges, so a mistake there cannot hide here.
//
// [Compression.Check] judges one compression, [Marking.Check] one placement of
// cache breakpoints, and [Edits.Check] the short form of either. All run in time
// linear in the conversation.
package conformance
