// Package wiredouble has loop-back doubles of the wires that summarizer backends
// speak: [OpenAI] and [Anthropic] over HTTP, [Plugin] over gRPC. A double checks
// every request strictly (path, method, key, content type, a length limit, no
// tools, no field that nobody asked for), records it, and plays a script: answers
// that are complete, cut, refused or garbage, errors of every status, silence,
// drips, resets. It knows the wires by itself, without the providers' SDKs, and
// ends with the test.
//
// A script is a list of [Step], one for each request; the last one repeats.
package wiredouble
