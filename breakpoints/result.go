package breakpoints

import (
	"fmt"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/seal"
)

// Result is what was decided.
type Result struct {
	// Rewrite sets and removes the marks. It is empty when nothing changes.
	Rewrite *conversation.Rewrite
	// Layout is the layout used, LayoutUnset when the conversation takes no marks.
	Layout Layout
	// Reason says why this layout, or why none.
	Reason string
	// Breakpoints are the marks the result carries, in prompt order.
	Breakpoints []Breakpoint
	// Skipped are the places passed over on the way to the chosen ones: the system
	// prompt first, then the messages from the newest back.
	Skipped []Skip
	// Warnings name what did not stop the work.
	Warnings []conversation.Warning
	// Hint is what the caller should set to lead the requests of this conversation to
	// one cache; nil for none.
	Hint *Hint
	// State is what to hand over with the next request of this conversation. It is
	// empty unless the strategy is StrategyAnchored. With [ExistingRespect] it is that of the
	// marks that are there.
	State []byte
	// StateVerdict says what became of the state that was handed over.
	StateVerdict seal.Verdict
	// Usage is how the prompt is expected to be billed, nil without token counts and where
	// there is no layout.
	Usage *Usage
	// Anchor says how StrategyAnchored found the end of the previous request.
	Anchor Anchor
}

// Anchor is a way to find where the previous request ended.
type Anchor string

// The ways, the surest first.
const (
	// AnchorNone: there was no previous request, or its end cannot be marked.
	AnchorNone Anchor = ""
	// AnchorState: by the content hash in the state.
	AnchorState Anchor = "STATE"
	// AnchorMarks: by the marks that the previous request carried.
	AnchorMarks Anchor = "MARKS"
	// AnchorReply: it is what stands before the last answer of the model.
	AnchorReply Anchor = "REPLY"
	// AnchorGrid: there is no answer yet; every 15th block is an anchor.
	AnchorGrid Anchor = "GRID"
)

// Position names a place in the caller's own arrays.
type Position struct {
	Section conversation.Section
	// Message is the index of the message (section messages) or tool (section
	// tools), 0 in a top-level system prompt, -1 for automatic caching, which belongs
	// to the request as a whole.
	Message int
	// Block is the index in the content list (string content is block 0), -1 when
	// the message or tool as a whole is meant.
	Block int
}

// String names the place as in JSON.
func (p Position) String() string {
	switch {
	case p.Section == conversation.SectionTools:
		return fmt.Sprintf("tools[%d]", p.Message)
	case p.Section == conversation.SectionSystem && p.Block < 0:
		return "system"
	case p.Section == conversation.SectionSystem:
		return fmt.Sprintf("system[%d]", p.Block)
	case p.Message < 0:
		return "the request (automatic caching)"
	case p.Block < 0:
		return fmt.Sprintf("messages[%d]", p.Message)
	default:
		return fmt.Sprintf("messages[%d].content[%d]", p.Message, p.Block)
	}
}

// Breakpoint is one mark of the result.
type Breakpoint struct {
	Position
	TTL TTL
	// Tokens is the size of the prefix that ends with the marked message, 0 when
	// unknown.
	Tokens int
	// Inert is set when that prefix is known to be smaller than the model caches. The
	// mark is legal and free, and works once the prefix has grown.
	Inert bool
}

// Skip is a place that could not carry a mark.
type Skip struct {
	Position
	Reason Reason
}

// Reason says why a place cannot carry a mark.
type Reason string

// The reasons.
const (
	ReasonNoContent     Reason = "NO_CONTENT"
	ReasonEmptyText     Reason = "EMPTY_TEXT"
	ReasonEmptyResult   Reason = "EMPTY_RESULT"
	ReasonThinking      Reason = "THINKING"
	ReasonProgrammatic  Reason = "PROGRAMMATIC_CALL"
	ReasonBareString    Reason = "BARE_STRING"
	ReasonNotText       Reason = "NOT_TEXT"
	ReasonToolMessage   Reason = "TOOL_MESSAGE"
	ReasonFunction      Reason = "FUNCTION_MESSAGE"
	ReasonUnknownBlock  Reason = "UNKNOWN_BLOCK"
	ReasonUnknownRole   Reason = "UNKNOWN_ROLE"
	ReasonSystemMessage Reason = "SYSTEM_MESSAGE"
	ReasonNewestUser    Reason = "NEWEST_USER"
	ReasonAssistant     Reason = "ASSISTANT_MESSAGE"
	ReasonTool          Reason = "TOOL_DEFINITION"
	ReasonDeferred      Reason = "DEFERRED_TOOL"
	ReasonSplit         Reason = "NEEDS_SPLIT"
	ReasonSmallHead     Reason = "SMALL_HEAD"
)

