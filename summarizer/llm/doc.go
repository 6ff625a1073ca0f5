// Package llm is the rung of the ladder that asks a language model for the
// summary. It owns what any backend would need: the prompt and its template, the
// conversation as delimited data, parts where the middle is larger than the
// model's window, redaction of what leaves and of what comes back, and the
// judgement whether an answer is a summary at all.
//
// # Data and instructions
//
// Everything that comes from the conversation stands between lines that carry a
// code, and so does the label of every message. The code is derived from the data
// and never occurs in it, so no text of the data can end its piece or imitate a
// message. The same request makes the same bytes: no dates, no randomness.
//
// # What is accepted
//
// An answer is refused where it is no summary: a refusal, a placeholder, an error
// message, the same words again and again, orders to the reader, or the next
// messages of the conversation. What is accepted is written anew from its
// sections, without characters that nobody sees, and a next step that claims an
// approval is marked as to be confirmed: notes can report one and cannot give one.
//
// # Parts
//
// Where the middle does not fit one prompt it is read in parts, in order. Each
// part updates the notes on those before it, by the prompt that also updates the
// summary of an earlier round, and the last part's answer is the summary: it is
// the merge. A separate merge of independent notes would need a window for all of
// them at once and more calls; this way every call is bounded whatever the number
// of parts, and what was read is not read again when a later part has to be cut
// smaller.
package llm
