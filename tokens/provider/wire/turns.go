package wire

import (
	"encoding/base64"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// Part is a block and the index of its message, -1 for the system prompt beside the list.
type Part struct {
	*conversation.Block
	Message int
}

// Turn is what one side says before the other does.
type Turn struct {
	Assistant bool
	Parts     []Part
}

// Turns is a conversation the way Anthropic and Gemini take it: the system text apart, and two sides that alternate.
// Tool results are the user's.
type Turns struct {
	System []Part
	Turns  []Turn
}

// Split brings a conversation into that form and notes what it changes by that.
func Split(c *conversation.Conversation, losses *Losses) Turns {
	var out Turns
	if c.System != nil {
		out.System = appendParts(out.System, c.System, -1)
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Name != "" && m.Role != conversation.RoleTool {
			losses.Add(i, "names of speakers are left out")
		}
		switch m.Role {
		case conversation.RoleSystem:
			if len(out.Turns) > 0 {
				losses.Add(i, "later system messages are counted as part of the system prompt")
			}
			out.System = appendParts(out.System, m, i)
			continue
		case conversation.RoleOther:
			losses.Add(i, "messages of an unknown role are counted as the user's")
		}
		assistant := m.Role == conversation.RoleAssistant
		if n := len(out.Turns); n == 0 || out.Turns[n-1].Assistant != assistant {
			out.Turns = append(out.Turns, Turn{Assistant: assistant})
		}
		turn := &out.Turns[len(out.Turns)-1]
		turn.Parts = appendParts(turn.Parts, m, i)
	}
	return out
}

func appendParts(parts []Part, m *conversation.Message, index int) []Part {
	for i := range m.Blocks {
		parts = append(parts, Part{&m.Blocks[i], index})
	}
	return parts
}

// Base64 returns inline media as base64 text, empty when there is none.
func Base64(m *conversation.Media) string {
	if m.Data == "" && len(m.Bytes) > 0 {
		return base64.StdEncoding.EncodeToString(m.Bytes)
	}
	return m.Data
}

// DocumentText returns the text of a document that is plain text, and whether it is one.
func DocumentText(b *conversation.Block) (string, bool) {
	switch {
	case b.Text != "":
		return b.Text, true
	case !strings.HasPrefix(strings.ToLower(b.Media.MIMEType), "text/"):
		return "", false
	case len(b.Media.Bytes) > 0:
		return string(b.Media.Bytes), true
	}
	text, err := base64.StdEncoding.DecodeString(b.Media.Data)
	return string(text), err == nil && len(text) > 0
}

// IsWebAddress tells addresses from the ids of uploaded files.
func IsWebAddress(uri string) bool {
	return strings.HasPrefix(uri, "https://") || strings.HasPrefix(uri, "http://")
}
