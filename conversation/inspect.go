package conversation

import (
	"strings"
	"unicode"
)

// HasText reports whether the block is text that holds more than white space.
func (b *Block) HasText() bool { return b.Kind == KindText && !Blank(b.Text) }

// Blank reports whether s is empty or white space only.
func Blank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

// ResultText joins the text of a tool result, block by block, with newlines.
// Media and opaque parts are not text and are left out.
func (b *Block) ResultText() string {
	return joinText(b.Result)
}

// ResultIsText reports whether a tool result consists of text alone, so that
// replacing its text loses no other part.
func (b *Block) ResultIsText() bool {
	for i := range b.Result {
		if b.Result[i].Kind != KindText {
			return false
		}
	}
	return len(b.Result) > 0
}

// Text joins the text blocks of a message with newlines.
func (m *Message) Text() string { return joinText(m.Blocks) }

// joinText joins the text of text blocks, without copying when there is only one.
func joinText(blocks []Block) string {
	first, count := "", 0
	var sb strings.Builder
	for i := range blocks {
		if blocks[i].Kind != KindText {
			continue
		}
		if count++; count == 1 {
			first = blocks[i].Text
			continue
		}
		if count == 2 {
			sb.WriteString(first)
		}
		sb.WriteByte('\n')
		sb.WriteString(blocks[i].Text)
	}
	if count < 2 {
		return first
	}
	return sb.String()
}

// Has reports whether the message holds a block of the kind.
func (m *Message) Has(kind BlockKind) bool {
	for i := range m.Blocks {
		if m.Blocks[i].Kind == kind {
			return true
		}
	}
	return false
}

// IsRequest reports whether the message is something a user said: role user,
// with text that is not blank or with media. Messages that only carry tool
// results are the agent's own plumbing.
func (m *Message) IsRequest() bool {
	if m.Role != RoleUser {
		return false
	}
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case KindText:
			if !Blank(b.Text) {
				return true
			}
		case KindMedia, KindOpaque:
			return true
		}
	}
	return false
}

// IsThinking reports whether the block is a thinking or redacted_thinking block
// of the content list, the kind Anthropic signs. Reasoning fields beside the
// content (reasoning_content and its like) are not: they stay whatever happens.
func (b *Block) IsThinking() bool {
	return b.Site == SiteContent && (b.Kind == KindThinking || b.Kind == KindRedactedThinking)
}
