package openai

import (
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens/provider/wire"
)

// render writes the request body.
func render(c *conversation.Conversation, model string, losses *wire.Losses) []byte {
	w := &writer{losses: losses, calls: wire.ReadCalls(c)}
	w.json.Object(func() {
		w.json.Field("model", model)
		w.json.Key("input").List(func() {
			if c.System != nil {
				w.message(c.System, -1)
			}
			for i := range c.Messages {
				w.message(&c.Messages[i], i)
			}
		})
		if len(c.Tools) > 0 {
			w.json.Key("tools").List(func() { w.tools(c) })
		}
		if c.Format == conversation.FormatOpenAIChat {
			w.options(c)
			return
		}
		wire.ForeignOptions(c, losses)
	})
	return w.json.Bytes()
}

type writer struct {
	json   wire.JSON
	losses *wire.Losses
	calls  wire.Calls
}

// message writes a message as items: its calls and results are items of their own.
func (w *writer) message(m *conversation.Message, index int) {
	if m.Name != "" && m.Role != conversation.RoleTool {
		w.losses.Add(index, "names of speakers are left out")
	}
	role := m.Role.String()
	switch m.Role {
	case conversation.RoleSystem:
		if m.RawRole == "developer" {
			role = "developer"
		}
	case conversation.RoleOther:
		w.losses.Add(index, "messages of an unknown role are counted as the user's")
		role = "user"
	case conversation.RoleTool: // what is no result in it
		role = "user"
	}
	var said []wire.Part
	flush := func() {
		if len(said) > 0 {
			w.said(role, said)
		}
		said = nil
	}
	for i := range m.Blocks {
		p := wire.Part{Block: &m.Blocks[i], Message: index}
		switch p.Kind {
		case conversation.KindToolUse:
			flush()
			w.call(p)
		case conversation.KindToolResult:
			flush()
			w.result(p)
		case conversation.KindThinking, conversation.KindRedactedThinking:
			w.losses.Add(index, "reasoning is left out")
		default:
			said = append(said, p)
		}
	}
	flush()
}

// said writes what a message says itself.
func (w *writer) said(role string, parts []wire.Part) {
	content, ok := w.json.Detached(func() {
		for _, p := range parts {
			w.part(p, role == "assistant")
		}
	})
	if !ok { // every part was left out
		return
	}
	w.json.Object(func() {
		w.json.Field("type", "message")
		w.json.Field("role", role)
		w.json.Key("content").Raw(content)
	})
}

func (w *writer) part(p wire.Part, assistant bool) {
	switch p.Kind {
	case conversation.KindText, conversation.KindCompaction:
		w.text(p.Text, assistant)
	case conversation.KindRefusal:
		if !assistant {
			w.text(p.Text, assistant)
			return
		}
		w.json.Object(func() {
			w.json.Field("type", "refusal")
			w.json.Field("refusal", p.Text)
		})
	case conversation.KindMedia:
		if assistant {
			w.losses.Add(p.Message, "media of the assistant are left out")
			return
		}
		w.media(p)
	case conversation.KindToolUse, conversation.KindToolResult, conversation.KindThinking, conversation.KindRedactedThinking:
		w.losses.Add(p.Message, "calls, results and reasoning inside results are left out")
	default:
		w.losses.Add(p.Message, "blocks of unknown types are counted as their JSON text")
		w.text(p.Raw, assistant)
	}
}

func (w *writer) text(text string, assistant bool) {
	word := "input_text"
	if assistant {
		word = "output_text"
	}
	w.json.Object(func() {
		w.json.Field("type", word)
		w.json.Field("text", text)
	})
}

func (w *writer) call(p wire.Part) {
	w.json.Object(func() {
		if w.calls.Custom(p.Block) {
			w.json.Field("type", "custom_tool_call")
			w.json.Field("call_id", w.calls.ID(p.Block))
			w.json.Field("name", p.Name)
			w.json.Field("input", p.Input)
			return
		}
		w.json.Field("type", "function_call")
		w.json.Field("call_id", w.calls.ID(p.Block))
		w.json.Field("name", p.Name)
		w.json.Field("arguments", p.Input)
	})
}

func (w *writer) result(p wire.Part) {
	id := w.calls.ID(p.Block)
	w.json.Object(func() {
		if w.calls.Custom(p.Block) {
			w.json.Field("type", "custom_tool_call_output")
		} else {
			w.json.Field("type", "function_call_output")
		}
		w.json.Field("call_id", id)
		w.json.Key("output")
		if len(p.Result) == 0 || p.ResultIsText() && len(p.Result) == 1 {
			w.json.String(p.ResultText())
			return
		}
		w.json.List(func() {
			for i := range p.Result {
				w.part(wire.Part{Block: &p.Result[i], Message: p.Message}, false)
			}
		})
	})
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
		w.text(text, false)
	case m.Kind == conversation.MediaAudio || m.Kind == conversation.MediaVideo:
		w.losses.Add(p.Message, "audio and video are left out")
	case data == "" && m.URI == "":
		w.losses.Add(p.Message, "media without data are left out")
	case m.Kind == conversation.MediaImage:
		w.json.Object(func() {
			w.json.Field("type", "input_image")
			detail := m.Detail
			if detail == "" {
				detail = "auto"
			}
			w.json.Field("detail", detail)
			w.source(m, data, "image_url", "image_url")
		})
	default:
		w.json.Object(func() {
			w.json.Field("type", "input_file")
			if data != "" {
				name := m.Filename
				if name == "" {
					name = "document.pdf" // inline data need some name
				}
				w.json.Field("filename", name)
			}
			w.source(m, data, "file_data", "file_url")
		})
	}
}

// source writes where media come from: inline data, an address, or the id of an uploaded file.
func (w *writer) source(m *conversation.Media, data, dataKey, addressKey string) {
	switch {
	case data != "":
		w.json.Field(dataKey, "data:"+m.MIMEType+";base64,"+data)
	case wire.IsWebAddress(m.URI):
		w.json.Field(addressKey, m.URI)
	default:
		w.json.Field("file_id", m.URI)
	}
}
