package wire

import "github.com/elbowroom/elbowroom/conversation"

// Calls knows the calls of a conversation, so that a result can be written with what its call is named by.
type Calls struct {
	aliases map[string]string // second ids, from the one to the other
	names   map[string]string // id -> name of the tool
	custom  map[string]bool   // ids of calls whose input is free text (OpenAI's custom tools)
}

// ReadCalls collects the calls of a conversation.
func ReadCalls(c *conversation.Conversation) Calls {
	calls := Calls{aliases: map[string]string{}, names: map[string]string{}, custom: map[string]bool{}}
	for i := range c.Messages {
		for j := range c.Messages[i].Blocks {
			b := &c.Messages[i].Blocks[j]
			if b.Kind != conversation.KindToolUse {
				continue
			}
			if b.ID != "" && b.AltID != "" {
				calls.aliases[b.AltID] = b.ID
			}
			id := calls.ID(b)
			calls.names[id] = b.Name
			if b.Type == "custom" {
				calls.custom[id] = true
			}
		}
	}
	return calls
}

// ID is the one id that pairs a call with its result. Calls of the older form have none and are paired by name.
func (c Calls) ID(b *conversation.Block) string {
	id := b.ID
	if id == "" {
		id = b.AltID
	}
	if first, ok := c.aliases[id]; ok {
		return first
	}
	if id == "" {
		return "call_" + b.Name
	}
	return id
}

// Name is the name of the tool that a call or result belongs to, empty when none is known.
func (c Calls) Name(b *conversation.Block) string {
	if name := c.names[c.ID(b)]; name != "" {
		return name
	}
	return b.Name
}

// Custom reports whether a call or result belongs to a tool with free text as its input.
func (c Calls) Custom(b *conversation.Block) bool { return c.custom[c.ID(b)] }

// IsFunction reports whether a tool is a function with a schema. Anthropic's word for one is "custom"; OpenAI's custom tools
// are something else.
func IsFunction(t conversation.Tool, format conversation.Format) bool {
	return t.Type == "" || t.Type == "function" || t.Type == "custom" && format == conversation.FormatAnthropicMessages
}
