package simulator

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// hasher fingerprints the parts of a conversation.
type hasher struct {
	c *conversation.Conversation
	// cuts are the places of all marks, in order: they are no part of what is hashed.
	cuts []conversation.Span
	h    hash.Hash
}

func newHasher(c *conversation.Conversation, cuts []conversation.Span) *hasher {
	return &hasher{c: c, cuts: cuts, h: sha256.New()}
}

// bytes is a part of the source without the marks in it, as the pieces between them.
func (h *hasher) bytes(span conversation.Span) string {
	return without(h.c, h.cuts, span)
}

// without returns a part of the source without the marks in it.
func without(c *conversation.Conversation, cuts []conversation.Span, span conversation.Span) string {
	from, _ := slices.BinarySearchFunc(cuts, span.Start, func(s conversation.Span, at int) int { return s.Start - at })
	if from == len(cuts) || cuts[from].Start >= span.End {
		return c.Raw(span)
	}
	var sb strings.Builder
	at := span.Start
	for _, cut := range cuts[from:] {
		if cut.Start >= span.End {
			break
		}
		if cut.Start < at { // inside the one before
			continue
		}
		sb.WriteString(c.Source[at:cut.Start])
		at = cut.End
	}
	sb.WriteString(c.Source[min(at, span.End):span.End])
	return sb.String()
}

// write adds a field: its length and its text, so that two fields never read as one.
func (h *hasher) write(s string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
	h.h.Write(n[:])
	h.h.Write([]byte(s))
}

func (h *hasher) sum() (out Hash) {
	h.h.Sum(out[:0])
	h.h.Reset()
	return out
}

func (h *hasher) tool(t *conversation.Tool) Hash {
	h.write("tool")
	if h.c.Format == conversation.FormatTyped {
		h.write(t.Name)
		h.write(t.Description)
		h.write(t.Schema)
	} else {
		h.write(h.bytes(t.Span))
	}
	return h.sum()
}

// block fingerprints a block with the role of its message. Where one message ends and the next begins is part of the
// prompt in OpenAI's form; Anthropic joins neighbours of one role.
func (h *hasher) block(m *conversation.Message, b *conversation.Block, first bool) Hash {
	h.write(m.Role.String())
	if first && h.c.Format != conversation.FormatAnthropicMessages {
		h.write("message")
		h.write(m.Name)
	}
	h.content(b)
	return h.sum()
}

// content writes what a block says.
func (h *hasher) content(b *conversation.Block) {
	switch {
	case b.Kind == conversation.KindText && (h.c.Format == conversation.FormatTyped || plainText(h.c, b)):
		h.write("text")
		h.write(b.Text)
	case b.Kind == conversation.KindToolResult:
		h.result(b)
	case h.c.Format == conversation.FormatTyped:
		h.typed(b)
	default:
		h.write("raw")
		h.write(siteWord(b.Site))
		h.write(h.bytes(b.Span))
	}
}

// plainText reports whether a text block says nothing but its text.
func plainText(c *conversation.Conversation, b *conversation.Block) bool {
	raw := c.Raw(b.Span)
	if raw == "" || raw[0] == '"' {
		return true
	}
	members, ok := conversation.Members(raw)
	if !ok {
		return false
	}
	for i := range members {
		switch members[i].Key {
		case "type", "text", "cache_control", "prompt_cache_breakpoint":
		default:
			return false
		}
	}
	return true
}

func siteWord(s conversation.Site) string {
	return string(rune('a' + int(s)))
}

// result writes a tool result: its own members, and its content as a list whether it is one or not.
func (h *hasher) result(b *conversation.Block) {
	h.write("result")
	h.write(b.ID)
	if b.IsError {
		h.write("error")
	}
	if b.ResultShape == conversation.ShapeOther || b.ResultShape == conversation.ShapeNull {
		h.write(h.bytes(b.ResultSpan))
		return
	}
	for i := range b.Result {
		h.content(&b.Result[i])
	}
}

// typed writes a block that has no bytes of its own.
func (h *hasher) typed(b *conversation.Block) {
	h.write("typed")
	h.write(siteWord(conversation.Site(b.Kind)))
	for _, s := range []string{b.Text, b.ID, b.Name, b.Input, b.Raw} {
		h.write(s)
	}
	if m := b.Media; m != nil {
		h.write(m.MIMEType)
		h.write(m.URI)
		h.write(m.Data)
		h.write(string(m.Bytes))
	}
}

// chain returns the key of the prefix that ends with each block.
func (p *Prompt) chain(rules *Rules, scope string) []Hash {
	if scope == "" && p.keys != nil {
		return p.keys
	}
	h := hasher{h: sha256.New()}
	h.write(rules.Layout.String())
	h.write(p.Model)
	h.write(scope)
	if rules.AllParams {
		for t := range tiers {
			h.write(p.Params.salt(t, rules))
		}
	}
	key := h.sum()
	keys := make([]Hash, len(p.Blocks))
	tier := Tier(-1)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		for !rules.AllParams && tier < b.Tier {
			tier++
			h.h.Write(key[:])
			h.write(p.Params.salt(tier, rules))
			key = h.sum()
		}
		h.h.Write(key[:])
		h.h.Write(b.Hash[:])
		key = h.sum()
		keys[i] = key
	}
	return keys
}

// positions counts the places of the look-back window.
func (p *Prompt) positions(rules *Rules) []int {
	out := make([]int, len(p.Blocks))
	at := -1
	for i := range p.Blocks {
		kind := p.Blocks[i].Kind
		run := rules.Collapse && i > 0 && p.Blocks[i-1].Kind == kind && p.Blocks[i].source.block != nil &&
			(kind == conversation.KindToolUse || kind == conversation.KindToolResult)
		if !run {
			at++
		}
		out[i] = at
	}
	return out
}
