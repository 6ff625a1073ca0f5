package breakpoints

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
)

func TestOptionsThatDoNotFitAreErrors(t *testing.T) {
	tests := []struct {
		name   string
		format conversation.Format
		opts   Options
		want   error
	}{
		{"a layout nobody knows", anthropic, Options{Layout: 15}, ErrUnsupportedLayout},
		{"a strategy nobody knows", anthropic, Options{Strategy: 7}, ErrUnsupportedStrategy},
		{"a ttl nobody knows", anthropic, Options{TTL: 3}, ErrUnsupportedTTL},
		{"a treatment nobody knows", anthropic, Options{Existing: -1}, ErrUnsupportedExisting},
		{"five reserved", anthropic, Options{Reserved: 5}, ErrReserved},
		{"fewer than none reserved", anthropic, Options{Reserved: -1}, ErrReserved},
		{"counts of another conversation", anthropic, Options{Tokens: &TokenCounts{Messages: []int{1, 2}}}, ErrTokenCounts},
		{"ANTHROPIC on OpenAI chat", openAI, Options{Layout: LayoutAnthropic}, ErrLayoutMismatch},
		{"OPENROUTER on native Anthropic", anthropic, Options{Layout: LayoutOpenRouter}, ErrLayoutMismatch},
		{"LITELLM on native Anthropic", anthropic, Options{Layout: LayoutLiteLLM}, ErrLayoutMismatch},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Place(parse(t, tt.format, `[{"role":"user","content":"a"}]`), tt.opts)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestPrefixesAreMeasuredAndSmallOnesReported(t *testing.T) {
	const chat = `{"tools":[{"name":"t","input_schema":{}}],"system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]}`
	counts := &TokenCounts{Tools: 100, System: 300, Messages: []int{50, 574, 1, 1000}}
	tests := []struct {
		name  string
		min   int
		inert []bool
		warn  string
	}{
		{"all large enough", 400, []bool{false, false, false, false}, ""},
		{"the system prompt alone is too small", 1024, []bool{true, false, false, false}, "1 of 4 marks have no effect yet: the largest of these prefixes has 400 tokens, the model caches from 1024"},
		{"two are too small", 1025, []bool{true, true, false, false}, "2 of 4 marks have no effect yet: the largest of these prefixes has 1024 tokens, the model caches from 1025"},
		{"minimum unknown", 0, []bool{false, false, false, false}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, out := place(t, anthropic, chat, Options{Tokens: counts, MinPrefix: tt.min})
			if got := len(marksIn(t, anthropic, out)); got != 4 {
				t.Errorf("%d marks: a mark without effect is placed all the same", got)
			}
			var tokens []int
			var inert []bool
			for _, b := range res.Breakpoints {
				tokens, inert = append(tokens, b.Tokens), append(inert, b.Inert)
			}
			if diff := cmp.Diff([]int{400, 1024, 1025, 2025}, tokens); diff != "" {
				t.Errorf("tokens (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.inert, inert); diff != "" {
				t.Errorf("inert (-want +got):\n%s", diff)
			}
			var detail string
			for _, w := range res.Warnings {
				if w.Code == WarnBelowMinimum {
					detail = w.Detail
				}
			}
			if detail != tt.warn {
				t.Errorf("warning %q, want %q", detail, tt.warn)
			}
		})
	}
	t.Run("respected marks are measured too", func(t *testing.T) {
		in := `{"cache_control":{"type":"ephemeral"},"tools":[{"name":"t","input_schema":{},` + mark + `}],"messages":[{"role":"user","content":"a"}]}`
		res, _ := place(t, anthropic, in, Options{Existing: ExistingRespect, MinPrefix: 512, Tokens: &TokenCounts{Tools: 100, Messages: []int{500}}})
		want := []Breakpoint{
			{Position: Position{conversation.SectionTools, 0, -1}, Tokens: 100, Inert: true},
			{Position: Position{conversation.SectionMessages, -1, -1}, Tokens: 600},
		}
		if diff := cmp.Diff(want, res.Breakpoints); diff != "" {
			t.Errorf("breakpoints (-want +got):\n%s", diff)
		}
	})
	t.Run("without counts nothing is claimed", func(t *testing.T) {
		res, _ := place(t, anthropic, chat, Options{MinPrefix: 1024})
		for _, b := range res.Breakpoints {
			if b.Tokens != 0 || b.Inert {
				t.Errorf("%v: %d tokens, inert %v", b.Position, b.Tokens, b.Inert)
			}
		}
		if len(res.Warnings) != 0 {
			t.Errorf("warnings: %v", res.Warnings)
		}
	})
}

// typed builds a conversation of the typed form, which has no source bytes.
func typed() *conversation.Conversation {
	text := func(s string) conversation.Block { return conversation.Block{Kind: conversation.KindText, Text: s} }
	return &conversation.Conversation{Messages: []conversation.Message{
		{Role: conversation.RoleSystem, Shape: conversation.ShapeList, Blocks: []conversation.Block{text("S")}},
		{Role: conversation.RoleUser, Shape: conversation.ShapeList, Blocks: []conversation.Block{text("a"), {Kind: conversation.KindOpaque, Raw: `{"type":"x"}`}}},
		{Role: conversation.RoleAssistant, Shape: conversation.ShapeList, Blocks: []conversation.Block{{Kind: conversation.KindToolUse, ID: "c"}}},
		{Role: conversation.RoleTool, Shape: conversation.ShapeList, Blocks: []conversation.Block{{
			Kind: conversation.KindToolResult, ID: "c", ResultShape: conversation.ShapeList,
			Result: []conversation.Block{text("r"), {Kind: conversation.KindMedia, Media: &conversation.Media{}}},
		}}},
	}}
}

func TestTypedForm(t *testing.T) {
	block := func(c *conversation.Conversation, i, b int) *conversation.Block { return &c.Messages[i].Blocks[b] }
	tests := []struct {
		name   string
		opts   Options
		reason string
		marked func(c *conversation.Conversation) []*conversation.Block
	}{
		{
			name: "Claude: blocks of every kind", opts: Options{Claude: true}, reason: "Claude model, typed form",
			marked: func(c *conversation.Conversation) []*conversation.Block {
				return []*conversation.Block{block(c, 0, 0), block(c, 1, 0), block(c, 2, 0), block(c, 3, 0)}
			},
		},
		{
			name: "OPENROUTER: text alone, in the tool result too", opts: Options{Layout: LayoutOpenRouter}, reason: "layout OPENROUTER as requested",
			marked: func(c *conversation.Conversation) []*conversation.Block {
				return []*conversation.Block{block(c, 0, 0), block(c, 1, 0), &block(c, 3, 0).Result[0]}
			},
		},
		{
			name: "LITELLM: no tool result", opts: Options{Layout: LayoutLiteLLM}, reason: "layout LITELLM as requested",
			marked: func(c *conversation.Conversation) []*conversation.Block {
				return []*conversation.Block{block(c, 0, 0), block(c, 1, 0)}
			},
		},
		{
			name: "another model", opts: Options{Model: "gemini-3-pro"}, reason: "no marks: model gemini-3-pro takes none (Gemini caches by itself; a gateway turns marks into a frozen explicit cache and switches that off)",
			marked: func(*conversation.Conversation) []*conversation.Block { return nil },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.TTL = TTL1h
			in := typed()
			res, err := Place(in, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if res.Reason != tt.reason {
				t.Errorf("reason %q, want %q", res.Reason, tt.reason)
			}
			want := typed()
			for _, b := range tt.marked(want) {
				b.Mark = &conversation.Mark{TTL: "1h"}
			}
			got := res.Rewrite.Apply().Conversation
			if diff := cmp.Diff(want.Messages, got.Messages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(typed().Messages, in.Messages); diff != "" {
				t.Errorf("the input changed (-want +got):\n%s", diff)
			}
			again, err := Place(got, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if !again.Rewrite.Empty() {
				t.Error("a second pass changes something")
			}
			bare, err := Place(got, Options{Strategy: StrategyNone})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(typed().Messages, bare.Rewrite.Apply().Conversation.Messages); diff != "" {
				t.Errorf("stripped (-want +got):\n%s", diff)
			}
		})
	}
}

// reasons are all reasons there are.
var reasons = []Reason{
	ReasonNoContent, ReasonEmptyText, ReasonEmptyResult, ReasonThinking, ReasonProgrammatic, ReasonBareString, ReasonNotText,
	ReasonToolMessage, ReasonFunction, ReasonUnknownBlock, ReasonUnknownRole, ReasonSystemMessage, ReasonNewestUser,
	ReasonAssistant, ReasonTool, ReasonDeferred, ReasonSplit, ReasonSmallHead,
}

func TestReasonsAreExplained(t *testing.T) {
	for _, r := range reasons {
		if d := r.Detail(); d == string(r) || !strings.Contains(d, " ") {
			t.Errorf("%s: %q", r, d)
		}
	}
}
