package anthropic

import (
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens/provider/wire"
)

// render writes the request body.
func render(c *conversation.Conversation, model string, losses *wire.Losses) []byte {
	w := &writer{losses: losses, calls: wire.ReadCalls(c)}
	w.json.Object(func() {
		w.json.Field("model", model)
		if c.Format == conversation.FormatAnthropicMessages {
			w.native(c)
			return
		}
		w.conversation(c)
	})
	return w.json.Bytes()
}

type writer struct {
	json   wire.JSON
	losses *wire.Losses
	calls  wire.Calls
}

// native copies what the endpoint takes of a body in Anthropic's own format, byte for byte.
func (w *writer) native(c *conversation.Conversation) {
	if c.Bare {
		w.json.Key("messages").Raw(c.Source)
		return
	}
	// The parser has read the body: it is an object. A key that is there twice counts as its last value.
	members, _ := conversation.Members(c.Source)
	last := make(map[string]int, len(members))
	for i, m := range members {
		last[m.Key] = i
	}
	for i, m := range members {
		switch {
		case last[m.Key] != i || m.Value == "null":
		case isInput(m.Key):
			w.json.Key(m.Key).Raw(m.Value)
		case isBeta(m.Key):
			w.losses.Add(-1, m.Key+" is left out")
		}
	}
}

// isInput reports whether a member of a Messages body is one that the counting endpoint takes and that has a price.
func isInput(key string) bool {
	switch key {
	case "messages", "system", "tools", "tool_choice", "thinking", "output_config":
		return true
	}
	return false
}

// isBeta reports whether a member may cost tokens but needs a beta header, which the request does not carry.
func isBeta(key string) bool {
	switch key {
	case "mcp_servers", "container", "context_management", "output_format":
		return true
	}
	return false
}

// conversation renders what came in another format.
func (w *writer) conversation(c *conversation.Conversation) {
	split := wire.Split(c, w.losses)
	if len(split.System) > 0 {
		w.json.Key("system").List(func() {
			for _, p := range split.System {
				if p.Kind != conversation.KindText {
					w.losses.Add(p.Message, "parts of system messages that are no text are left out")
					continue
				}
				w.text(p, p.Text)
			}
		})
	}
	if len(c.Tools) > 0 {
		w.json.Key("tools").List(func() { w.tools(c) })
	}
	w.json.Key("messages").List(func() {
		for _, turn := range split.Turns {
			w.turn(turn)
		}
	})
	wire.ForeignOptions(c, w.losses)
}

func (w *writer) tools(c *conversation.Conversation) {
	for _, t := range c.Tools {
		if !wire.IsFunction(t, c.Format) {
			w.losses.Add(-1, "tools that are no functions are left out")
			continue
		}
		w.json.Object(func() {
			w.json.Field("name", t.Name)
			if t.Description != "" {
				w.json.Field("description", t.Description)
			}
			w.json.Key("input_schema").Raw(wire.Schema(t.Schema, w.losses))
		})
	}
}

// turn writes one message. The results of calls come first: the API wants them there.
func (w *writer) turn(turn wire.Turn) {
	role := "user"
	if turn.Assistant {
		role = "assistant"
	}
	content, ok := w.json.Detached(func() {
		for _, p := range turn.Parts {
			if p.Kind == conversation.KindToolResult && !turn.Assistant {
				w.result(p)
			}
		}
		for _, p := range turn.Parts {
			if p.Kind != conversation.KindToolResult || turn.Assistant {
				w.part(p, turn.Assistant)
			}
		}
	})
	if !ok { // every part was left out, and the API takes no empty message
		return
	}
	w.json.Object(func() {
		w.json.Field("role", role)
		w.json.Key("content").Raw(content)
	})
}

func (w *writer) part(p wire.Part, assistant bool) {
	switch p.Kind {
	case conversation.KindText, conversation.KindRefusal, conversation.KindCompaction:
		w.text(p, p.Text)
	case conversation.KindToolUse:
		if !assistant {
			w.losses.Add(p.Message, "calls that are not the assistant's are left out")
			return
		}
		w.call(p)
	case conversation.KindToolResult:
		w.losses.Add(p.Message, "results in messages of the assistant or inside other results are left out")
	case conversation.KindMedia:
		w.media(p)
	case conversation.KindThinking, conversation.KindRedactedThinking:
		w.losses.Add(p.Message, "reasoning is left out")
	default:
		w.losses.Add(p.Message, "blocks of unknown types are counted as their JSON text")
		w.text(p, p.Raw)
	}
}

func (w *writer) text(p wire.Part, text string) {
	if conversation.Blank(text) { // the API refuses it
		w.losses.Add(p.Message, "blank texts are left out")
		return
	}
	w.json.Object(func() {
		w.json.Field("type", "text")
		w.json.Field("text", text)
	})
}

func (w *writer) call(p wire.Part) {
	w.json.Object(func() {
		w.json.Field("type", "tool_use")
		w.json.Field("id", toolID(w.calls.ID(p.Block)))
		w.json.Field("name", p.Name)
		w.json.Key("input").Raw(wire.Arguments(p, w.losses))
	})
}

func (w *writer) result(p wire.Part) {
	w.json.Object(func() {
		w.json.Field("type", "tool_result")
		w.json.Field("tool_use_id", toolID(w.calls.ID(p.Block)))
		w.json.Key("content").List(func() {
			for i := range p.Result {
				w.part(wire.Part{Block: &p.Result[i], Message: p.Message}, false)
			}
		})
		if p.IsError {
			w.json.Key("is_error").Raw("true")
		}
	})
}

func (w *writer) media(p wire.Part) {
	m := p.Media
	word := ""
	switch m.Kind {
	case conversation.MediaImage:
		word = "image"
	case conversation.MediaDocument, conversation.MediaFile:
		word = "document"
	default:
		w.losses.Add(p.Message, "audio and video are left out")
		return
	}
	text, isText := "", false
	if word == "document" {
		text, isText = wire.DocumentText(p.Block)
	}
	data := wire.Base64(m)
	if !isText && data == "" && m.URI == "" {
		w.losses.Add(p.Message, "media without data are left out")
		return
	}
	w.json.Object(func() {
		w.json.Field("type", word)
		w.json.Key("source").Object(func() {
			switch {
			case isText:
				w.json.Field("type", "text")
				w.json.Field("media_type", "text/plain")
				w.json.Field("data", text)
			case data != "":
				w.json.Field("type", "base64")
				w.json.Field("media_type", m.MIMEType)
				w.json.Field("data", data)
			case wire.IsWebAddress(m.URI):
				w.json.Field("type", "url")
				w.json.Field("url", m.URI)
			default:
				w.json.Field("type", "file")
				w.json.Field("file_id", m.URI)
			}
		})
	})
}

// toolID is a call's id in the alphabet that the API demands.
func toolID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}
