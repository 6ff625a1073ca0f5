package simulator

import (
	"slices"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// found is a mark of a conversation and what it stands on.
type found struct {
	at  breakpoints.Position
	ttl time.Duration
	// unknown is a ttl that no provider knows, empty otherwise.
	unknown string
	// tool is the tool's index, -1 elsewhere; block the block, nil elsewhere.
	tool  int
	block *conversation.Block
	// nested is set deeper inside than the place named, part inside a tool result, message on the message object, request on
	// the request as a whole.
	nested, part, message, request bool
	wire                           conversation.MarkWire
}

// findMarks lists every mark of a conversation, in prompt order, the request's own last.
func findMarks(c *conversation.Conversation) []found {
	var out []found
	add := func(m *conversation.Mark, f found) {
		if m != nil {
			f.ttl, f.wire = TTL5m, m.Wire
			switch m.TTL {
			case "", "5m":
			case "1h":
				f.ttl = TTL1h
			default:
				f.unknown = m.TTL
			}
			out = append(out, f)
		}
	}
	for i := range c.Tools {
		at := breakpoints.Position{Section: conversation.SectionTools, Message: i, Block: -1}
		add(c.Tools[i].Mark, found{at: at, tool: i})
		for _, m := range c.Tools[i].Strays {
			add(m, found{at: at, tool: i, nested: true})
		}
	}
	if c.System != nil {
		for i := range c.System.Blocks {
			b := &c.System.Blocks[i]
			add(b.Mark, found{at: breakpoints.Position{Section: conversation.SectionSystem, Block: i}, tool: -1, block: b})
		}
		for _, m := range c.System.Strays {
			add(m, found{at: breakpoints.Position{Section: conversation.SectionSystem, Block: -1}, tool: -1, nested: true})
		}
	}
	for i := range c.Messages {
		msg := &c.Messages[i]
		for j := range msg.Blocks {
			b := &msg.Blocks[j]
			at := positionOf(i, j, msg)
			for k := range b.Result {
				add(b.Result[k].Mark, found{at: at, tool: -1, block: b, part: true})
			}
			add(b.Mark, found{at: at, tool: -1, block: b})
		}
		whole := breakpoints.Position{Section: conversation.SectionMessages, Message: i, Block: -1}
		for _, m := range msg.Strays {
			add(m, found{at: whole, tool: -1, nested: true})
		}
		if len(msg.Blocks) > 0 {
			add(msg.Mark, found{at: whole, tool: -1, block: &msg.Blocks[len(msg.Blocks)-1], message: true})
		}
	}
	add(c.AutoMark, found{at: breakpoints.Position{Section: conversation.SectionMessages, Message: -1, Block: -1}, tool: -1, request: true})
	return out
}

// markSpans lists the places of all marks in the source, in order.
func markSpans(c *conversation.Conversation) []conversation.Span {
	var out []conversation.Span
	add := func(marks ...*conversation.Mark) {
		for _, m := range marks {
			if m != nil && m.Member.Len() > 0 {
				out = append(out, m.Member)
			}
		}
	}
	for i := range c.Tools {
		add(c.Tools[i].Mark)
		add(c.Tools[i].Strays...)
	}
	message := func(m *conversation.Message) {
		for i := range m.Blocks {
			add(m.Blocks[i].Mark)
			for k := range m.Blocks[i].Result {
				add(m.Blocks[i].Result[k].Mark)
			}
		}
		add(m.Mark)
		add(m.Strays...)
	}
	if c.System != nil {
		message(c.System)
	}
	for i := range c.Messages {
		message(&c.Messages[i])
	}
	slices.SortFunc(out, func(a, b conversation.Span) int { return a.Start - b.Start })
	return out
}

// refused says why a block of a message cannot carry a mark, empty if it can.
func refused(b *conversation.Block, programmatic bool) string {
	switch {
	case b.Kind == conversation.KindThinking || b.Kind == conversation.KindRedactedThinking:
		return "thinking may not be marked"
	case b.Kind == conversation.KindText && conversation.Blank(b.Text):
		return "empty text may not be marked"
	case programmatic:
		return "a call made by code execution, or its result, may not be marked"
	default:
		return ""
	}
}

// hidden reports whether the caller's form has no place for a mark on a block.
func hidden(c *conversation.Conversation, m *conversation.Message, b *conversation.Block) bool {
	switch {
	case c.Format != conversation.FormatOpenAIChat:
		return false
	case m.RawRole == "function": // its content must stay a string
		return true
	case b.Kind == conversation.KindToolResult:
		for i := range b.Result {
			if b.Result[i].HasText() {
				return false
			}
		}
		return true
	default:
		return b.Site != conversation.SiteContent || !b.HasText()
	}
}

func refusedSystem(b *conversation.Block) string { return refused(b, false) }

// programmaticBlocks finds the calls made by code execution and their results.
func programmaticBlocks(c *conversation.Conversation) map[*conversation.Block]bool {
	out := make(map[*conversation.Block]bool)
	calls := make(map[string]bool)
	for i := range c.Messages {
		for j := range c.Messages[i].Blocks {
			b := &c.Messages[i].Blocks[j]
			switch b.Kind {
			case conversation.KindToolUse, conversation.KindServerToolUse:
				if b.Programmatic {
					calls[b.ID] = true
					out[b] = true
				} else {
					delete(calls, b.ID)
				}
			case conversation.KindToolResult, conversation.KindServerToolResult:
				if b.Programmatic || calls[b.ID] {
					out[b] = true
				}
			}
		}
	}
	return out
}
