package simulator

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

//go:embed rules.json
var ruleData []byte

// Mode is how a provider's cache works.
type Mode string

// The modes.
const (
	// ModeMarks: entries are written at marks, and looked for in a window before each mark (Anthropic).
	ModeMarks Mode = "marks"
	// ModeBreakpoints: entries are written at breakpoints, some of which the provider places, and looked for at any of the
	// latest (OpenAI from GPT-5.6 on).
	ModeBreakpoints Mode = "breakpoints"
	// ModePrefix: the longest common prefix with an earlier request is read, rounded down to a step; writing is free.
	ModePrefix Mode = "prefix"
	// ModeUnits: as ModePrefix, but only prefixes that end with a message match (DeepSeek).
	ModeUnits Mode = "units"
	// ModeNone: nothing is cached.
	ModeNone Mode = "none"
)

// Counting says how blocks count as positions of the look-back window.
type Counting int

// The ways to count.
const (
	// CountingDefault is what the table of layouts says.
	CountingDefault Counting = iota
	// CountingCollapsed counts a run of tool calls, or of tool results, as one position.
	CountingCollapsed
	// CountingRaw counts every block.
	CountingRaw
)

// Life is a duration that is written in JSON as Go writes it ("5m").
type Life time.Duration

// UnmarshalText reads Go's notation.
func (l *Life) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("life: %w", err)
	}
	*l = Life(d)
	return nil
}

// Rules are what a provider does with a prompt: a row of rules.json, completed by [Tables.Rules] with what the table of
// layouts and the model's registry row say.
type Rules struct {
	// Layout is the way a request takes to the model.
	Layout breakpoints.Layout `json:"-"`
	Mode   Mode               `json:"mode"`
	// Window is how many positions a mark looks back over, its own included; 0 is no limit.
	Window int `json:"-"`
	// Collapse counts a run of tool calls, or of tool results, as one position.
	Collapse bool `json:"-"`
	// MaxMarks is the largest number of marks of a request, automatic caching included.
	MaxMarks int `json:"-"`
	// Has1h is set where marks may ask for an hour; elsewhere they get five minutes.
	Has1h bool `json:"-"`
	// RefusesMarks and RefusesAutomatic are set where any mark, or one on the request as a whole, is an error.
	RefusesMarks     bool `json:"refuses_marks"`
	RefusesAutomatic bool `json:"-"`
	// MinTokens is the smallest prefix that is cached, in the model's tokens.
	MinTokens int `json:"min_tokens"`
	// ImageSalt: whether there are images decides whether messages match. One measurement of appended images saw no reset.
	ImageSalt bool `json:"image_salt"`
	// AllParams: every parameter is part of the key of the whole prompt; else each belongs to a tier ([Params]).
	AllParams bool `json:"all_params"`
	// StripsThinking: a plain user message takes the thinking before it out of the prompt (Claude before Opus 4.5, Sonnet 4.6
	// and the 5 models, Haiku up to 4.5).
	StripsThinking bool `json:"-"`
	// VisibleAtEnd: an entry can be read when the answer of its writer has ended, not from its first token on.
	VisibleAtEnd bool `json:"visible_at_end"`
	// MaxWrites and Candidates bound what ModeBreakpoints writes and looks at in one request.
	MaxWrites  int `json:"max_writes"`
	Candidates int `json:"-"`
	// Step rounds what ModePrefix reads.
	Step int `json:"-"`
	// Life is that of entries which no mark asks for.
	Life Life `json:"life"`
	// FixedMarks: a read refreshes only the entry it hits and not those of the request's other marks below it, which is
	// uncertain and refreshed by default.
	FixedMarks bool `json:"-"`
	// Date is the day the row was read, as YYYY-MM-DD, Source where.
	Date   string `json:"date"`
	Source string `json:"source"`
}

// Tables are the dated rules and prices.
type Tables struct {
	layouts *breakpoints.Layouts
	rules   map[string]Rules
	prices  []Price
}

