package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
)

func parse(t testing.TB, format conversation.Format, body string) *conversation.Conversation {
	t.Helper()
	c, err := conversation.Parse(format, body, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func report(t testing.TB, c *Counter, conv *conversation.Conversation, model Model) Report {
	t.Helper()
	r, err := c.Count(t.Context(), conv, model)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sum(r.Messages) + r.System + r.Tools + r.Priming; sum != r.Tokens {
		t.Errorf("%s: Tokens = %d, its pieces add up to %d", model.Name, r.Tokens, sum)
	}
	if r.Parts.Total() != r.Tokens {
		t.Errorf("%s: Tokens = %d, the parts add up to %d", model.Name, r.Tokens, r.Parts.Total())
	}
	if r.Lower < 0 || r.Lower > r.Tokens || r.Upper < r.Tokens {
		t.Errorf("%s: %d tokens outside [%d, %d]", model.Name, r.Tokens, r.Lower, r.Upper)
	}
	return r
}

func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}

func openAI(t testing.TB, body string) *conversation.Conversation {
	t.Helper()
	return parse(t, conversation.FormatOpenAIChat, body)
}

func anthropic(t testing.TB, body string) *conversation.Conversation {
	t.Helper()
	return parse(t, conversation.FormatAnthropicMessages, body)
}

func TestChatFramesOfOpenAI(t *testing.T) {
	c, gpt := NewCounter(), newRegistry(t).Lookup("gpt-4o")
	for _, x := range []struct {
		name, body string
		want       Parts
	}{
		{
			name: "no messages", body: `[]`,
			want: Parts{Framing: 3},
		},
		{
			name: "one message", body: `[{"role":"user","content":"hello world"}]`,
			want: Parts{Text: 2, Framing: 7},
		},
		{
			name: "system and name", body: `[{"role":"developer","content":"hello world"},{"role":"user","name":"anna","content":"hi"}]`,
			want: Parts{System: 2, Text: 1, Framing: 3 + 4 + 4 + 1 + 1},
		},
		{
			name: "call and result", body: `[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"hello world"}]`,
			want: Parts{ToolCalls: 2, ToolResults: 2, Framing: 3 + 4 + 7 + 4 + 1},
		},
		{
			name: "refusal and reasoning", body: `[{"role":"assistant","content":null,"refusal":"hello world","reasoning_content":"hi"}]`,
			want: Parts{Text: 2, Reasoning: 1, Framing: 7},
		},
		{
			name: "image", body: `[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"https://example.org/a.png","detail":"low"}}]}]`,
			want: Parts{Text: 1, Media: 85, Framing: 7},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := report(t, c, openAI(t, x.body), gpt)
			if diff := cmp.Diff(x.want, r.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if r.Method != MethodLocal || r.Encoding != O200kBase {
				t.Errorf("method %s, encoding %s", r.Method, r.Encoding)
			}
		})
	}
}

func TestSystemPromptCountsOnce(t *testing.T) {
	c, claude := NewCounter(), newRegistry(t).Lookup("claude-sonnet-4-5")
	with := report(t, c, anthropic(t, `{"system":[{"type":"text","text":"`+strings.Repeat("kelp ", 1000)+`"}],"messages":[{"role":"user","content":"hi"}]}`), claude)
	if with.Parts.System < 1000 || with.Tokens > 2300 || with.System < with.Parts.System {
		t.Errorf("%+v", with)
	}
	if without := report(t, c, anthropic(t, `{"messages":[{"role":"user","content":"hi"}]}`), claude); without.System != 0 || without.Tokens >= with.Tokens {
		t.Errorf("%+v", without)
	}
}

func TestSignedReasoningCountsItsTextOnly(t *testing.T) {
	c, claude := NewCounter(), newRegistry(t).Lookup("claude-opus-5")
	signed := strings.Repeat("QUJD", 5000)
	size := func(block string) Report {
		return report(t, c, anthropic(t, `[{"role":"assistant","content":[`+block+`]}]`), claude)
	}
	thinking := size(`{"type":"thinking","thinking":"hello world","signature":"` + signed + `"}`)
	if thinking.Parts.Reasoning < 2 || thinking.Parts.Reasoning > 4 {
		t.Errorf("thinking: %+v", thinking.Parts)
	}
	redacted := size(`{"type":"redacted_thinking","data":"` + signed + `"}`)
	if redacted.Parts.Reasoning != 0 || len(redacted.Warnings) != 1 || redacted.Warnings[0].Code != WarnOpaqueNotCounted {
		t.Errorf("redacted thinking: %+v", redacted)
	}
	search := size(`{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","title":"Tides","encrypted_content":"` + signed + `"}]}`)
	if search.Parts.ToolResults < 10 || search.Parts.ToolResults > 100 || search.Warnings[0].Code != WarnOpaqueNotCounted {
		t.Errorf("search result: %+v", search)
	}
}

func TestUnknownBlocksCountAsTheirJSON(t *testing.T) {
	c, claude := NewCounter(), newRegistry(t).Lookup("claude-opus-5")
	r := report(t, c, anthropic(t, `[{"role":"user","content":[{"type":"mystery_block","data":"abc","n":[1,2,3]}]}]`), claude)
	if r.Parts.Text < 10 || len(r.Warnings) != 1 || r.Warnings[0].Code != WarnUnknownBlock || r.Warnings[0].Message != 0 {
		t.Errorf("%+v", r)
	}
	// Data inside it is not text.
	r = report(t, c, anthropic(t, `[{"role":"user","content":[{"type":"mystery_block","preview":"data:image/png;base64,`+strings.Repeat("QUJD", 50_000)+`","blob":"`+strings.Repeat("QUJD", 50_000)+`"}]}]`), claude)
	if r.Parts.Text > 100 || r.Parts.Media != 1373 {
		t.Errorf("%+v", r)
	}
}

func TestOddArgumentsAreCountedAndNamed(t *testing.T) {
	c, gpt := NewCounter(), newRegistry(t).Lookup("gpt-4o")
	call := func(arguments string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look"` + arguments + `}}]}`
	}
	for _, x := range []struct {
		name, arguments string
		calls, warnings int
	}{
		{name: "string", arguments: `,"arguments":"{\"pier\":1}"`, calls: 6},
		{name: "object", arguments: `,"arguments":{"pier":1}`, calls: 6, warnings: 1},
		{name: "null", arguments: `,"arguments":null`, calls: 1, warnings: 1},
		{name: "missing", calls: 1, warnings: 1},
		{name: "number", arguments: `,"arguments":7`, calls: 2, warnings: 1},
	} {
		r := report(t, c, openAI(t, `[{"role":"user","content":"go"},`+call(x.arguments)+`]`), gpt)
		if r.Parts.ToolCalls != x.calls || len(r.Warnings) != x.warnings {
			t.Errorf("%s: calls %d, warnings %v; want %d, %d", x.name, r.Parts.ToolCalls, r.Warnings, x.calls, x.warnings)
		}
		for _, w := range r.Warnings {
			if w.Code != WarnOddArguments || w.Message != 1 {
				t.Errorf("%s: warning %+v", x.name, w)
			}
		}
	}
}

func TestPlainTextIsExactWhereTheVocabularyIsKnown(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	const text = "The tide table for 漢字 pier 12345 says: don't."
	for name, encoding := range map[string]string{"gpt-4o": O200kBase, "gpt-4": CL100kBase, "gpt-oss-20b": O200kBase} {
		got, err := c.CountText(t.Context(), text, r.Lookup(name))
		if err != nil {
			t.Fatal(err)
		}
		want := count(t, newEncoding(t, encoding), text)
		if got.Tokens != want || got.Lower != want || got.Upper != want || got.Method != MethodLocal || got.Encoding != encoding {
			t.Errorf("%s: %+v, want exactly %d by %s", name, got, want, encoding)
		}
	}
	for _, name := range []string{"claude-opus-7", "claude-2", "gemini-3-pro", "gpt-6-sol", "gpt-9-ultra-2031", "who-knows"} {
		got, err := c.CountText(t.Context(), text, r.Lookup(name))
		if err != nil {
			t.Fatal(err)
		}
		if got.Method != MethodEstimate || got.Lower >= got.Tokens || got.Upper <= got.Tokens || got.Encoding == "" {
			t.Errorf("%s: %+v, want a labelled estimate with bounds", name, got)
		}
	}
	empty, err := c.CountText(t.Context(), "", r.Lookup("claude-opus-5"))
	if err != nil || empty.Tokens != 0 || empty.Upper != 0 {
		t.Errorf("empty text: %+v, %v", empty, err)
	}
}

func TestEveryMessageMakesTheConversationLargerAndRecountsAlike(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	bodies := map[string]*conversation.Conversation{
		"openai": openAI(t, `[{"role":"system","content":""},{"role":"user","content":""},{"role":"assistant","content":null},
			{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"x","content":null},{"role":"other"},
			{"role":"user","content":[]},{"role":"user","name":"anna","content":"thanks"},{"role":"user","content":7}]`),
		"anthropic": anthropic(t, `[{"role":"user","content":""},{"role":"assistant","content":[]},
			{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]`),
	}
	for format, conv := range bodies {
		for _, model := range r.All() {
			whole := report(t, c, conv, model)
			last := 0
			for n := 1; n <= len(conv.Messages); n++ {
				prefix := *conv
				prefix.Messages = conv.Messages[:n]
				got := report(t, c, &prefix, model).Tokens
				if got <= last {
					t.Errorf("%s, %s: %d messages cost %d, one less %d", format, model.ID, n, got, last)
				}
				last = got
				cost, err := c.CountMessage(t.Context(), &conv.Messages[n-1], model)
				if err != nil || cost.Tokens() != whole.Messages[n-1] {
					t.Errorf("%s, %s: message %d alone costs %d (%v), in the request %d", format, model.ID, n-1, cost.Tokens(), err, whole.Messages[n-1])
				}
			}
		}
	}
}

func TestAReportFromPiecesEqualsTheWhole(t *testing.T) {
	c, m := NewCounter(), newRegistry(t).Lookup("claude-opus-4-8")
	conv := anthropic(t, `{"system":"Be brief.","tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[
		{"role":"user","content":"hello"},{"role":"assistant","content":[{"type":"mystery"}]}]}`)
	whole := report(t, c, conv, m)
	var costs []Cost
	for i := range conv.Messages {
		cost, err := c.CountMessage(t.Context(), &conv.Messages[i], m)
		if err != nil {
			t.Fatal(err)
		}
		for w := range cost.Warnings {
			cost.Warnings[w].Message = i
		}
		costs = append(costs, cost)
	}
	system, err1 := c.CountSystem(t.Context(), conv.System, m)
	tools, err2 := c.CountTools(t.Context(), conv.Tools, m)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, c.Report(m, costs, system, tools)); diff != "" {
		t.Errorf("(-whole +pieces):\n%s", diff)
	}
}