// Detail says the reason in a sentence.
func (r Reason) Detail() string {
	switch r {
	case ReasonNoContent:
		return "the message has no content, and a mark beside it or on its calls is lost"
	case ReasonEmptyText:
		return "the text is empty or white space, which may not be marked"
	case ReasonEmptyResult:
		return "the tool result is empty"
	case ReasonThinking:
		return "thinking may not be marked; it is cached with its neighbours"
	case ReasonProgrammatic:
		return "a call made by code execution, or its result, may not be marked"
	case ReasonBareString:
		return "the list ends in a bare string, which cannot carry a mark"
	case ReasonNotText:
		return "this route takes marks on text parts only"
	case ReasonToolMessage:
		return "this route refuses marks inside tool messages"
	case ReasonFunction:
		return "the content of a function message must stay a string, which cannot carry a mark"
	case ReasonUnknownBlock:
		return "a block of this type is not known to take a mark"
	case ReasonUnknownRole:
		return "a message of this role is carried, not interpreted"
	case ReasonSystemMessage:
		return "a system message after the first message is not counted"
	case ReasonNewestUser:
		return "the newest user request and what follows it are left unmarked as asked"
	case ReasonAssistant:
		return "on this route a mark on an assistant message has no effect"
	case ReasonTool:
		return "this route takes no marks on tool definitions"
	case ReasonDeferred:
		return "a deferred tool is not part of the cached prefix and may not be marked"
	case ReasonSplit:
		return "the static part of the system prompt ends within this block, which may not be split"
	case ReasonSmallHead:
		return "the protected head ends too close behind the system prompt to be worth a mark"
	default:
		return string(r)
	}
}

// Codes of the warnings in a [Result].
const (
	// WarnBelowMinimum: a prefix is smaller than the model caches.
	WarnBelowMinimum = "BELOW_MINIMUM"
	// WarnNoTarget: nothing could be marked.
	WarnNoTarget = "NO_TARGET"
	// WarnAutomaticRemoved: the automatic cache_control of the request was removed,
	// since it takes one of the four marks.
	WarnAutomaticRemoved = "AUTOMATIC_REMOVED"
	// WarnToolMarksRemoved: marks on tools were removed; the strategy places none there.
	WarnToolMarksRemoved = "TOOL_MARKS_REMOVED"
	// WarnMarksLeft: the conversation takes no marks but has some, left as they are.
	WarnMarksLeft = "MARKS_LEFT"
	// WarnMarksRespected: existing marks were respected and none was added.
	WarnMarksRespected = "MARKS_RESPECTED"
	// WarnReservedTaken: the respected marks leave fewer free than were to be reserved.
	WarnReservedTaken = "RESERVED_TAKEN"
	// WarnIllegalMark: a respected mark stands where the provider refuses it.
	WarnIllegalMark = "ILLEGAL_MARK"
	// WarnUnknownTTL: a respected mark has a life this package does not know; it is
	// taken for five minutes.
	WarnUnknownTTL = "UNKNOWN_TTL"
	// WarnAutomaticConflict: the provider refuses an automatic mark whose life differs
	// from that of the mark on the last block.
	WarnAutomaticConflict = "AUTOMATIC_CONFLICT"
	// WarnTTLClamped: the model or route takes no 1h marks, so 5m was used.
	WarnTTLClamped = "TTL_CLAMPED"
	// WarnMarksRemoved: the layout takes no marks, so those that were there were
	// removed.
	WarnMarksRemoved = "MARKS_REMOVED"
	// WarnNoSystem: there is no system prompt that can carry a mark.
	WarnNoSystem = "NO_SYSTEM"
	// WarnNoAutomatic: the automatic mode was asked for where there is none.
	WarnNoAutomatic = "NO_AUTOMATIC"
	// WarnStaticMismatch: the system prompt does not begin with the static text.
	WarnStaticMismatch = "STATIC_MISMATCH"
)

func (r *Result) warn(code string, message int, format string, args ...any) {
	r.Warnings = append(r.Warnings, conversation.Warning{Code: code, Message: message, Detail: fmt.Sprintf(format, args...)})
}
