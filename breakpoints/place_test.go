package breakpoints

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
)

// skips lists the skipped places in words.
func skips(res *Result) []string {
	var out []string
	for _, s := range res.Skipped {
		out = append(out, fmt.Sprintf("%v %s", s.Position, s.Reason))
	}
	return out
}

func warnings(res *Result) []string {
	var out []string
	for _, w := range res.Warnings {
		out = append(out, w.Code)
	}
	return out
}

const (
	image  = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	mark   = `"cache_control":{"type":"ephemeral"}`
	mark1h = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

func TestAnthropicPlaces(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		opts  Options
		want  []string
		skips []string
	}{
		{
			name: "system string and the last three messages",
			in:   `{"system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]}`,
			want: []string{"system[0]", "messages[2].content[0]", "messages[3].content[0]", "messages[4].content[0]"},
		},
		{
			name: "four messages without a system prompt",
			in:   `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]}`,
			want: []string{"messages[1].content[0]", "messages[2].content[0]", "messages[3].content[0]", "messages[4].content[0]"},
		},
		{
			name: "the last block of a system list",
			in:   `{"system":[{"type":"text","text":"S"},{"type":"text","text":"T"}],"messages":[{"role":"user","content":"a"}]}`,
			want: []string{"system[1]", "messages[0].content[0]"},
		},
		{
			name:  "a blank last system block gives way to the one before",
			in:    `{"system":[{"type":"text","text":"S"},{"type":"text","text":" \n"}],"messages":[{"role":"user","content":"a"}]}`,
			want:  []string{"system[0]", "messages[0].content[0]"},
			skips: []string{"system[1] EMPTY_TEXT"},
		},
		{
			name:  "a blank system prompt leaves its slot to the messages",
			in:    `{"system":" \t","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]}`,
			want:  []string{"messages[1].content[0]", "messages[2].content[0]", "messages[3].content[0]", "messages[4].content[0]"},
			skips: []string{"system[0] EMPTY_TEXT"},
		},
		{
			name: "an empty system list leaves its slot too",
			in:   `{"system":[],"messages":[{"role":"user","content":"a"}]}`,
			want: []string{"messages[0].content[0]"},
		},
		{
			name:  "an image before an empty text is fine",
			in:    `{"messages":[{"role":"user","content":[` + image + `,{"type":"text","text":""}]}]}`,
			want:  []string{"messages[0].content[0]"},
			skips: []string{"messages[0].content[1] EMPTY_TEXT"},
		},
		{
			name:  "thinking is passed over, also when it is all there is",
			in:    `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"thinking","thinking":"t","signature":"c2ln"}]},{"role":"user","content":"c"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"redacted_thinking","data":"eA=="}]}]}`,
			want:  []string{"messages[0].content[0]", "messages[1].content[0]", "messages[2].content[0]"},
			skips: []string{"messages[3].content[1] THINKING", "messages[3].content[0] THINKING", "messages[1].content[1] THINKING"},
		},
		{
			name: "a call is marked on the tool_use block, a result on the tool_result block",
			in:   `{"messages":[{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"c1","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r"}]}]}]}`,
			want: []string{"messages[0].content[1]", "messages[1].content[0]"},
		},
		{
			name:  "programmatic calls and their results are passed over, later uses of the id are not",
			in:    `{"messages":[{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"k","name":"look","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"k","content":"ok"}]},{"role":"assistant","content":[{"type":"tool_use","id":"k","name":"look","input":{},"caller":{"type":"direct"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"k","content":"ok"}]}]}`,
			want:  []string{"messages[0].content[0]", "messages[2].content[0]", "messages[3].content[0]"},
			skips: []string{"messages[1].content[0] PROGRAMMATIC_CALL", "messages[0].content[1] PROGRAMMATIC_CALL"},
		},
		{
			name:  "server calls made by code execution are programmatic too",
			in:    `{"messages":[{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"server_tool_use","id":"s1","name":"web_search","input":{},"caller":{"type":"code_execution_20260120","tool_id":"s0"}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}]}]}`,
			want:  []string{"messages[0].content[0]"},
			skips: []string{"messages[0].content[2] PROGRAMMATIC_CALL", "messages[0].content[1] PROGRAMMATIC_CALL"},
		},
		{
			name: "server results carry a mark themselves",
			in:   `{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}]}]}`,
			want: []string{"messages[0].content[1]"},
		},
		{
			name:  "empty results are passed over",
			in:    `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"full"},{"type":"tool_result","tool_use_id":"b"},{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":" "}]}]}]}`,
			want:  []string{"messages[0].content[0]"},
			skips: []string{"messages[0].content[2] EMPTY_RESULT", "messages[0].content[1] EMPTY_RESULT"},
		},
		{
			name: "a result of one image is not empty",
			in:   `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + image + `]}]}]}`,
			want: []string{"messages[0].content[0]"},
		},
		{
			name:  "blocks of unknown type are passed over, known ones that the model does not read are not",
			in:    `{"messages":[{"role":"user","content":[{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}]},{"type":"hologram","data":1}]}]}`,
			want:  []string{"messages[0].content[0]"},
			skips: []string{"messages[0].content[1] UNKNOWN_BLOCK"},
		},
		{
			name:  "a bare string inside a list is passed over",
			in:    `{"messages":[{"role":"user","content":["bare",{"type":"text","text":" "},"x",{"type":"thinking","thinking":"t"}]}]}`,
			skips: []string{"messages[0].content[3] THINKING", "messages[0].content[2] BARE_STRING", "messages[0].content[1] EMPTY_TEXT", "messages[0].content[0] BARE_STRING"},
		},
		{
			name:  "a system message inside the conversation is not counted",
			in:    `{"system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"system","content":"note"}]}`,
			want:  []string{"system[0]", "messages[0].content[0]", "messages[1].content[0]", "messages[2].content[0]"},
			skips: []string{"messages[3] SYSTEM_MESSAGE"},
		},
		{
			name:  "messages without content and of unknown roles are passed over",
			in:    `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[]},{"role":"exit","content":"b"}]}`,
			want:  []string{"messages[0].content[0]"},
			skips: []string{"messages[2] UNKNOWN_ROLE", "messages[1] NO_CONTENT"},
		},
		{
			name: "one hour is written on every mark",
			in:   `{"system":"S","messages":[{"role":"user","content":"a"}]}`,
			opts: Options{TTL: TTL1h},
			want: []string{"system[0]@1h", "messages[0].content[0]@1h"},
		},
		{
			name: "reserved slots are left free, the system prompt first in line",
			in:   `{"system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`,
			opts: Options{Reserved: 2},
			want: []string{"system[0]", "messages[1].content[0]"},
		},
		{
			name: "with all slots reserved nothing is marked",
			in:   `{"system":"S","messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]}]}`,
			opts: Options{Reserved: 4},
		},
		{
			name:  "the newest user request and what follows it can be left unmarked",
			in:    `{"system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"e"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}]}`,
			opts:  Options{LeaveNewestUserUnmarked: true},
			want:  []string{"system[0]", "messages[1].content[0]", "messages[2].content[0]", "messages[3].content[0]"},
			skips: []string{"messages[4] NEWEST_USER"},
		},
		{
			name: "a result that only continues the work is no request",
			in:   `{"messages":[{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}]}`,
			opts: Options{LeaveNewestUserUnmarked: true},
			want: []string{"messages[0].content[0]", "messages[1].content[0]"},
		},
		{
			name: "no messages",
			in:   `{"messages":[]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, out := place(t, anthropic, tt.in, tt.opts)
			if diff := cmp.Diff(tt.want, marksIn(t, anthropic, out)); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.skips, skips(res)); diff != "" {
				t.Errorf("skips (-want +got):\n%s", diff)
			}
			if res.Layout != LayoutAnthropic || res.Reason != "native Anthropic conversation" {
				t.Errorf("layout %v, %q", res.Layout, res.Reason)
			}
			checkInvariants(t, anthropic, tt.in, tt.opts)
		})
	}
}

func TestOpenAIPlaces(t *testing.T) {
	router, lite := Options{Claude: true}, Options{Layout: LayoutLiteLLM}
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]}`
	tests := []struct {
		name  string
		in    string
		opts  Options
		want  []string
		skips []string
	}{
		{
			name: "the last of the leading system messages, one slot",
			in:   `[{"role":"system","content":"S"},{"role":"developer","content":"D"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]`,
			opts: router,
			want: []string{"messages[1].content[0]", "messages[3].content[0]", "messages[4].content[0]", "messages[5].content[0]"},
		},
		{
			name:  "a blank leading system message gives way to the one before",
			in:    `[{"role":"system","content":"S"},{"role":"system","content":" "},{"role":"user","content":"a"}]`,
			opts:  router,
			want:  []string{"messages[0].content[0]", "messages[2].content[0]"},
			skips: []string{"messages[1].content[0] EMPTY_TEXT"},
		},
		{
			name:  "a blank system prompt leaves its slot to the messages",
			in:    `[{"role":"system","content":""},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]`,
			opts:  router,
			want:  []string{"messages[1].content[0]", "messages[2].content[0]", "messages[3].content[0]", "messages[4].content[0]"},
			skips: []string{"messages[0].content[0] EMPTY_TEXT"},
		},
		{
			name:  "calls without text are no target, text beside calls is",
			in:    `[{"role":"user","content":"a"},{"role":"assistant","content":"I look.","tool_calls":[{"id":"c0","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c0","content":"r"},` + call + `]`,
			opts:  router,
			want:  []string{"messages[0].content[0]", "messages[1].content[0]", "messages[2].content[0]"},
			skips: []string{"messages[3] NO_CONTENT"},
		},
		{
			name:  "an empty string beside calls is no target",
			in:    `[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"c0","type":"function","function":{"name":"look","arguments":"{}"}}]}]`,
			opts:  router,
			want:  []string{"messages[0].content[0]"},
			skips: []string{"messages[1].content[0] EMPTY_TEXT"},
		},
		{
			name: "block indices are those of the content list, reasoning beside it does not count",
			in:   `[{"role":"assistant","reasoning_content":"r","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]`,
			opts: router,
			want: []string{"messages[0].content[1]"},
		},
		{
			name:  "only text parts carry a mark on this route",
			in:    `[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}]`,
			opts:  router,
			want:  []string{"messages[0].content[0]"},
			skips: []string{"messages[0].content[1] NOT_TEXT"},
		},
		{
			name: "the last text of a tool message, before an image and a blank",
			in:   `[{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"x"},{"type":"text","text":"y"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},{"type":"text","text":" "}]}]`,
			opts: router,
			want: []string{"messages[0].content[1]"},
		},
		{
			name:  "tool messages without text are passed over",
			in:    `[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c1","content":""},{"role":"tool","tool_call_id":"c2","content":null},{"role":"tool","tool_call_id":"c3","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]},{"role":"tool","tool_call_id":"c4","content":["bare"]}]`,
			opts:  router,
			want:  []string{"messages[0].content[0]"},
			skips: []string{"messages[4] BARE_STRING", "messages[3] NOT_TEXT", "messages[2] EMPTY_RESULT", "messages[1] EMPTY_RESULT"},
		},
		{
			name:  "function messages stay strings",
			in:    `[{"role":"user","content":"a"},{"role":"assistant","content":null,"function_call":{"name":"look","arguments":"{}"}},{"role":"function","name":"look","content":"r"}]`,
			opts:  router,
			want:  []string{"messages[0].content[0]"},
			skips: []string{"messages[2] FUNCTION_MESSAGE", "messages[1] NO_CONTENT"},
		},
		{
			name:  "LiteLLM: tool messages are passed over",
			in:    `[{"role":"user","content":"a"},` + call + `,{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"assistant","content":"b"}]`,
			opts:  lite,
			want:  []string{"messages[0].content[0]", "messages[3].content[0]"},
			skips: []string{"messages[2] TOOL_MESSAGE", "messages[1] NO_CONTENT"},
		},
		{
			name:  "LiteLLM: tool messages too when asked",
			in:    `[{"role":"user","content":"a"},` + call + `,{"role":"tool","tool_call_id":"c1","content":"r"}]`,
			opts:  Options{Layout: LayoutLiteLLM, MarkToolMessages: true},
			want:  []string{"messages[0].content[0]", "messages[2].content[0]"},
			skips: []string{"messages[1] NO_CONTENT"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, out := place(t, openAI, tt.in, tt.opts)
			if diff := cmp.Diff(tt.want, marksIn(t, openAI, out)); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			var reported []string
			for _, b := range res.Breakpoints {
				reported = append(reported, b.String())
			}
			if diff := cmp.Diff(tt.want, reported); diff != "" {
				t.Errorf("reported places (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.skips, skips(res)); diff != "" {
				t.Errorf("skips (-want +got):\n%s", diff)
			}
			checkInvariants(t, openAI, tt.in, tt.opts)
		})
	}
}

func TestLayoutIsChosenByFormAndModel(t *testing.T) {
	const chat = `{"model":"m","messages":[{"role":"user","content":"a"}]}`
	tests := []struct {
		name   string
		format conversation.Format
		in     string
		opts   Options
		layout Layout
		reason string
		marks  int
	}{
		{"native Anthropic, a model of no known route", anthropic, chat, Options{Model: "house-model"}, LayoutAnthropic, "native Anthropic conversation", 1},
		{"native Anthropic, a route that refuses marks", anthropic, chat, Options{Model: "kimi-k3"}, LayoutUnset, "no marks: model kimi-k3 takes none (Moonshot Kimi caches by itself and refuses marks)", 0},
		{"Claude on OpenAI chat", openAI, chat, Options{Model: "anthropic/claude-opus-5", Claude: true}, LayoutOpenRouter, "Claude model on OpenAI chat", 1},
		{"another model on OpenAI chat", openAI, chat, Options{Model: "gpt-5"}, LayoutUnset, "no marks: model gpt-5 takes none", 0},
		{"the model of the body", openAI, chat, Options{}, LayoutUnset, "no marks: model m takes none", 0},
		{"no model at all", openAI, `[{"role":"user","content":"a"}]`, Options{}, LayoutUnset, "no marks: no model is named; name a Claude model or choose a layout", 0},
		{"asked for", openAI, chat, Options{Layout: LayoutLiteLLM}, LayoutLiteLLM, "layout LITELLM as requested", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, out := place(t, tt.format, tt.in, tt.opts)
			if res.Layout != tt.layout || res.Reason != tt.reason {
				t.Errorf("got %v, %q, want %v, %q", res.Layout, res.Reason, tt.layout, tt.reason)
			}
			if got := len(marksIn(t, tt.format, out)); got != tt.marks {
				t.Errorf("%d marks, want %d", got, tt.marks)
			}
			if tt.marks == 0 && (out != tt.in || !res.Rewrite.Empty()) {
				t.Errorf("the conversation changed: %s", out)
			}
		})
	}
}