func TestNameNeverLowersTheCount(t *testing.T) {
	c := NewCounter()
	for _, model := range newRegistry(t).All() {
		with := report(t, c, openAI(t, `[{"role":"user","name":"anna","content":"thanks"}]`), model).Tokens
		without := report(t, c, openAI(t, `[{"role":"user","content":"thanks"}]`), model).Tokens
		if with < without {
			t.Errorf("%s: %d with a name, %d without", model.ID, with, without)
		}
	}
}

func TestCountStopsAtTheDeadline(t *testing.T) {
	c, m := NewCounter(), newRegistry(t).Lookup("gpt-4o")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Count(ctx, openAI(t, `[{"role":"user","content":"hi"}]`), m); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// The recorded conversations hold every kind of block and every fault that real clients send.
func TestRealConversationsCountForEveryFamily(t *testing.T) {
	c := NewCounter()
	models := onePerFamily(newRegistry(t).All())
	dir := filepath.Join("..", "..", "shared", "data", "conversations")
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("no conversations in " + dir)
		}
		t.Skip("no conversations in " + dir)
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Format                  string
			System, Tools, Messages json.RawMessage
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		body := `{"messages":` + string(d.Messages)
		if len(d.Tools) > 0 {
			body += `,"tools":` + string(d.Tools)
		}
		if len(d.System) > 0 && d.Format == "anthropic" {
			body += `,"system":` + string(d.System)
		}
		format := conversation.FormatOpenAIChat
		if d.Format == "anthropic" {
			format = conversation.FormatAnthropicMessages
		}
		conv := parse(t, format, body+"}")
		for _, model := range models {
			r := report(t, c, conv, model)
			if r.Tokens < len(conv.Messages) || r.Tokens > len(body) {
				t.Errorf("%s, %s: %d tokens for %d bytes", filepath.Base(file), model.ID, r.Tokens, len(body))
			}
		}
	}
}

