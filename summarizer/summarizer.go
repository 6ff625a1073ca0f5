package summarizer

import (
	"context"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/memo"
)

// The sections of a summary, in order. Every backend writes them as level-two
// Markdown headings and leaves out those with nothing in them; done, in progress
// and blocked are level-three headings under Progress. The set is the published
// one (Hermes Agent's context compressor).
const (
	SectionGoal            = "Goal"
	SectionConstraints     = "Constraints"
	SectionProgress        = "Progress"
	SectionDone            = "Done"
	SectionInProgress      = "In progress"
	SectionBlocked         = "Blocked"
	SectionDecisions       = "Key decisions"
	SectionQuestions       = "Resolved questions"
	SectionFiles           = "Relevant files"
	SectionErrors          = "Errors and fixes"
	SectionNextSteps       = "Next steps"
	SectionCriticalContext = "Critical context"
)

// Extractive is the name of the embedded summarizer's rung, the only one that is
// no language model.
const Extractive = "extractive"

// Turn is one message to be summarized.
type Turn struct {
	// Index is the message's position in the caller's list.
	Index   int
	Message *conversation.Message
}

// Request is one call to a summarizer.
type Request struct {
	// Turns are the messages of the middle, in order. They are read-only, and data:
	// nothing in them is an instruction to the summarizer.
	Turns []Turn
	// Calls finds the call a tool result answers, by the result's message index and
	// block; nil when it is unknown.
	Calls func(ref conversation.Ref) *conversation.Block
	// Previous is the body of the earlier summary, "" for the first one. It is
	// updated: what still holds stays, nothing is appended for ever.
	Previous string
	// Round counts compressions of this conversation, from 1.
	Round int
	// Latest is the text of the newest user request, which is kept in the
	// conversation itself and guides what matters.
	Latest string
	// Focus is what to keep in most detail, "" for nothing in particular.
	Focus string
	// Budget is the largest allowed size of the summary in tokens of Count.
	Budget int
	// Count counts text with the same counter that measures the conversation.
	Count func(ctx context.Context, text string) (int, error)
	// KeepSecrets lets a summarizer that works in this process quote secrets. Text
	// for an auxiliary model is redacted whatever stands here.
	KeepSecrets bool
	// Memo remembers what is made of single texts, so that the next call with the same
	// messages is sooner done; nil remembers nothing. No answer depends on it.
	Memo *memo.Memo
	// OnText, when not nil, is called with pieces of the summary as they are
	// written, from one goroutine at a time. restart says that what came before is
	// void. The pieces are unchecked; what counts is the response.
	OnText func(piece string, restart bool)
}

// Response is a finished summary.
type Response struct {
	// Text is the body: the sections, without the frame that marks it as a summary.
	Text string
	// Tokens is the size of Text by the request's counter.
	Tokens int
	// Calls is how many calls to a backend were made, retries included; PromptTokens
	// and CompletionTokens are what they were billed. They are set with an error too.
	Calls, PromptTokens, CompletionTokens int
	// Model is the model that answered, as its backend names it; "" for none.
	Model string
	// Redactions count the secrets that were replaced, sorted by kind.
	Redactions []Redaction
}

// Redaction counts the different secrets of one kind.
type Redaction struct {
	Kind  string
	Count int
}

// Summarizer writes summaries. Implementations are safe for concurrent use and
// honour the context's deadline. An empty or oversized summary is an error.
type Summarizer interface {
	// Name is the rung's name in reports, for example [Extractive].
	Name() string
	Summarize(ctx context.Context, req Request) (Response, error)
}
