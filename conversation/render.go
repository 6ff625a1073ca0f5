package conversation

import (
	"math"
	"strings"
)

// messageSplices renders the edits inside one message that stays, inner values
// before the objects and lists that hold them: an insertion at the end of a value
// and one at the end of the object around it may have the same place.
func (c *Conversation) messageSplices(m *Message, e *MessageEdit) []Splice {
	var out []Splice
	if m.isResult() {
		out = c.resultSplices(&m.Blocks[0], e.blocks[0], e.Append)
	} else {
		for _, i := range e.EditedBlocks() {
			if e.blocks[i].Drop || i >= len(m.Blocks) {
				continue
			}
			if b := &m.Blocks[i]; b.Site != SiteContent || m.Shape == ShapeList {
				out = append(out, c.blockSplices(b, e.blocks[i])...)
				if c.splits(b, e.blocks[i]) {
					out = append(out, Splice{b.Span.End, 0, "," + c.restJSON(b, e.blocks[i])})
				}
				if b.Kind == KindToolUse && b.Site != SiteContent && e.blocks[i].Mark.Kind != MarkKeep {
					// As with tools: the call then carries the one mark that was decided, or none.
					out = append(out, cutStrays(straysIn(m.Strays, b.Span))...)
				}
			}
		}
		out = append(out, c.contentSplices(m, e)...)
	}
	out = append(out, c.objectMark(m.Span, m.Mark, e.ownMark(m))...)
	if e.Unmark {
		out = append(out, cutStrays(m.Strays)...)
	}
	return out
}

// ownMark is what happens to the mark of the message object itself. The block of
// a tool message stands for that object.
func (e *MessageEdit) ownMark(m *Message) MarkEdit {
	if m.isResult() {
		if be := e.blocks[0]; be != nil && be.Mark.Kind != MarkKeep {
			return be.Mark
		}
	}
	if e.Unmark {
		return MarkEdit{Kind: MarkRemove}
	}
	return MarkEdit{}
}

// isResult reports whether the message as a whole is one tool result (OpenAI).
func (m *Message) isResult() bool { return len(m.Blocks) == 1 && m.Blocks[0].Site == SiteMessage }

// contentSplices renders what changes the content value as a whole: text added at
// its end, results put in front, elements dropped.
func (c *Conversation) contentSplices(m *Message, e *MessageEdit) []Splice {
	results := resultBlocks(e.Results)
	switch m.Shape {
	case ShapeList:
		return c.elementSplices(m, e, results)
	case ShapeString:
		b, be := m.stringBlock(e)
		return c.stringSplices(m.Content, b.Text, be, e.Append, results)
	case ShapeNull, ShapeAbsent:
		if len(results) == 0 && e.Append == "" {
			return nil
		}
		value := Quote(e.Append)
		if len(results) > 0 {
			if e.Append != "" {
				results = append(results, textBlock(e.Append))
			}
			value = "[" + strings.Join(results, ",") + "]"
		}
		if m.Shape == ShapeNull {
			return c.replace(m.Content, value)
		}
		return []Splice{c.setMember(m.Span, "content", value)}
	default:
		return nil
	}
}

// stringBlock returns the block that string content is, and its edit. Other
// blocks of the message stand beside the content.
func (m *Message) stringBlock(e *MessageEdit) (*Block, *BlockEdit) {
	for i := range m.Blocks {
		if m.Blocks[i].Site == SiteContent {
			be := e.blocks[i]
			if be == nil {
				be = &BlockEdit{}
			}
			return &m.Blocks[i], be
		}
	}
	return &Block{}, &BlockEdit{}
}

// stringSplices renders the edits of a string that is a whole content value. A
// bare string can neither carry a mark nor stand beside blocks: then it becomes a
// list with one text block, or with none where the string is blank, since blank
// text blocks are refused.
func (c *Conversation) stringSplices(at Span, have string, e *BlockEdit, added string, before []string) []Splice {
	if e.splits(have) && len(before) == 0 && added == "" {
		cut := at.Start + LiteralOffset(c.Raw(at), e.Split)
		return []Splice{
			{at.Start, 0, `[{"type":"text","text":`},
			{cut, 0, `"` + e.Mark.suffix() + `},{"type":"text","text":"`},
			{at.End, 0, e.RestMark.suffix() + "}]"},
		}
	}
	marked := e.Mark.Kind == MarkSet
	if len(before) > 0 && !marked && Blank(e.newText(have)+added) {
		return []Splice{{at.Start, at.Len(), "[" + strings.Join(before, ",") + "]"}}
	}
	var out []Splice
	if len(before) > 0 || marked {
		out = append(out, Splice{at.Start, 0, "[" + joinAfter(before) + `{"type":"text","text":`})
	}
	if e.newText(have) != have {
		out = append(out, Splice{at.Start, at.Len(), Quote(e.newText(have) + added)})
	} else if added != "" {
		out = append(out, Splice{at.End - 1, 0, escape(added)})
	}
	switch {
	case marked:
		out = append(out, Splice{at.End, 0, e.Mark.suffix() + "}]"})
	case len(before) > 0:
		out = append(out, Splice{at.End, 0, "}]"})
	}
	return out
}

// newText is the text after the edit.
func (e *BlockEdit) newText(have string) string {
	if e == nil || e.Text == nil {
		return have
	}
	return *e.Text
}

