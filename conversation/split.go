package conversation

import "unicode/utf8"

// splits reports whether an edit makes two blocks of a text block of a content
// list.
func (c *Conversation) splits(b *Block, e *BlockEdit) bool {
	return e.splits(b.Text) && b.Kind == KindText && b.Site == SiteContent && !c.isBareString(b)
}

// splits reports whether the edit splits a text, whose bytes then stay.
func (e *BlockEdit) splits(text string) bool {
	return e.Split > 0 && e.Split < len(text) && e.Text == nil
}

// splitsString reports whether an edit makes two blocks of string content.
func (m *Message) splitsString(e *MessageEdit, block int) bool {
	be := e.blocks[block]
	return be != nil && m.Shape == ShapeString && m.Blocks[block].Site == SiteContent && len(e.Results) == 0 && e.Append == "" && be.splits(m.Blocks[block].Text)
}

// restJSON writes the second half of a block that is split.
func (c *Conversation) restJSON(b *Block, e *BlockEdit) string {
	literal := c.Raw(b.TextSpan)
	return `{"type":"text","text":"` + literal[LiteralOffset(literal, e.Split):] + e.RestMark.suffix() + "}"
}

// splitBlock is the domain view of the two halves. b has been edited already.
func (c *Conversation) splitBlock(b Block, e *BlockEdit) (first, rest Block) {
	first = b
	first.Type, first.Text = "text", b.Text[:e.Split]
	rest = Block{Kind: KindText, Type: "text", Text: b.Text[e.Split:], Mark: e.RestMark.apply(nil)}
	if c.Format == FormatTyped {
		first.Type, rest.Type = b.Type, b.Type
	}
	return first, rest
}

// LiteralOffset finds the place in a JSON string literal before which the first
// decoded bytes of its value stand.
func LiteralOffset(literal string, decoded int) int {
	at := 1
	for at < len(literal)-1 && decoded > 0 {
		if literal[at] != '\\' {
			at++
			decoded--
			continue
		}
		if literal[at+1] != 'u' { // all others are one byte
			at += 2
			decoded--
			continue
		}
		r, width := escapedRune(literal[at:])
		at += width
		decoded -= utf8.RuneLen(r)
	}
	return at
}
