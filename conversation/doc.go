// Package conversation is the domain model of Elbowroom: one read-only view of
// a conversation that remembers where every part of it stands in the caller's
// bytes, and one kind of change, the [Rewrite], that is rendered by splicing
// those bytes.
//
// A codec ([Parse]) turns a provider's own JSON into a [Conversation] in a
// single pass. Nothing is re-encoded: a message that nobody changed leaves
// exactly as it came, because its bytes are never touched. The engine and the
// breakpoint placer look at messages and blocks, decide, and record decisions in
// a Rewrite; [Rewrite.Splices], [Rewrite.Program] and [Rewrite.Apply] render the
// same decisions as byte edits, as an edit program over messages, and as a new
// domain view.
//
// The package knows wire formats and no policy: what to drop, shorten or mark is
// decided elsewhere.
package conversation
