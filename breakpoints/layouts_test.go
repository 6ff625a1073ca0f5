package breakpoints

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryLayoutHasADatedRowWithItsSource(t *testing.T) {
	l, err := NewLayouts(nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := l.All()
	if got, want := len(rows), len(layoutNames())-1; got != want {
		t.Fatalf("%d rows, want %d", got, want)
	}
	for i, row := range rows {
		if row.Layout != Layout(i+1) || row.Name != row.Layout.String() || l.Rules(row.Layout).Name != row.Name {
			t.Errorf("row %d is %v %q", i, row.Layout, row.Name)
		}
		if row.Title == "" || row.Source == "" || len(row.Date) != 10 || len(row.Forms) == 0 {
			t.Errorf("%s: not complete: %+v", row.Name, row)
		}
		if row.Minimum != "" && l.minimums[row.Minimum] == nil {
			t.Errorf("%s: no table of minimums %q", row.Name, row.Minimum)
		}
	}
	if got := l.Rules(99); got.Name != "" {
		t.Errorf("rules of a number that is no layout: %v", got)
	}
}

func TestMinimumIsThatOfTheLongestNameThatFits(t *testing.T) {
	l, err := NewLayouts(nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		layout Layout
		model  string
		want   int
	}{
		{LayoutAnthropic, "claude-opus-5-5", 512},
		{LayoutAnthropic, "claude-fable-5-2", 512},
		{LayoutAnthropic, "claude-haiku-5-5-20261001", 512},
		{LayoutAnthropic, "claude-sonnet-5", 1024},
		{LayoutAnthropic, "claude-sonnet-5-5", 512},
		{LayoutOpenRouter, "anthropic/claude-sonnet-4.5", 1024},
		{LayoutVertex, "claude-opus-4-7", 2048},
		{LayoutAnthropic, "claude-opus-4-20250514", 1024},
		{LayoutAnthropic, "claude-opus-4-8", 1024},
		{LayoutLiteLLM, "Claude-Haiku-4.5", 4096},
		{LayoutBedrock, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", 4096},
		{LayoutBedrockInvoke, "anthropic.claude-opus-5", 0},
		{LayoutBedrock, "amazon.nova-pro-v1:0", 1000},
		{LayoutOpenAI, "gpt-5.6", 1024},
		{LayoutAlibaba, "qwen4-max", 1024},
		{LayoutGemini, "gemini-3-flash", 1024},
		{LayoutDeepSeek, "deepseek-v4", 0},
		{LayoutAnthropic, "", 0},
		{LayoutUnset, "claude-opus-5", 0},
	}
	for _, tt := range tests {
		if got := l.Minimum(tt.layout, tt.model); got != tt.want {
			t.Errorf("%v, %q: got %d, want %d", tt.layout, tt.model, got, tt.want)
		}
	}
}

func TestAFileTakesThePlaceOfRowsWithTheSameName(t *testing.T) {
	l, err := NewLayouts([]byte(`{"minimums":{"bedrock":[{"tokens":77,"models":["claude"]}]},"layouts":[
		{"name":"MINIMAX","title":"MiniMax","mark":"cache_control","forms":["anthropic-messages"],"results":"block","max_marks":2,"ttls":["1h"],"date":"2027-01-01","source":"a letter"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Minimum(LayoutBedrock, "claude-opus-5"); got != 77 {
		t.Errorf("minimum %d, want 77", got)
	}
	if got := l.Minimum(LayoutAnthropic, "claude-opus-5"); got != 512 {
		t.Errorf("another table changed too: %d", got)
	}
	res, out := place(t, anthropic, `{"system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`, Options{Layout: LayoutMiniMax, Layouts: l})
	if diff := cmp.Diff([]string{"system[0]@1h", "messages[2].content[0]@1h"}, marksIn(t, anthropic, out)); diff != "" {
		t.Errorf("two marks of the row's own life (-want +got):\n%s\n%v", diff, res.Warnings)
	}
}

func TestAFileThatMakesNoSenseIsRefused(t *testing.T) {
	row := func(s string) string {
		return `{"layouts":[{"name":"MINIMAX","mark":"cache_control","forms":["typed"],"results":"block","max_marks":4,"ttls":["5m"]` + s + `}]}`
	}
	tests := []struct{ name, file, want string }{
		{"no JSON", `{`, "unexpected EOF"},
		{"an unknown field", `{"layout":[]}`, "unknown field"},
		{"an unknown layout", `{"layouts":[{"name":"ACME"}]}`, `no layout is named "ACME"`},
		{"the unset layout", `{"layouts":[{"name":"UNSPECIFIED"}]}`, "no layout is named"},
		{"a row of another kind", `{"layouts":[5]}`, "layouts[0] (no name): json"},
		{"an unknown field of a row", row(`,"max_mark":3`), `layouts[0] (MINIMAX): json: unknown field "max_mark"`},
		{"no form", row(`,"forms":[]`), "no forms"},
		{"an unknown form", row(`,"forms":["openai"]`), "unknown form"},
		{"a table of minimums that is not there", row(`,"minimum":"acme"`), `"acme"`},
		{"a minimum of nothing", `{"minimums":{"acme":[{"tokens":1,"models":["a"]},{"models":["b"]}]}}`, "minimums.acme[1]"},
		{"a window of less than nothing", row(`,"window":-1`), "window -1"},
		{"two tables", `{} {}`, "something follows"},
		{"five marks", row(`,"max_marks":5`), "max_marks 5"},
		{"an unknown mark", row(`,"mark":"x"`), "unknown mark"},
		{"an unknown place", row(`,"results":"x"`), "results"},
		{"no life", row(`,"ttls":[]`), "no ttl"},
		{"an unknown life", row(`,"ttls":["2h"]`), "unknown ttl"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewLayouts([]byte(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// What each layout does to one conversation: where, how many, which member and life.
func TestEachLayoutMarksItsOwnPlaces(t *testing.T) {
	const native = `{"tools":[{"name":"t","input_schema":{}}],"system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}]}`
	const chat = `{"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"},{"role":"user","content":"d"}]}`
	blocks := []string{"system[0]", "messages[0].content[0]", "messages[1].content[0]", "messages[2].content[0]"}
	with := func(s string, places ...string) []string {
		var out []string
		for _, p := range places {
			out = append(out, p+s)
		}
		return out
	}
	tests := []struct {
		layout   Layout
		ttl      TTL
		want     []string
		warnings []string
	}{
		{LayoutAnthropic, TTL1h, with("@1h", blocks...), nil},
		{LayoutBedrockInvoke, TTL1h, with("@1h", blocks...), nil},
		{LayoutVertex, TTL5m, blocks, nil},
		{LayoutMiniMax, TTL1h, blocks, []string{WarnTTLClamped}},
		{LayoutOpenRouter, TTL5m, with(".content[0]", "messages[0]", "messages[2]", "messages[3]", "messages[4]"), nil},
		{LayoutLiteLLM, TTL5m, with(".content[0]", "messages[0]", "messages[1]", "messages[2]", "messages[4]"), nil},
		{LayoutAlibaba, TTL1h, with(".content[0]", "messages[0]", "messages[2]", "messages[3]", "messages[4]"), []string{WarnTTLClamped}},
		{LayoutOpenAI, TTL5m, with(".content[0]#openai", "messages[0]", "messages[3]", "messages[4]"), nil},
		{LayoutOpenAI, TTL1h, with(".content[0]#openai", "messages[0]", "messages[3]", "messages[4]"), []string{WarnTTLClamped}},
		{LayoutOpenAIImplicit, TTL5m, nil, nil},
		{LayoutGemini, TTL5m, nil, nil},
		{LayoutDeepSeek, TTL5m, nil, nil},
		{LayoutXAI, TTL5m, nil, nil},
		{LayoutMoonshot, TTL5m, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.layout.String()+" "+tt.ttl.String(), func(t *testing.T) {
			format, src := openAI, chat
			if tt.layout == LayoutAnthropic || tt.layout == LayoutBedrockInvoke || tt.layout == LayoutVertex || tt.layout == LayoutMiniMax {
				format, src = anthropic, native
			}
			opts := Options{Layout: tt.layout, TTL: tt.ttl}
			res, out := place(t, format, src, opts)
			if diff := cmp.Diff(tt.want, marksIn(t, format, out)); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, warnings(res)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			checkLegal(t, format, src, opts)
		})
	}
}

func TestOpenAIMarksAreWrittenAsItsReferenceSays(t *testing.T) {
	in := `[{"role":"user","content":[{"type":"text","text":"a",` + mark1h + `}]},{"role":"user","content":[{` + mark + `,"type":"text","text":"b"}]},{"role":"user","content":[{"prompt_cache_breakpoint": {"mode":"explicit"} , "type":"text","text":"c"}]},{"role":"user","content":[{"type":"text","text":"d"}]}]`
	want := `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"prompt_cache_breakpoint":{"mode":"explicit"},"type":"text","text":"b"}]},{"role":"user","content":[{"prompt_cache_breakpoint": {"mode":"explicit"} , "type":"text","text":"c"}]},{"role":"user","content":[{"type":"text","text":"d","prompt_cache_breakpoint":{"mode":"explicit"}}]}]`
	res, out := place(t, openAI, in, Options{Layout: LayoutOpenAI})
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if res.Hint == nil || res.Hint.Name != "prompt_cache_key" || res.Hint.Where != "body" {
		t.Errorf("hint %v", res.Hint)
	}
	if res.Breakpoints[0].TTL != TTL30m {
		t.Errorf("life %v", res.Breakpoints[0].TTL)
	}
}

func TestALayoutWithoutMarksRemovesThemUnlessTheyAreRespected(t *testing.T) {
	in := `[{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]}]`
	res, out := place(t, openAI, in, Options{Layout: LayoutGemini})
	if want := `[{"role":"user","content":[{"type":"text","text":"a"}]}]`; out != want {
		t.Errorf("got %s", out)
	}
	if diff := cmp.Diff([]string{WarnMarksRemoved}, warnings(res)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	res, out = place(t, openAI, in, Options{Layout: LayoutGemini, Existing: ExistingRespect})
	if diff := cmp.Diff([]string{WarnIllegalMark, WarnMarksRespected}, warnings(res)); diff != "" || out != in {
		t.Errorf("respected (-want +got):\n%s\n%s", diff, out)
	}
}

func TestTheLayoutOfAModelIsChosenOnTheAnthropicForm(t *testing.T) {
	tests := []struct {
		model  string
		want   Layout
		reason string
	}{
		{"MiniMax-M3", LayoutMiniMax, "MiniMax, Anthropic wire model"},
		{"gemini-3-pro", LayoutUnset, "no marks: model gemini-3-pro takes none"},
		{"deepseek-chat", LayoutUnset, "no marks"},
		{"grok-4", LayoutUnset, "no marks"},
		{"claude-opus-5", LayoutAnthropic, "native Anthropic conversation"},
	}
	for _, tt := range tests {
		res, _ := place(t, anthropic, `{"messages":[{"role":"user","content":"a"}]}`, Options{Model: tt.model})
		if res.Layout != tt.want || !strings.HasPrefix(res.Reason, tt.reason) {
			t.Errorf("%s: got %v, %q", tt.model, res.Layout, res.Reason)
		}
	}
	res, _ := place(t, openAI, `[{"role":"user","content":"a"}]`, Options{Model: "qwen4-max"})
	if res.Layout != LayoutUnset || !strings.Contains(res.Reason, "choose layout ALIBABA") {
		t.Errorf("Qwen on OpenAI chat: %v, %q", res.Layout, res.Reason)
	}
}