// NewTables returns the rules and prices built into the binary, completed with a table of layouts (nil: the built-in
// one). The error is a fault of the embedded data.
func NewTables(layouts *breakpoints.Layouts) (*Tables, error) {
	t := &Tables{layouts: layouts, rules: make(map[string]Rules)}
	if layouts == nil {
		var err error
		if t.layouts, err = breakpoints.NewLayouts(nil); err != nil {
			return nil, fmt.Errorf("cache rules: %w", err)
		}
	}
	var rows []struct {
		Rules
		Name string `json:"layout"`
	}
	if err := json.Unmarshal(ruleData, &rows); err != nil {
		return nil, fmt.Errorf("cache rules: %w", err)
	}
	for _, row := range rows {
		t.rules[row.Name] = row.Rules
	}
	var err error
	t.prices, err = readPrices(priceData)
	return t, err
}

// Layouts is the table of layouts.
func (t *Tables) Layouts() *breakpoints.Layouts { return t.layouts }

// Rules returns the rules of a layout for a model. Where none are known, nothing is cached.
func (t *Tables) Rules(layout breakpoints.Layout, model *tokens.Model, counting Counting) Rules {
	r, ok := t.rules[layout.String()]
	if !ok {
		r = Rules{Mode: ModeNone}
	}
	row := t.layouts.Rules(layout)
	r.Layout, r.Window, r.Collapse, r.MaxMarks, r.Candidates = layout, row.Window, row.Collapse, row.MaxMarks, row.LookUp
	r.Has1h = slices.Contains(row.TTLs, "1h")
	switch counting {
	case CountingCollapsed:
		r.Collapse = true
	case CountingRaw:
		r.Collapse = false
	}
	if n := t.layouts.Minimum(layout, model.Name); n > 0 {
		r.MinTokens = n
	} else if r.Mode == ModeMarks {
		r.MinTokens = model.CacheMinimum
	}
	r.Step = t.layouts.Step(layout, model.Name)
	r.StripsThinking = stripsThinking(model)
	// The request's own mark is unknown to InvokeModel with Opus 4.6 and earlier.
	r.RefusesAutomatic = layout == breakpoints.LayoutBedrockInvoke && model.Family == tokens.FamilyClaude3
	return r
}

// stripsThinking: before Opus 4.5 and Sonnet 4.6, and Haiku up to 4.5.
func stripsThinking(model *tokens.Model) bool {
	switch model.ID {
	case "claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-6":
		return false
	default:
		return model.Family == tokens.FamilyClaude3
	}
}

// LayoutOf guesses the layout of a request that names none, as [breakpoints.Place] does where that sets marks: what the
// provider does by itself where it is known to take none, Anthropic's own API for its own form, whatever the model is called
// there, and for Claude in the typed form; OpenRouter for Claude in OpenAI's form.
func LayoutOf(model *tokens.Model, format conversation.Format) breakpoints.Layout {
	switch model.Provider {
	case "google":
		return breakpoints.LayoutGemini
	case "deepseek":
		return breakpoints.LayoutDeepSeek
	case "xai":
		return breakpoints.LayoutXAI
	case "minimax":
		return breakpoints.LayoutMiniMax
	case "moonshot":
		return breakpoints.LayoutMoonshot
	}
	switch {
	case format == conversation.FormatAnthropicMessages, model.Claude && format == conversation.FormatTyped:
		return breakpoints.LayoutAnthropic
	case model.Claude:
		return breakpoints.LayoutOpenRouter
	case model.Provider == "openai" && explicitOpenAI(model.ID):
		return breakpoints.LayoutOpenAI
	case model.Provider == "openai":
		return breakpoints.LayoutOpenAIImplicit
	case model.Provider == "alibaba":
		return breakpoints.LayoutAlibaba
	default:
		return breakpoints.LayoutUnset
	}
}

// explicitOpenAI reports whether a model has breakpoints and a write fee: GPT-5.6 and later.
func explicitOpenAI(id string) bool {
	rest, ok := strings.CutPrefix(id, "gpt-")
	if !ok || rest == "" {
		return false
	}
	if rest[0] >= '6' && rest[0] <= '9' {
		return true
	}
	return strings.HasPrefix(rest, "5.") && len(rest) >= 3 && rest[2] >= '6' && rest[2] <= '9'
}
