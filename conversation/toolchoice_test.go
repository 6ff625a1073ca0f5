package conversation

import "testing"

func TestToolChoiceIsReadInEveryForm(t *testing.T) {
	for _, c := range []struct {
		format Format
		member string
		want   ToolChoice
	}{
		{FormatOpenAIChat, `"tool_choice":"auto"`, ToolChoice{Mode: ToolsAuto}},
		{FormatOpenAIChat, `"tool_choice":"none"`, ToolChoice{Mode: ToolsNone}},
		{FormatOpenAIChat, `"tool_choice":"required"`, ToolChoice{Mode: ToolsAny}},
		{FormatOpenAIChat, `"tool_choice":{"type":"function","function":{"name":"look","x":[1]}}`, ToolChoice{Mode: ToolsForced, Name: "look"}},
		{FormatOpenAIChat, `"function_call":"auto"`, ToolChoice{Mode: ToolsAuto}},
		{FormatOpenAIChat, `"function_call":{"name":"look"}`, ToolChoice{Mode: ToolsForced, Name: "look"}},
		{FormatOpenAIChat, `"tool_choice":"none","function_call":"auto"`, ToolChoice{Mode: ToolsNone}},
		{FormatAnthropicMessages, `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`, ToolChoice{Mode: ToolsAuto}},
		{FormatAnthropicMessages, `"tool_choice":{"type":"any"}`, ToolChoice{Mode: ToolsAny}},
		{FormatAnthropicMessages, `"tool_choice":{"type":"none"}`, ToolChoice{Mode: ToolsNone}},
		{FormatAnthropicMessages, `"tool_choice":{"name":"look","type":"tool"}`, ToolChoice{Mode: ToolsForced, Name: "look"}},
		{FormatAnthropicMessages, `"function_call":"auto"`, ToolChoice{}},
		{FormatOpenAIChat, `"tool_choice":null`, ToolChoice{}},
		{FormatOpenAIChat, `"tool_choice":7`, ToolChoice{}},
		{FormatOpenAIChat, `"tool_choice":["auto"]`, ToolChoice{}},
		{FormatOpenAIChat, `"tool_choice":"whatever"`, ToolChoice{}},
		{FormatOpenAIChat, `"tool_choice":{"type":{"a":1},"function":"look"}`, ToolChoice{}},
	} {
		for _, body := range []string{`{` + c.member + `,"messages":[]}`, `{"messages":[],` + c.member + `}`} {
			conv, err := Parse(c.format, body, Limits{})
			if err != nil {
				t.Errorf("%s: %v", body, err)
				continue
			}
			if conv.ToolChoice != c.want {
				t.Errorf("%s: %+v, want %+v", body, conv.ToolChoice, c.want)
			}
		}
	}
}
