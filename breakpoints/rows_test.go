package breakpoints

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const chatOfFive = `[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]`

// The rows CA1 to CA15 describe the published behaviour of marking. CA2, CA3, CA12
// and CA13 belong to another strategy.

func TestCA1_SystemAndTheLastThree(t *testing.T) {
	_, out := place(t, openAI, chatOfFive, Options{Claude: true})
	want := []string{"messages[0].content[0]", "messages[3].content[0]", "messages[4].content[0]", "messages[5].content[0]"}
	if diff := cmp.Diff(want, marksIn(t, openAI, out)); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

// The published code marks the row and lets an adapter move the mark into the
// tool_result; a native conversation has that block itself.
func TestCA4_NativeToolResultIsMarked(t *testing.T) {
	_, out := place(t, anthropic, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}]`, Options{})
	want := `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r",` + mark + `}]}]`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestCA5_ToolMessageIsMarkedOnItsTextPartNotOnTheMessage(t *testing.T) {
	_, out := place(t, openAI, `[{"role":"tool","tool_call_id":"c","content":"r"}]`, Options{Claude: true})
	want := `[{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r",` + mark + `}]}]`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestCA6_EmptyAssistantAndToolGiveTheirSlotToAnOlderMessage(t *testing.T) {
	in := `[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}]`
	_, out := place(t, openAI, in, Options{Claude: true})
	want := []string{"messages[0].content[0]", "messages[1].content[0]", "messages[2].content[0]", "messages[3].content[0]"}
	if diff := cmp.Diff(want, marksIn(t, openAI, out)); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

func TestCA7_ListEndingInABareStringIsNotMarkable(t *testing.T) {
	for _, last := range []string{`"bare"`, `null`, `5`} {
		in := `[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"b"},` + last + `]}]`
		res, out := place(t, openAI, in, Options{Claude: true})
		if diff := cmp.Diff([]string{"messages[0].content[0]"}, marksIn(t, openAI, out)); diff != "" {
			t.Errorf("%s: marks (-want +got):\n%s", last, diff)
		}
		if diff := cmp.Diff([]string{"messages[1].content[1] BARE_STRING"}, skips(res)); diff != "" {
			t.Errorf("%s: skips (-want +got):\n%s", last, diff)
		}
	}
	in := `{"system":[{"type":"text","text":"S"},"bare"],"messages":[{"role":"user","content":"a"}]}`
	_, out := place(t, anthropic, in, Options{})
	if diff := cmp.Diff([]string{"messages[0].content[0]"}, marksIn(t, anthropic, out)); diff != "" {
		t.Errorf("system: marks (-want +got):\n%s", diff)
	}
}

func TestCA8_ThreeTimesIsTheSameAsOnce(t *testing.T) {
	_, once := place(t, openAI, chatOfFive, Options{Claude: true})
	_, twice := place(t, openAI, once, Options{Claude: true})
	_, thrice := place(t, openAI, twice, Options{Claude: true})
	if once != twice || once != thrice {
		t.Errorf("once  %s\ntwice %s\nthrice %s", once, twice, thrice)
	}
	if got := len(marksIn(t, openAI, thrice)); got != 4 {
		t.Errorf("%d marks, want 4", got)
	}
}

func TestCA9_StaleMarksGoAndTheCallersConversationStays(t *testing.T) {
	stale := `{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`
	in := `[{"role":"system","content":[` + stale + `,` + stale + `]},{"role":"user","content":[` + stale + `]},{"role":"assistant","content":[` + stale + `]},` +
		`{"role":"user","content":"c","cache_control":{"type":"ephemeral"}},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]`
	c := parse(t, openAI, in)
	before := len(look(c).marks)
	res, err := Place(c, Options{Claude: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"messages[0].content[1]", "messages[3].content[0]", "messages[4].content[0]", "messages[5].content[0]"}
	if diff := cmp.Diff(want, marksIn(t, openAI, res.Rewrite.Render())); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if c.Source != in || len(look(c).marks) != before {
		t.Error("the caller's conversation was changed")
	}
	checkInvariants(t, openAI, in, Options{Claude: true})
}

func TestCA10_TTLKeyOnlyForOneHour(t *testing.T) {
	tests := []struct {
		name string
		ttl  TTL
		want string
	}{
		{"1h", TTL1h, `{"type":"ephemeral","ttl":"1h"}`},
		{"5m", TTL5m, `{"type":"ephemeral"}`},
		{"none given", Options{}.TTL, `{"type":"ephemeral"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, out := place(t, anthropic, `[{"role":"user","content":"a"}]`, Options{TTL: tt.ttl})
			want := `[{"role":"user","content":[{"type":"text","text":"a","cache_control":` + tt.want + `}]}]`
			if diff := cmp.Diff(want, out); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCA11_OneHourIsClampedWhereModelOrRouteDoesNotTakeIt(t *testing.T) {
	tests := []struct {
		route, model string
		want         TTL
	}{
		{"openrouter", "qwen/qwen3-coder", TTL5m},
		{"opencode-go", "qwen/qwen3-coder", TTL1h},
		{"opencode-go", "minimax/MiniMax-M2.5", TTL5m},
		{"OpenCode-Zen", "anthropic/claude-opus-5", TTL5m},
		{"opencode", "claude-opus-5", TTL5m},
		{"Alibaba", "claude-opus-5", TTL5m},
		{"", "Qwen3-Max", TTL5m},
		{"openrouter", "anthropic/claude-opus-5", TTL1h},
		{"", "", TTL1h},
	}
	for _, tt := range tests {
		if got := ClampTTL(TTL1h, tt.route, tt.model); got != tt.want {
			t.Errorf("1h on route %q, model %q: got %v, want %v", tt.route, tt.model, got, tt.want)
		}
		if got := ClampTTL(TTL5m, tt.route, tt.model); got != TTL5m {
			t.Errorf("5m on route %q, model %q: got %v", tt.route, tt.model, got)
		}
	}
	res, out := place(t, openAI, chatOfFive, Options{Layout: LayoutOpenRouter, Model: "qwen/qwen3-coder", TTL: TTL1h})
	if strings.Contains(out, "ttl") || len(marksIn(t, openAI, out)) != 4 {
		t.Errorf("output: %s", out)
	}
	if diff := cmp.Diff([]string{WarnTTLClamped}, warnings(res)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestCA14_NoToolsMeansTheMessageLayout(t *testing.T) {
	in := `{"tools":[],"system":"S","messages":[{"role":"user","content":"a"}]}`
	_, out := place(t, anthropic, in, Options{})
	if diff := cmp.Diff([]string{"system[0]", "messages[0].content[0]"}, marksIn(t, anthropic, out)); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(out, `{"tools":[],`) {
		t.Errorf("output: %s", out)
	}
}

func TestCA15_StrippingAMultimodalListKeepsItsShape(t *testing.T) {
	in := `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"},` + mark + `},{"type":"text","text":"b",` + mark + `}]}]`
	want := `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},{"type":"text","text":"b"}]}]`
	_, out := place(t, openAI, in, Options{Strategy: StrategyNone})
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// The two places where this package leaves the published behaviour on purpose.

func TestDeviation_EmptyContentIsSkippedAndItsSlotMovesUp(t *testing.T) {
	// The published code marks an empty native row all the same.
	in := `{"system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":""},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":""}]}]}`
	res, out := place(t, anthropic, in, Options{})
	want := []string{"system[0]", "messages[0].content[0]", "messages[1].content[0]", "messages[2].content[0]"}
	if diff := cmp.Diff(want, marksIn(t, anthropic, out)); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"messages[4].content[0] EMPTY_RESULT", "messages[3].content[0] EMPTY_TEXT"}, skips(res)); diff != "" {
		t.Errorf("skips (-want +got):\n%s", diff)
	}
}

func TestDeviation_ToolResultsAreMarkedWhereTheRouteTakesThem(t *testing.T) {
	chat := `[{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]`
	native := `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"r"}]}]}]`
	t.Run("native: on the tool_result block", func(t *testing.T) {
		_, out := place(t, anthropic, native, Options{})
		if want := `"content":[{"type":"text","text":"r"}],` + mark + `}`; !strings.Contains(out, want) {
			t.Errorf("output: %s", out)
		}
	})
	t.Run("OpenRouter: on a text part", func(t *testing.T) {
		_, out := place(t, openAI, chat, Options{Layout: LayoutOpenRouter})
		if want := `{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r",` + mark + `}]}`; !strings.Contains(out, want) {
			t.Errorf("output: %s", out)
		}
	})
	t.Run("LiteLLM: skipped, and the slot moves up", func(t *testing.T) {
		in := `[{"role":"system","content":"S"},{"role":"user","content":"0"},` + chat[1:]
		_, out := place(t, openAI, in, Options{Layout: LayoutLiteLLM})
		want := []string{"messages[0].content[0]", "messages[1].content[0]", "messages[2].content[0]", "messages[3].content[0]"}
		if diff := cmp.Diff(want, marksIn(t, openAI, out)); diff != "" {
			t.Errorf("marks (-want +got):\n%s", diff)
		}
		if !strings.Contains(out, `{"role":"tool","tool_call_id":"c","content":"r"}`) {
			t.Errorf("the tool message changed: %s", out)
		}
	})
}
