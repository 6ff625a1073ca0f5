package conversation

import "strings"

// DetectFormat guesses the native format of a request body or a bare array of
// messages. What only one of the two has decides: the body's own fields, else the
// first message that says. Where nothing does, as in plain text, the model's name
// does, and what is left is taken for OpenAI's, which the most programs write. JSON
// that cannot be read says nothing.
func DetectFormat(json string) Format {
	list, model := strings.TrimSpace(json), ""
	if !strings.HasPrefix(list, "[") {
		body, _ := Members(list)
		list = ""
		for _, m := range body {
			switch m.Key {
			case "system":
				return FormatAnthropicMessages
			case "tools":
				if format, decided := formatOfTools(m.Value); decided {
					return format
				}
			case "messages":
				list = m.Value
			case "model":
				model = m.Text
			}
		}
	}
	messages, _ := Elements(list)
	for _, m := range messages {
		if format, decided := formatOfMessage(m.Value); decided {
			return format
		}
	}
	if strings.HasPrefix(model, "claude") {
		return FormatAnthropicMessages
	}
	return FormatOpenAIChat
}

func formatOfTools(json string) (format Format, decided bool) {
	tools, _ := Elements(json)
	for _, tool := range tools {
		fields, _ := Members(tool.Value)
		for _, f := range fields {
			switch f.Key {
			case "input_schema":
				return FormatAnthropicMessages, true
			case "function":
				return FormatOpenAIChat, true
			}
		}
	}
	return FormatOpenAIChat, false
}

func formatOfMessage(json string) (format Format, decided bool) {
	fields, _ := Members(json)
	for _, f := range fields {
		switch f.Key {
		case "tool_calls", "tool_call_id":
			return FormatOpenAIChat, true
		case "role":
			switch f.Text {
			case "system", "developer", "tool", "function":
				return FormatOpenAIChat, true
			}
		case "content":
			if format, decided := formatOfContent(f.Value); decided {
				return format, true
			}
		}
	}
	return FormatOpenAIChat, false
}

func formatOfContent(json string) (format Format, decided bool) {
	blocks, _ := Elements(json)
	for _, b := range blocks {
		fields, _ := Members(b.Value)
		for _, f := range fields {
			if f.Key != "type" {
				continue
			}
			switch f.Text {
			case "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document":
				return FormatAnthropicMessages, true
			case "image_url", "input_audio", "file", "refusal":
				return FormatOpenAIChat, true
			}
		}
	}
	return FormatOpenAIChat, false
}
