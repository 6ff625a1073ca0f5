package wiredouble

import (
	"cmp"
	"net/http"
	"time"
)

// What every answer of a double says of itself, where it says anything.
const (
	// Model is the model that answered.
	Model = "double-1"
	// PromptTokens is what its prompt cost.
	PromptTokens = 11
	// CompletionTokens is what its text cost.
	CompletionTokens = 7
)

// Step is what a double does with one request. The same step is written in each
// wire's own way, streamed where a stream was asked for.
type Step struct {
	kind        kind
	answer      answer
	status      int
	contentType string
	body        string
	header      http.Header
	size        int64
	every       time.Duration
	gate        <-chan struct{}
	from        func(Request) Step
}

type kind int

const (
	plays kind = iota
	plainStatus
	contextLength
	rawBody
	garbage
	wrongType
	unstreamed
	errorInside
	errorMidway
	truncated
	earlyEnd
	reset
	resetMidway
	hang
	hangMidway
	drip
	pings
	huge
	computed
)

// answer is a complete answer in no wire's terms.
type answer struct {
	text, thinking string
	ending         ending
	called         bool
	silent         bool // no usage
	// What it cost, 0 for the usual figures.
	prompt, completion int
}

// promptTokens and completionTokens are what the answer says of itself.
func (a answer) promptTokens() int     { return cmp.Or(a.prompt, PromptTokens) }
func (a answer) completionTokens() int { return cmp.Or(a.completion, CompletionTokens) }

type ending int

const (
	endStop ending = iota
	endLength
	endRefusal
	endTools
	endFilter
)

// Text answers with the text.
func Text(text string) Step { return Step{answer: answer{text: text}} }

// Empty answers, successfully, with nothing.
func Empty() Step { return Text("") }

// Length answers with the text, cut off at the length limit.
func Length(text string) Step { return Step{answer: answer{text: text, ending: endLength}} }

// Refusal answers with a refusal, and no text.
func Refusal() Step { return Step{answer: answer{ending: endRefusal}} }

// Filtered answers with a piece of text that a content filter ended. Anthropic's
// wire has only the refusal for it.
func Filtered(text string) Step { return Step{answer: answer{text: text, ending: endFilter}} }

// ToolCallOnly answers with a call of a tool that nobody offered.
func ToolCallOnly() Step { return Step{answer: answer{ending: endTools, called: true}} }

// ToolCallSaidStop does the same and says that the answer is complete.
func ToolCallSaidStop() Step { return Step{answer: answer{ending: endStop, called: true}} }

// Thinking answers with reasoning, in the wire's own place for it, and the text.
func Thinking(reasoning, text string) Step {
	return Step{answer: answer{text: text, thinking: reasoning}}
}

// NoUsage answers with the text and leaves out what it cost.
func NoUsage(text string) Step { return Step{answer: answer{text: text, silent: true}} }

// Status answers with the status and the provider's usual body for it.
func Status(status int) Step { return Step{kind: plainStatus, status: status} }

// ContextLength answers that the prompt is larger than the window, the way the
// provider does.
func ContextLength() Step { return Step{kind: contextLength} }

// Raw answers with exactly this.
func Raw(status int, contentType, body string) Step {
	return Step{kind: rawBody, status: status, contentType: contentType, body: body}
}

// HTML answers with a gateway's error page.
func HTML(status int) Step {
	return Raw(status, "text/html; charset=utf-8", "<html><head><title>Error</title></head><body><h1>Error</h1></body></html>")
}

// Garbage answers with the right content type and a body that is not JSON.
func Garbage() Step { return Step{kind: garbage} }

// WrongType answers correctly, as text/plain.
func WrongType(text string) Step { return Step{kind: wrongType, answer: answer{text: text}} }

// Unstreamed answers correctly with one document, also where a stream was asked
// for.
func Unstreamed(text string) Step { return Step{kind: unstreamed, answer: answer{text: text}} }

// ErrorInside answers 200 with a JSON error, also where a stream was asked for.
func ErrorInside() Step { return Step{kind: errorInside} }

// ErrorMidway streams half of the text, then an error event; whole answers are
// those of [ErrorInside].
func ErrorMidway(text string) Step { return Step{kind: errorMidway, answer: answer{text: text}} }

// Truncated sends half of a correct body and says that this is all.
func Truncated(text string) Step { return Step{kind: truncated, answer: answer{text: text}} }

// EarlyEnd streams half of the text and ends the stream in good order, without a
// finish reason. A whole answer breaks off before the length it announced.
func EarlyEnd(text string) Step { return Step{kind: earlyEnd, answer: answer{text: text}} }

// Reset breaks the connection before any answer.
func Reset() Step { return Step{kind: reset} }

// ResetMidway breaks the connection in the middle of the answer.
func ResetMidway(text string) Step { return Step{kind: resetMidway, answer: answer{text: text}} }

// Hang never answers.
func Hang() Step { return Step{kind: hang} }

// HangMidway sends half of the answer, then nothing more.
func HangMidway(text string) Step { return Step{kind: hangMidway, answer: answer{text: text}} }

// Drip sends a little text again and again, without end.
func Drip(every time.Duration) Step { return Step{kind: drip, every: every} }

// Pings sends keep-alives again and again, without an answer.
func Pings(every time.Duration) Step { return Step{kind: pings, every: every} }

// Huge answers with a text of so many bytes.
func Huge(size int64) Step { return Step{kind: huge, size: size} }

// Func makes the step from the request, for answers that depend on the prompt. It
// is called from the double's goroutines.
func Func(from func(Request) Step) Step { return Step{kind: computed, from: from} }

// With adds a header to the answer, for example a Retry-After.
func (s Step) With(header, value string) Step {
	s.header = s.header.Clone()
	if s.header == nil {
		s.header = http.Header{}
	}
	s.header.Set(header, value)
	return s
}

// Costing lets the answer say that it cost so many tokens, instead of [PromptTokens] and
// [CompletionTokens].
func (s Step) Costing(prompt, completion int) Step {
	s.answer.prompt, s.answer.completion = prompt, completion
	return s
}

// Until holds the step back until the channel is closed.
func (s Step) Until(gate <-chan struct{}) Step {
	s.gate = gate
	return s
}
