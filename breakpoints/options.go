package breakpoints

import "fmt"

// MaxMarks is the largest number of breakpoints one request may carry, counted
// over tools, system prompt and messages; automatic caching takes one of them
// (Anthropic, prompt caching).
const MaxMarks = 4

// Layout says which places a route takes breakpoints at.
type Layout int

// The layouts.
const (
	// LayoutUnset chooses by form and model; in a [Result] it means that the
	// conversation takes no breakpoints.
	LayoutUnset Layout = iota
	// LayoutAnthropic marks content blocks of the Anthropic Messages form; a tool
	// result is marked on the tool_result block itself.
	LayoutAnthropic
	// LayoutOpenRouter marks text parts of the OpenAI form, those of tool messages
	// included: OpenRouter moves the mark to the tool result it makes of them, and
	// takes marks on text parts only.
	LayoutOpenRouter
	// LayoutLiteLLM is LayoutOpenRouter without tool messages: LiteLLM copies their
	// parts as they are into the tool result, where a mark is refused.
	LayoutLiteLLM
)

// String returns the layout's public name.
func (l Layout) String() string {
	switch l {
	case LayoutUnset:
		return "UNSPECIFIED"
	case LayoutAnthropic:
		return "ANTHROPIC"
	case LayoutOpenRouter:
		return "OPENROUTER"
	case LayoutLiteLLM:
		return "LITELLM"
	default:
		return fmt.Sprintf("layout %d", int(l))
	}
}

// Strategy says which of the possible places are marked.
type Strategy int

// The strategies.
const (
	// StrategySystemAnd3 marks the end of the system prompt and the last three
	// messages that can carry a mark, four where no system prompt can carry one.
	StrategySystemAnd3 Strategy = iota
	// StrategyNone marks nothing and removes every mark that is there, whatever
	// [Existing] says.
	StrategyNone
)

// Existing says what happens to marks that are there already.
type Existing int

// The ways to treat existing marks.
const (
	// ExistingReplace removes them and places anew. A mark at a chosen place is
	// rewritten to the wanted value.
	ExistingReplace Existing = iota
	// ExistingRespect leaves a conversation that has any mark as it is, marks the
	// provider would refuse on their place included (they are reported). Marks that
	// are too many or out of order are an error.
	ExistingRespect
)

// TTL is the life of a cached prefix, counted from the start of the request that
// wrote or last read it.
type TTL int

// The lives.
const (
	// TTL5m is the provider's default. It is written without a ttl member, which
	// some platforms refuse even for 5m.
	TTL5m TTL = iota
	TTL1h
)

// String returns the wire word.
func (t TTL) String() string {
	if t == TTL1h {
		return "1h"
	}
	return "5m"
}

// wire is the ttl member's value, empty for none.
func (t TTL) wire() string {
	if t == TTL1h {
		return "1h"
	}
	return ""
}

// Options say how a conversation is marked. The zero value is the default:
// layout by form and model, SYSTEM_AND_3, five minutes, existing marks replaced.
type Options struct {
	Layout   Layout
	Strategy Strategy
	TTL      TTL
	Existing Existing
	// Reserved is how many of the four marks are left free for other layers, 0 to 4.
	Reserved int
	// LeaveNewestUserUnmarked leaves the newest user request and everything after it
	// unmarked and spends the marks on the messages before it. It serves agents that
	// fork a conversation and share the prefix.
	LeaveNewestUserUnmarked bool
	// MarkToolMessages marks tool messages on a LiteLLM route too.
	MarkToolMessages bool

	// Model is the model's name, for reasons and for the life it takes. Default: the
	// model named in the body.
	Model string
	// Route is the provider the request goes through, for the life it takes (see
	// [ClampTTL]). Default: openrouter for LayoutOpenRouter, else unknown.
	Route string
	// Claude says that the model is a Claude model.
	Claude bool
	// MinPrefix is the model's smallest cacheable prefix in tokens, 0 when unknown.
	MinPrefix int
	// Tokens are the token counts, nil when they are not at hand.
	Tokens *TokenCounts
}

// TokenCounts are the sizes of a conversation's parts in tokens.
type TokenCounts struct {
	// Tools and System are the tool definitions and the top-level system prompt.
	Tools, System int
	// Messages has one count for each message.
	Messages []int
}
