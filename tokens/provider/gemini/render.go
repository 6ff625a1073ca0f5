package gemini

import (
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens/provider/wire"
)

// render writes the request that would generate content.
func render(c *conversation.Conversation, model string, losses *wire.Losses) []byte {
	w := &writer{losses: losses, calls: wire.ReadCalls(c)}
	split := wire.Split(c, losses)
	w.json.Object(func() {
		w.json.Field("model", "models/"+model)
		if len(split.System) > 0 {
			w.json.Key("systemInstruction").Object(func() { w.json.Key("parts").List(func() { w.system(split.System) }) })
		}
		w.json.Key("contents").List(func() {
			for _, turn := range split.Turns {
				w.turn(turn)
			}
		})
		if len(c.Tools) > 0 {
			w.json.Key("tools").List(func() {
				w.json.Object(func() { w.json.Key("functionDeclarations").List(func() { w.tools(c) }) })
			})
		}
	})
	wire.ForeignOptions(c, losses)
	return w.json.Bytes()
}

type writer struct {
	json   wire.JSON
	losses *wire.Losses
	calls  wire.Calls
}

func (w *writer) system(parts []wire.Part) {
	for _, p := range parts {
		if p.Kind != conversation.KindText {
			w.losses.Add(p.Message, "parts of system messages that are no text are left out")
			continue
		}
		w.text(p.Text)
	}
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
			w.json.Key("parametersJsonSchema").Raw(wire.Schema(t.Schema, w.losses))
		})
	}
}

func (w *writer) turn(turn wire.Turn) {
	role := "user"
	if turn.Assistant {
		role = "model"
	}
	parts, ok := w.json.Detached(func() {
		for _, p := range turn.Parts {
			w.part(p)
		}
	})
	if !ok { // every part was left out
		return
	}
	w.json.Object(func() {
		w.json.Field("role", role)
		w.json.Key("parts").Raw(parts)
	})
}

func (w *writer) part(p wire.Part) {
	switch p.Kind {
	case conversation.KindText, conversation.KindRefusal, conversation.KindCompaction:
		w.text(p.Text)
	case conversation.KindToolUse:
		w.json.Object(func() {
			w.json.Key("functionCall").Object(func() {
				w.json.Field("name", p.Name)
				w.json.Key("args").Raw(wire.Arguments(p, w.losses))
			})
		})
	case conversation.KindToolResult:
		w.result(p)
	case conversation.KindMedia:
		w.media(p)
	case conversation.KindThinking, conversation.KindRedactedThinking:
		w.losses.Add(p.Message, "reasoning is left out")
	default:
		w.losses.Add(p.Message, "blocks of unknown types are counted as their JSON text")
		w.text(p.Raw)
	}
}

func (w *writer) text(text string) {
	w.json.Object(func() { w.json.Field("text", text) })
}

// result writes a result, and what of it is no text as parts after it.
func (w *writer) result(p wire.Part) {
	name := w.calls.Name(p.Block) // results are paired by name here
	if name == "" {
		w.losses.Add(p.Message, "results without a call are counted under a made-up name")
		name = "unknown"
	}
	key := "output"
	if p.IsError {
		key = "error"
	}
	w.json.Object(func() {
		w.json.Key("functionResponse").Object(func() {
			w.json.Field("name", name)
			w.json.Key("response").Object(func() { w.json.Field(key, p.ResultText()) })
		})
	})
	for i := range p.Result {
		if inner := (wire.Part{Block: &p.Result[i], Message: p.Message}); inner.Kind != conversation.KindText {
			w.losses.Add(p.Message, "parts of results that are no text are counted beside the result")
			w.part(inner)
		}
	}
}

func (w *writer) media(p wire.Part) {
	m := p.Media
	data := wire.Base64(m)
	text, isText := "", false
	if m.Kind == conversation.MediaDocument || m.Kind == conversation.MediaFile {
		text, isText = wire.DocumentText(p.Block)
	}
	switch {
	case isText:
		w.losses.Add(p.Message, "text documents are counted as text")
		w.text(text)
	case data != "":
		w.json.Object(func() {
			w.json.Key("inlineData").Object(func() {
				w.json.Field("mimeType", m.MIMEType)
				w.json.Field("data", data)
			})
		})
	case m.URI != "":
		w.json.Object(func() {
			w.json.Key("fileData").Object(func() {
				if m.MIMEType != "" {
					w.json.Field("mimeType", m.MIMEType)
				}
				w.json.Field("fileUri", m.URI)
			})
		})
	default:
		w.losses.Add(p.Message, "media without data are left out")
	}
}