func TestConversationThatTakesNoMarksKeepsThoseItHas(t *testing.T) {
	in := `[{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]}]`
	res, out := place(t, openAI, in, Options{Model: "gpt-5"})
	if out != in {
		t.Errorf("changed: %s", out)
	}
	if diff := cmp.Diff([]string{WarnMarksLeft}, warnings(res)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if len(res.Breakpoints) != 1 {
		t.Errorf("breakpoints: %v", res.Breakpoints)
	}
}

func TestReplaceRemovesEveryOtherMark(t *testing.T) {
	tests := []struct {
		name     string
		format   conversation.Format
		in       string
		opts     Options
		out      string
		warnings []string
	}{
		{
			name:   "a mark at a chosen place is rewritten where it stands",
			format: anthropic,
			in:     `{"messages":[{"role":"user","content":[{"cache_control": {"ttl":"1h", "type":"ephemeral"} ,"type":"text","text":"a"}]}]}`,
			out:    `{"messages":[{"role":"user","content":[{"cache_control": {"type":"ephemeral"} ,"type":"text","text":"a"}]}]}`,
		},
		{
			name:   "an empty or null mark is written properly",
			format: anthropic,
			in:     `{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":null}]},{"role":"user","content":[{"type":"text","text":"b","cache_control":true}]}]}`,
			out:    `{"messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]},{"role":"user","content":[{"type":"text","text":"b",` + mark + `}]}]}`,
		},
		{
			name:     "tools and automatic caching",
			format:   anthropic,
			in:       `{"cache_control":{"type":"ephemeral"},"tools":[{"name":"a","input_schema":{},` + mark + `},{` + mark1h + `,"name":"b","input_schema":{}}],"messages":[{"role":"user","content":"x"}]}`,
			out:      `{"tools":[{"name":"a","input_schema":{}},{"name":"b","input_schema":{}}],"messages":[{"role":"user","content":[{"type":"text","text":"x",` + mark + `}]}]}`,
			warnings: []string{WarnToolMarksRemoved, WarnAutomaticRemoved},
		},
		{
			name:   "thinking, nested results and messages as a whole",
			format: anthropic,
			in:     `{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln",` + mark + `},{"type":"tool_use","id":"c","name":"n","input":{` + mark + `}}],` + mark + `},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"r",` + mark + `}]}]}]}`,
			out:    `{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"tool_use","id":"c","name":"n","input":{` + mark + `},` + mark + `}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"r"}],` + mark + `}]}]}`,
		},
		{
			name:   "marks deeper than any provider takes one",
			format: anthropic,
			in:     `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"search_result","content":[{"type":"text","text":"r",` + mark + `}]}]},{"type":"document","source":{"type":"content","content":[{` + mark + `,"type":"text","text":"d"}]}}]}]}`,
			out:    `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"search_result","content":[{"type":"text","text":"r"}]}]},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"d"}]},` + mark + `}]}]}`,
		},
		{
			name:   "deep inside the system prompt",
			format: anthropic,
			in:     `{"system":[{"type":"search_result","content":[{"type":"text","text":"x",` + mark + `}]},{"type":"text","text":"S"}],"messages":[{"role":"user","content":"a"}]}`,
			out:    `{"system":[{"type":"search_result","content":[{"type":"text","text":"x"}]},{"type":"text","text":"S",` + mark + `}],"messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]}]}`,
		},
		{
			name:   "OpenAI: calls, tools, tool messages as a whole",
			format: openAI,
			opts:   Options{Claude: true},
			in:     `{"tools":[{"type":"function","function":{"name":"n",` + mark + `},` + mark + `}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{}",` + mark + `},` + mark + `}]},{"role":"tool","tool_call_id":"c","content":"r",` + mark + `}]}`,
			out: `{"tools":[{"type":"function","function":{"name":"n"}}],"messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r",` + mark + `}]}]}`,
			warnings: []string{WarnToolMarksRemoved},
		},
		{
			name:   "no target: the wrong marks go, the rest stays",
			format: anthropic,
			in:     `{"messages":[{"role":"user","content":[{"type":"text","text":" ",` + mark + `}]}]}`,
			out:    `{"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}`,
			warnings: []string{
				WarnNoTarget,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, out := place(t, tt.format, tt.in, tt.opts)
			if diff := cmp.Diff(tt.out, out); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, warnings(res)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			checkInvariants(t, tt.format, tt.in, tt.opts)
		})
	}
}

func TestStrategyNoneStripsAllMarks(t *testing.T) {
	tests := []struct {
		name, in, out string
		format        conversation.Format
		opts          Options
	}{
		{
			name:   "everywhere, with odd spacing",
			format: anthropic,
			in:     "{ \"tools\": [ { \"name\": \"a\" , " + mark1h + " } ],\n \"system\": [ {\"type\":\"text\",\"text\":\"S\", " + mark + "} ], \"messages\": [ {\"role\":\"user\",\"content\":[ {" + mark + " , \"type\":\"text\",\"text\":\"h\\u0069\"} ]} ] , \"cache_control\" : {\"type\":\"ephemeral\"} }",
			out:    "{ \"tools\": [ { \"name\": \"a\" } ],\n \"system\": [ {\"type\":\"text\",\"text\":\"S\"} ], \"messages\": [ {\"role\":\"user\",\"content\":[ {\"type\":\"text\",\"text\":\"h\\u0069\"} ]} ] }",
		},
		{
			name:   "whatever existing says, and without a model",
			format: openAI,
			opts:   Options{Existing: ExistingRespect},
			in:     `[{"role":"user","content":"a",` + mark + `}]`,
			out:    `[{"role":"user","content":"a"}]`,
		},
		{
			name:   "a mark that is the only member",
			format: anthropic,
			in:     `{"messages":[{"role":"user","content":[{` + mark + `}]}]}`,
			out:    `{"messages":[{"role":"user","content":[{}]}]}`,
		},
		{
			name:   "without marks nothing changes, data that looks like a mark neither",
			format: anthropic,
			in:     `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{` + mark + `}}]}],"metadata":{` + mark + `}}`,
			out:    `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{` + mark + `}}]}],"metadata":{` + mark + `}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Strategy = StrategyNone
			res, out := place(t, tt.format, tt.in, tt.opts)
			if diff := cmp.Diff(tt.out, out); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if res.Layout != LayoutUnset || len(res.Breakpoints) != 0 || len(res.Warnings) != 0 {
				t.Errorf("layout %v, breakpoints %v, warnings %v", res.Layout, res.Breakpoints, warnings(res))
			}
			if res.Rewrite.Empty() != (tt.in == tt.out) {
				t.Errorf("rewrite empty: %v", res.Rewrite.Empty())
			}
		})
	}
}
