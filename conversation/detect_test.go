package conversation_test

import (
	"errors"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
)

func TestDetectFormat(t *testing.T) {
	for _, c := range []struct {
		name, json string
		anthropic  bool
	}{
		{"a system key", `{"system":"x","messages":[]}`, true},
		{"a system message", `{"model":"claude-3","messages":[{"role":"system","content":"x"}]}`, false},
		{"a developer message", `[{"role":"developer","content":"x"}]`, false},
		{"tool calls", `[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[]}]`, false},
		{"a tool message", `[{"role":"tool","tool_call_id":"1","content":"x"}]`, false},
		{"a tool_use block", `[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use"}]}]`, true},
		{"a tool_result block", ` [{"role":"user","content":[{"type":"tool_result"}]}]`, true},
		{"an image block", `[{"role":"user","content":[{"type":"image"}]}]`, true},
		{"an image_url part", `[{"role":"user","content":[{"type":"image_url"}]}]`, false},
		{"tools with input_schema", `{"tools":[{"name":"f","input_schema":{}}],"messages":[]}`, true},
		{"tools with function", `{"model":"claude","tools":[{"type":"function","function":{}}],"messages":[]}`, false},
		{"plain text and Claude", `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"x"}]}`, true},
		{"plain text and Claude by OpenRouter", `{"model":"anthropic/claude-sonnet-4.5","messages":[{"role":"user","content":"x"}]}`, false},
		{"plain text", `[{"role":"user","content":"x"}]`, false},
		{"broken JSON", `{"messages":`, false},
		{"nothing", ``, false},
	} {
		want := conversation.FormatOpenAIChat
		if c.anthropic {
			want = conversation.FormatAnthropicMessages
		}
		if got := conversation.DetectFormat(c.json); got != want {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

func TestReadObjectSaysWhereTheFaultIs(t *testing.T) {
	members, err := conversation.ReadObject(` {"a": [1, {"b":2}], "é": "x\ud800"} `, 0)
	if err != nil || len(members) != 2 || members[0].Value != `[1, {"b":2}]` || members[1].Key != "é" || members[1].At.Start != 27 {
		t.Fatalf("%+v, %v", members, err)
	}
	for text, offset := range map[string]int{
		`{"a":}`: 5, `{"a":1`: 6, `[]`: 0, `{"a":1}x`: 7, "{\"a\":\"\xff\"}": 6, `{"a":"\u12"}`: 6, ``: 0, `{"a":[[[[1]]]]}`: 7,
	} {
		_, err := conversation.ReadObject(text, 3)
		var fault *conversation.Error
		if !errors.As(err, &fault) || fault.Offset != offset {
			t.Errorf("%q: %v, want an error at byte %d", text, err, offset)
		}
	}
}

func TestLoneSurrogateFindsTheEscape(t *testing.T) {
	for text, want := range map[string]int{
		`{"a":"x\ud800"}`: 7, `{"a":"\ud83d\ude00"}`: -1, `["\udc00"`: 2, `{}`: -1, ``: -1, `"\\ud800"`: -1,
	} {
		if got := conversation.LoneSurrogate(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
