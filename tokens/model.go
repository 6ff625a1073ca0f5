package tokens

// Family says which tokenizer a model has.
type Family string

// The families. The vocabulary of FamilyOpenAI is here, and a reconstruction of Claude's; the others are estimated.
const (
	FamilyOpenAI   Family = "openai"
	FamilyClaude3  Family = "claude-v3"   // Claude 3 to Opus 4.6, Sonnet 4.6 and Haiku 4.5
	FamilyClaude47 Family = "claude-v4.7" // Opus 4.7
	FamilyClaude5  Family = "claude-v5"   // the vocabulary of 4.7 with another frame: Opus 4.8, Opus 5, Sonnet 5 and later
	FamilyGemini   Family = "gemini"      // Gemini 2 and 3, Gemma 3
	FamilyLlama3   Family = "llama3"
	FamilyQwen3    Family = "qwen3"
	FamilyDeepSeek Family = "deepseek"
	FamilyMistral  Family = "mistral"
	FamilyKimi     Family = "kimi"
	FamilyGLM      Family = "glm"
	FamilyUnknown  Family = "unknown"
)

// Thinking says what may happen to a model's thinking blocks when the text before them changes.
type Thinking string

// The thinking regimes.
const (
	// ThinkingNone: no signed thinking. Reasoning fields beside the content are kept as they are.
	ThinkingNone Thinking = "none"
	// ThinkingUnbound: a signature covers its own block only. Claude 3.7 to Opus 5, Sonnet 5, Fable 5 and Mythos 5.1.
	ThinkingUnbound Thinking = "unbound"
	// ThinkingBound: a signature covers everything before the block too, so a change there invalidates it. Claude
	// Fable 5.1, Opus 5.5, Sonnet 5.5, Haiku 5.5 and later.
	ThinkingBound Thinking = "bound"
)

// Defaults of models that the registry does not know.
const (
	// DefaultContextWindow is the window of an unknown model, in tokens: the smallest that current general models
	// have, so that a wrong guess compresses early instead of overflowing.
	DefaultContextWindow = 128_000
	// DefaultMaxOutput is the longest answer of an unknown model, in tokens.
	DefaultMaxOutput = 4_096
)

// Model is what the registry knows about a model.
type Model struct {
	// Name is the name that was asked for; ID the registry's name of the row that matched, empty if none did.
	Name string
	ID   string
	// Known is false for a model that matched no row, or only a row of assumptions about any name of its vendor.
	Known bool
	// Provider is the vendor, "unknown" for an unknown model.
	Provider string
	Family   Family
	// Encoding is what is counted: the model's own encoding if EncodingExact, for Claude its reconstruction; else the base
	// of the estimate.
	Encoding      string
	EncodingExact bool
	// ContextWindow and MaxOutput are in tokens.
	ContextWindow int
	MaxOutput     int
	Thinking      Thinking
	Image         ImageRule
	// CacheMinimum is the shortest prefix that the provider caches, in its own tokens; 0 if none is known.
	CacheMinimum int
	// Claude is set for models that take cache_control marks.
	Claude bool
	// ToolPrompt is the size in tokens of the system prompt the provider adds once when there are tools, ToolPromptForced
	// its size when tool_choice makes the model call one.
	ToolPrompt, ToolPromptForced int
	// Scope keeps remembered counts apart: those of one scope are not found in another. The registry leaves it empty.
	Scope string
	// Date is the day the row was checked, Source where its numbers are from, Note what is doubtful about them.
	Date, Source, Note string
}