func onePerFamily(all []Model) []Model {
	seen := make(map[string]bool)
	var out []Model
	for _, m := range all {
		key := string(m.Family) + m.Encoding
		if !seen[key] {
			out = append(out, m)
		}
		seen[key] = true
	}
	return out
}

func FuzzCountNeverFails(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{"x":{"enum":[1,2]}}}}}]}`, 0)
	f.Add(`{"system":"x","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]},{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"iVBORw0KGgo="}}]}]}`, 40)
	f.Add(`[{"role":"tool","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA"}}]}]`, 80)
	c := NewCounter()
	models := newRegistry(f).All()
	f.Fuzz(func(t *testing.T, body string, model int) {
		for _, format := range []conversation.Format{conversation.FormatOpenAIChat, conversation.FormatAnthropicMessages} {
			conv, err := conversation.Parse(format, body, conversation.Limits{})
			if err != nil {
				continue
			}
			m := models[uint(model)%uint(len(models))]
			r := report(t, c, conv, m)
			if again := report(t, c, conv, m); !cmp.Equal(r, again) {
				t.Errorf("two counts differ: %s", cmp.Diff(r, again))
			}
			if len(r.Messages) != len(conv.Messages) || slices.Contains(r.Messages, 0) {
				t.Errorf("messages %v of %d", r.Messages, len(conv.Messages))
			}
		}
	})
}
