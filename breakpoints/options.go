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
	// LayoutBedrock is Bedrock's Converse API: a cachePoint block follows what it
	// marks. A conversation in its JSON is read by package bedrock.
	LayoutBedrock
	// LayoutBedrockInvoke, LayoutVertex and LayoutMiniMax mark like LayoutAnthropic,
	// with fewer lives and other minimums.
	LayoutBedrockInvoke
	LayoutVertex
	// LayoutAlibaba marks text, for Qwen models.
	LayoutAlibaba
	LayoutMiniMax
	// LayoutOpenAI writes prompt_cache_breakpoint on text parts of all but assistant
	// messages (GPT-5.6 and later).
	LayoutOpenAI
	// LayoutOpenAIImplicit and the following take no marks: the providers cache by
	// themselves. Marks that are there are removed.
	LayoutOpenAIImplicit
	LayoutGemini
	LayoutDeepSeek
	LayoutXAI
	LayoutMoonshot
)

// layoutNames are the public names, by number.
func layoutNames() []string {
	return []string{
		"UNSPECIFIED", "ANTHROPIC", "OPENROUTER", "LITELLM", "BEDROCK", "BEDROCK_INVOKE", "VERTEX", "ALIBABA", "MINIMAX",
		"OPENAI", "OPENAI_IMPLICIT", "GEMINI", "DEEPSEEK", "XAI", "MOONSHOT",
	}
}

// String returns the layout's public name.
func (l Layout) String() string {
	names := layoutNames()
	if l < 0 || int(l) >= len(names) {
		return fmt.Sprintf("layout %d", int(l))
	}
	return names[l]
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
	// StrategyHermesDefault marks the end of the static part of the system prompt, the
	// end of the system prompt, and the last two messages that can carry a mark. Where
	// no static part is known it is StrategySystemAnd3.
	StrategyHermesDefault
	// StrategyTransactionEnds marks the last tool, the end of the static part of the
	// system prompt, and the last two ends of completed transactions: of a run of tool
	// results, of an answer without calls, of a user message that is last. Without a
	// tool that can carry a mark it is StrategyHermesDefault.
	StrategyTransactionEnds
	// StrategyAnchored marks the last block, the block that the previous request ended
	// on, the end of the static system prompt, and what of the protected head or a
	// compaction block is worth it. Reads are the most that any placement can get while
	// a conversation only grows. A last block that has no place for a mark in the form at
	// hand is left to the provider's automatic mode, where there is one.
	StrategyAnchored
	// StrategyAutoPlusSystem marks the end of the static system prompt and leaves the
	// rest to the provider's automatic mode; where there is none, the last block is
	// marked instead.
	StrategyAutoPlusSystem
	// StrategySystemOnly marks the end of the static system prompt.
	StrategySystemOnly

	strategies // their number
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
	// StaticSystem is the text that the system prompt begins with in every request,
	// empty when it is not known: then the system prompt is static up to the first line
	// that looks like a date, a working directory or the like.
	StaticSystem string
	// SplitSystem allows to make two text blocks of one, where the static part of the
	// system prompt ends within a block. Their text is the same, byte for byte.
	SplitSystem bool
	// RetryAnchor spends the fourth mark of StrategyAnchored on the end of the last
	// assistant message: for clients that replace the newest user message and try again.
	RetryAnchor bool
	// HeadMessages is how many messages after the system prompt a compression keeps in
	// front. Default: the published three, of which the system prompt is one. Below 0: none.
	HeadMessages int
	// State is the state of the last [Result] of this conversation, for StrategyAnchored.
	// It is optional. StateKeys sign and verify it, see package seal.
	State     []byte
	StateKeys [][]byte
	// Tenant is whose state it is; one of another tenant fails its check and is ignored.
	Tenant string

	// Layouts is the table of layouts. Default: the one built in, read anew.
	Layouts *Layouts
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
	// SystemBlocks and MessageBlocks have one count for each block, nil where they are not
	// at hand: then a part of a message is sized by its share of the bytes.
	SystemBlocks  []int
	MessageBlocks [][]int
	// Estimated says that some of the counts are estimates.
	Estimated bool
}
