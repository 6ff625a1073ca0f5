package openai

import (
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens/provider/wire"
)

func (w *writer) tools(c *conversation.Conversation) {
	for _, t := range c.Tools {
		switch {
		case wire.IsFunction(t, c.Format):
			w.function(t)
		case t.Type == "custom":
			if member(member(t.Raw, "custom"), "format") != "" {
				w.losses.Add(-1, "formats of custom tools are left out")
			}
			w.json.Object(func() {
				w.json.Field("type", "custom")
				w.nameAndDescription(t)
			})
		default:
			w.losses.Add(-1, "tools that are neither functions nor custom ones are left out")
		}
	}
}

func (w *writer) function(t conversation.Tool) {
	w.json.Object(func() {
		w.json.Field("type", "function")
		w.nameAndDescription(t)
		w.json.Key("parameters").Raw(wire.Schema(t.Schema, w.losses))
		// The Responses API takes functions for strict ones unless told otherwise, chat completions the other way round.
		if member(member(t.Raw, "function"), "strict") == "true" {
			w.json.Key("strict").Raw("true")
		} else {
			w.json.Key("strict").Raw("false")
		}
	})
}

func (w *writer) nameAndDescription(t conversation.Tool) {
	w.json.Field("name", t.Name)
	if t.Description != "" {
		w.json.Field("description", t.Description)
	}
}

// options writes what else of a chat completions body costs tokens.
func (w *writer) options(c *conversation.Conversation) {
	if c.Bare {
		return
	}
	if choice := member(c.Source, "tool_choice"); choice != "" {
		w.toolChoice(choice)
	}
	if format := member(c.Source, "response_format"); format != "" {
		w.responseFormat(format)
	}
}

func (w *writer) toolChoice(choice string) {
	function := member(choice, "function")
	switch {
	case choice[0] == '"':
		w.json.Key("tool_choice").Raw(choice)
	case member(function, "name") != "":
		w.json.Key("tool_choice").Object(func() {
			w.json.Field("type", "function")
			w.json.Key("name").Raw(member(function, "name"))
		})
	default:
		w.losses.Add(-1, "tool_choice is left out")
	}
}

// responseFormat writes a response_format, whose schema the model is shown.
func (w *writer) responseFormat(format string) {
	schema := member(format, "json_schema")
	members, ok := conversation.Members(schema)
	if !ok {
		if kind := member(format, "type"); kind != `"text"` && kind != "" {
			w.json.Key("text").Object(func() {
				w.json.Key("format").Object(func() { w.json.Key("type").Raw(kind) })
			})
		}
		return
	}
	w.json.Key("text").Object(func() {
		w.json.Key("format").Object(func() {
			w.json.Field("type", "json_schema")
			for _, m := range members {
				switch m.Key {
				case "name", "schema", "strict", "description":
					w.json.Key(m.Key).Raw(m.Value)
				}
			}
		})
	})
}

// member returns the value of an object's member as JSON text, empty when there is none or it is null. The last one counts.
func member(object, key string) string {
	value := ""
	members, _ := conversation.Members(object)
	for _, m := range members {
		if m.Key == key {
			value = m.Value
		}
	}
	if value == "null" {
		return ""
	}
	return value
}
