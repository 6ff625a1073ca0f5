package wire

import (
	"github.com/elbowroom/elbowroom/conversation"
)

// Schema returns a tool's parameter schema as a JSON object. A tool without one takes no arguments.
func Schema(schema string, losses *Losses) string {
	const none = `{"type":"object","properties":{}}`
	switch {
	case schema == "":
		return none
	case !IsObject(schema):
		losses.Add(-1, "parameter schemas that are no JSON objects are left out")
		return none
	default:
		return schema
	}
}

// Arguments returns a call's arguments as a JSON object.
func Arguments(p Part, losses *Losses) string {
	switch {
	case conversation.Blank(p.Input):
		return "{}"
	case !IsObject(p.Input):
		losses.Add(p.Message, "arguments that are no JSON objects are counted as one string")
		return `{"arguments":` + conversation.Quote(p.Input) + `}`
	default:
		return p.Input
	}
}

// ForeignOptions notes the members of a native body that cost tokens and have no counterpart in the format of the provider
// that is asked.
func ForeignOptions(c *conversation.Conversation, losses *Losses) {
	if c.Bare || c.Format == conversation.FormatTyped {
		return
	}
	members, _ := conversation.Members(c.Source)
	for _, m := range members {
		switch m.Key {
		case "tool_choice", "response_format", "output_config", "output_format", "mcp_servers", "container":
			if m.Value != "null" && !isDefault(m) {
				losses.Add(-1, m.Key+" is left out")
			}
		}
	}
}

// isDefault reports whether an option says what the provider does without it.
func isDefault(m conversation.Member) bool {
	word := m.Text
	fields, _ := conversation.Members(m.Value)
	for _, f := range fields {
		if f.Key == "type" {
			word = f.Text
		}
	}
	return word == "auto" || word == "text"
}