// elementSplices renders dropped and added elements of a content list.
func (c *Conversation) elementSplices(m *Message, e *MessageEdit, results []string) []Splice {
	var spans []Span
	var index []int
	for i := range m.Blocks {
		if m.Blocks[i].Site == SiteContent {
			spans = append(spans, m.Blocks[i].Span)
			index = append(index, i)
		}
	}
	dropped := func(k int) bool {
		be := e.blocks[index[k]]
		return be != nil && be.Drop
	}
	return editList(m.Content, spans, dropped, func(k int) []string {
		var added []string
		if k == 0 {
			added = append(added, results...)
		}
		if k == len(spans) && e.Append != "" {
			added = append(added, textBlock(e.Append))
		}
		return added
	})
}

// blockSplices renders the edits of a block that is an element of a list or
// stands beside the content.
func (c *Conversation) blockSplices(b *Block, e *BlockEdit) []Splice {
	if c.isBareString(b) {
		return c.bareSplices(b, e.newText(b.Text), e.Mark)
	}
	var out []Splice
	if b.Kind == KindToolResult {
		out = c.resultSplices(b, e, "")
	} else if b.Kind == KindText && e.newText(b.Text) != b.Text {
		out = append(out, Splice{b.TextSpan.Start, b.TextSpan.Len(), Quote(*e.Text)})
	} else if c.splits(b, e) {
		cut := b.TextSpan.Start + LiteralOffset(c.Raw(b.TextSpan), e.Split)
		out = append(out, Splice{cut, b.TextSpan.End - 1 - cut, ""})
	}
	if e.Input != nil && b.InputShape != ShapeAbsent && *e.Input != b.Input {
		text := *e.Input
		if b.inputIsString() {
			text = Quote(text)
		}
		out = append(out, c.replace(b.InputSpan, text)...)
	}
	if c.takesMark(b) {
		out = append(out, c.objectMark(b.Span, b.Mark, e.Mark)...)
	}
	return out
}

// inputIsString reports whether a call's arguments are, or have to be, a string
// that holds JSON: null is what some servers write for "no arguments".
func (b *Block) inputIsString() bool {
	return b.InputShape == ShapeString || b.InputShape == ShapeNull
}

// isBareString reports whether an element of a content list is a string and not
// a block object.
func (c *Conversation) isBareString(b *Block) bool {
	return b.Site == SiteContent && b.Span.Len() > 0 && c.Source[b.Span.Start] == '"'
}

// bareSplices renders the edits of a string that is an element of a list. With a
// mark it becomes a text block.
func (c *Conversation) bareSplices(b *Block, text string, mark MarkEdit) []Splice {
	literal := c.Raw(b.Span)
	if text != b.Text {
		literal = Quote(text)
	}
	if mark.Kind == MarkSet {
		literal = `{"type":"text","text":` + literal + mark.suffix() + "}"
	}
	return c.replace(b.Span, literal)
}

// resultSplices renders the edits of a tool result's content. New text replaces
// all of it, and the marks of its parts with it, save one set on part 0, which is
// then the text. A nil e changes nothing.
func (c *Conversation) resultSplices(b *Block, e *BlockEdit, added string) []Splice {
	if e == nil {
		e = &BlockEdit{}
	}
	whole := &BlockEdit{Text: e.Text, Mark: e.parts[0]}
	switch {
	case b.ResultShape == ShapeString:
		return c.stringSplices(b.ResultSpan, b.Result[0].Text, whole, added, nil)
	case e.Text != nil, added != "" && (b.ResultShape == ShapeNull || b.ResultShape == ShapeAbsent):
		value := Quote(e.newText("") + added)
		if whole.Mark.Kind == MarkSet {
			value = `[{"type":"text","text":` + value + whole.Mark.suffix() + "}]"
		}
		if b.ResultShape == ShapeAbsent {
			return []Splice{c.setMember(b.Span, "content", value)}
		}
		return c.replace(b.ResultSpan, value)
	case b.ResultShape != ShapeList:
		return nil
	}
	var out []Splice
	spans := make([]Span, len(b.Result))
	for i := range b.Result {
		part := &b.Result[i]
		spans[i] = part.Span
		if pe := e.parts[i]; c.isBareString(part) {
			out = append(out, c.bareSplices(part, part.Text, pe)...)
		} else if c.takesMark(part) {
			out = append(out, c.objectMark(part.Span, part.Mark, pe)...)
		}
	}
	keep := func(int) bool { return false }
	return append(out, editList(b.ResultSpan, spans, keep, func(i int) []string {
		if i < len(spans) || added == "" {
			return nil
		}
		return []string{textBlock(added)}
	})...)
}

// setMember writes a member of an object: over the value that stands there, or
// directly after the last member, where cutting it again leaves the white space
// before the brace as it was.
func (c *Conversation) setMember(object Span, key, value string) Splice {
	s := newScanner(c.Raw(object), math.MaxInt)
	comma, end := "", 1
	var have Span
	_ = s.object(func(name string, _ int) *Error { // the parser has read it before: it is valid
		span, err := s.skip()
		comma, end = ",", span.End
		if name == key {
			have = span
		}
		return err
	})
	if have != (Span{}) {
		return Splice{object.Start + have.Start, have.Len(), value}
	}
	return Splice{object.Start + end, 0, comma + Quote(key) + ":" + value}
}
