package conformance

import "testing"

func TestTheNewestRequestIsTheLastThatSaysSomething(t *testing.T) {
	const asked = `{"role":"user","content":"Go on."},{"role":"assistant","content":"I go."},`
	tests := []struct {
		name    string
		dialect Dialect
		last    string
		want    int
	}{
		{"a text", Anthropic, `{"role":"user","content":"Stop."}`, 2},
		{"a blank text", Anthropic, `{"role":"user","content":" "}`, 0},
		{"a picture", Anthropic, `{"role":"user","content":[{"type":"image"}]}`, 2},
		{"a block that nobody knows", Anthropic, `{"role":"user","content":[{"type":"weird"}]}`, 2},
		{"a result", Anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}`, 0},
		{"a result beside a text", Anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"},{"type":"text","text":"Stop."}]}`, 2},
		{"a server tool's result", Anthropic, `{"role":"user","content":[{"type":"web_search_tool_result","tool_use_id":"c","content":[]}]}`, 0},
		{"a call", Anthropic, `{"role":"user","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}`, 0},
		{"a result of the typed form", Typed, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[]}]}`, 0},
		{"a result as OpenAI has none", OpenAI, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}`, 2},
		{"thinking as OpenAI has none", OpenAI, `{"role":"user","content":[{"type":"thinking","thinking":"hm"}]}`, 0},
		{"a result of OpenAI", OpenAI, `{"role":"tool","tool_call_id":"c","content":"r"}`, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := mustRead(t, test.dialect, `{"messages":[`+asked+test.last+`]}`)
			if got := in.newestRequest(nil); got != test.want {
				t.Errorf("message %d, want %d", got, test.want)
			}
		})
	}
	if got := mustRead(t, OpenAI, `[{"role":"user","content":"Go on."},{"role":"user","content":"[SUMMARY]"}]`).newestRequest([]int{1}); got != 0 {
		t.Errorf("message %d is the newest request, want 0: the other is a summary", got)
	}
}
