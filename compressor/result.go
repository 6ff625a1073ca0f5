package compressor

import (
	"errors"
	"fmt"
	"time"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

// Request is one call to [Engine.Compress].
type Request struct {
	Conversation *conversation.Conversation
	// Model is the main model; its window and tokenizer count.
	Model tokens.Model
	// ContextWindow in tokens overrides the model's; 0 does not.
	ContextWindow int
	Policy        Policy
	Layer         Layer
	Force         bool
	// LastUsage is what the provider reported, nil for nothing.
	LastUsage *Usage
	// PreviousSummary is an earlier summary that stands outside the conversation.
	PreviousSummary string
	Focus           string
	// Tenant separates callers that must not share anything.
	Tenant string
	// SessionID scopes cooldown and anti-thrash; empty switches both off.
	SessionID string
	PlanOnly  bool
	// Pinned are indices of messages that are kept verbatim.
	Pinned []int
	// State is the compression state of the last response.
	State []byte
	// MaxOutputTokens is reserved for the answer.
	MaxOutputTokens int
	// OnProgress, when not nil, is told of every phase, and OnText of the pieces of the
	// summary as a language model writes it: unchecked, and void from the start where
	// restart is set. Both are called on the goroutine of the call.
	OnProgress func(Progress)
	OnText     func(summarizer, piece string, restart bool)
}

// Usage is a provider's report on an earlier request.
type Usage struct {
	PromptTokens int
	// MessageCount is how many leading messages of this request the prompt stood
	// for; 0 means all of them.
	MessageCount int
}

// Outcome says what Compress did.
type Outcome int

// The outcomes; see the proto for their meaning.
const (
	OutcomeUnspecified Outcome = iota
	OutcomeCompressed
	OutcomeBelowThreshold
	OutcomeTooShort
	OutcomeNoGain
	OutcomeTargetUnreachable
	OutcomeDeferred
	OutcomeCoolingDown
	OutcomeDisabled
	OutcomePlanned
)

// Changed reports whether the conversation comes back changed.
func (o Outcome) Changed() bool { return o == OutcomeCompressed || o == OutcomeTargetUnreachable }

// Result is the answer of [Engine.Compress].
type Result struct {
	Outcome Outcome
	// Rewrite renders the result; it is empty when nothing changed.
	Rewrite *conversation.Rewrite
	Report  Report
	// Summary is the body of the summary, without its frame.
	Summary string
	State   []byte
}

// Report says what was done and why; see the proto for each field.
type Report struct {
	TokensBefore, TokensAfter     int
	MessagesBefore, MessagesAfter int
	ContextWindow                 int
	ThresholdTokens               int
	JudgedTokens                  int
	JudgedBy                      string
	TailBudgetTokens              int
	SummaryBudgetTokens           int
	Regions                       []Region
	Pruned                        []Pruned
	Repairs                       []Repair
	Rung                          Rung
	Reason                        string
	FailedRungs                   []ladder.Failed
	SummaryTokens                 int
	SummaryIndex                  int // -1 when there is no summary message
	Round                         int
	MessagesSummarized            int
	ThinkingRemoved               int
	// FirstChanged is the first changed message index, -1 for the system prompt;
	// it means something only when the outcome is a change.
	FirstChanged      int
	Summarizer        SummarizerUsage
	BindingConstraint string
	RetryAfter        time.Duration
	State             string
	Warnings          []conversation.Warning
	CountedBy         string
	Removed           Removed
	Redactions        []summarizer.Redaction
	Continuity        Continuity
	// Change says what becomes of the provider's prompt cache, nil when nothing changed and
	// nothing was planned.
	Change *Change
	// FrontMessages is how many messages behind the system prompt compressions keep where
	// they are, so that a prefix that ends with them stays readable.
	FrontMessages int
	// Fidelity says what became of the facts, nil when nothing was summarized.
	Fidelity *fidelity.Report
}

// Removed counts what was summarized away.
type Removed struct {
	Messages, Tokens, ToolCalls, ToolResults, Media, ThinkingBlocks int
}

// plus adds what two compressions removed.
func (r Removed) plus(o Removed) Removed {
	return Removed{
		r.Messages + o.Messages, r.Tokens + o.Tokens, r.ToolCalls + o.ToolCalls,
		r.ToolResults + o.ToolResults, r.Media + o.Media, r.ThinkingBlocks + o.ThinkingBlocks,
	}
}

// Region is a run of messages of the input with one fate.
type Region struct {
	Kind       RegionKind
	Start, End int
	Tokens     int
}

// RegionKind is the fate of a region.
type RegionKind int

// The kinds of region.
const (
	RegionHead RegionKind = iota + 1
	RegionMiddle
	RegionPinned
	RegionTail
	RegionSummary
)

// Pruned is one shortened tool result or argument of a kept message.
type Pruned struct {
	Ref                     conversation.Ref
	Kind                    PruneKind
	Tool                    string
	CharsBefore, CharsAfter int
}

// PruneKind says how something was shortened.
type PruneKind int

// The kinds of prune.
const (
	PruneDuplicate PruneKind = iota + 1
	PruneStub
	PruneArguments
)

// Repair is one repair of an illegal input.
type Repair struct {
	Kind      RepairKind
	Message   int
	ToolUseID string
}

// RepairKind says what a repair did.
type RepairKind int

// The kinds of repair.
const (
	RepairMissingResult RepairKind = iota + 1
	RepairOrphanResult
	RepairDuplicateResult
	RepairLeadingAssistant
	RepairBlankText
	RepairEmptyMessage
)

// Rung is a step of the ladder.
type Rung int

// The rungs.
const (
	RungNone Rung = iota
	RungLLM
	RungExtractive
	RungPruneOnly
)

// SummarizerUsage is what the summarizers billed for this request, and whose
// summary it was.
type SummarizerUsage struct {
	Name, Model                    string
	Calls                          int
	PromptTokens, CompletionTokens int
	// Reused says that the summary was found again or shared with another request.
	Reused bool
}

// ArgumentError is a request that cannot be served as it stands.
type ArgumentError struct {
	Field   string // the request's field path
	Message int    // index of the message concerned, -1 for none
	Reason  string
}

func (e *ArgumentError) Error() string { return e.Field + ": " + e.Reason }

// RefusedError is an illegal conversation that has no listed repair.
type RefusedError struct {
	// Code is a stable word in capitals, for example DUPLICATE_CALL_ID.
	Code    string
	Message int
	Detail  string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("messages[%d]: %s (%s)", e.Message, e.Detail, e.Code)
}

// SummarizerError is a failed summarizer call under [FailureAbort].
type SummarizerError struct {
	// RetryAfter is when another call may be tried.
	RetryAfter time.Duration
	Err        error
}

func (e *SummarizerError) Error() string { return "summarize: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *SummarizerError) Unwrap() error { return e.Err }

// ErrBroken is returned when the finished result fails the engine's own check.
// It is a fault of the engine; the caller keeps the conversation it has.
var ErrBroken = errors.New("the compressed conversation failed its check")
