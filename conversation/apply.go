package conversation

import "slices"

// Applied is the domain view of a rewritten conversation: what counting and
// checking look at before any byte is written.
type Applied struct {
	Conversation *Conversation
	// From[i] is the input index of message i, -1 for a new message.
	From []int
}

// Apply builds the rewritten conversation as a domain view: what parsing the
// rendered JSON would give, spans and warnings apart. Kept messages are shared
// with the input. Spans of changed and new messages still point into the input
// and must not be used.
func (r *Rewrite) Apply() *Applied {
	out := *r.c
	out.Messages = make([]Message, 0, len(r.c.Messages)+len(r.inserts))
	a := &Applied{Conversation: &out}
	add := func(m Message, from int) {
		out.Messages = append(out.Messages, m)
		a.From = append(a.From, from)
	}
	for i := 0; i <= len(r.c.Messages); i++ {
		for _, m := range r.inserts[i] {
			add(m.domain(r.c.Format), -1)
		}
		if i < len(r.c.Messages) && !r.Dropped(i) {
			add(r.ApplyMessage(i), i)
		}
	}
	if r.system != nil && r.c.System != nil {
		sys := r.c.applyMessage(r.c.System, r.system)
		out.System = &sys
	}
	if len(r.tools) > 0 {
		out.Tools = slices.Clone(r.c.Tools)
		for i := range out.Tools {
			r.c.applyTool(&out.Tools[i], r.tools[i])
		}
	}
	out.AutoMark = r.auto.apply(out.AutoMark)
	return a
}

// ApplyMessage returns one message as it leaves. It must not be dropped.
func (r *Rewrite) ApplyMessage(i int) Message {
	e := r.messages[i]
	if e == nil {
		return r.c.Messages[i]
	}
	return r.c.applyMessage(&r.c.Messages[i], e)
}

func (c *Conversation) applyTool(t *Tool, e MarkEdit) {
	if e.Kind == MarkKeep {
		return
	}
	if c.Format != FormatTyped {
		t.Raw = c.spliced(t.Span, c.toolSplices(t, e))
	}
	t.Mark, t.Strays = e.apply(t.Mark), nil
}

// applyMessage returns a changed copy of m. What it decides about the content
// has its counterpart, case by case, in [Conversation.contentSplices].
func (c *Conversation) applyMessage(m *Message, e *MessageEdit) Message {
	out := *m
	out.Mark = e.ownMark(m).apply(m.Mark)
	var splices []Splice
	if c.Format != FormatTyped && (len(m.Strays) > 0 || hasRaw(m.Blocks)) {
		splices = c.settle(c.messageSplices(m, e))
		out.Strays = leftStrays(m.Strays, splices)
	}
	if m.isResult() {
		b := c.applyResult(m.Blocks[0], e.blocks[0], e.Append)
		c.refreshRaw(b.Result, splices)
		out.Shape, out.Blocks = b.ResultShape, []Block{b}
		return out
	}
	var before, content, after []Block
	for i := range m.Blocks {
		b := m.Blocks[i]
		be := e.blocks[i]
		if be != nil {
			if be.Drop {
				continue
			}
			b = c.applyBlock(b, be, m.Shape)
		}
		switch b.Site {
		case SiteContent:
			if be != nil && (m.Shape != ShapeString && c.splits(&m.Blocks[i], be) || m.splitsString(e, i)) {
				first, rest := c.splitBlock(b, be)
				content = append(content, first, rest)
				continue
			}
			content = append(content, b)
		case SiteReasoning:
			before = append(before, b)
		default:
			after = append(after, b)
		}
	}
	out.Shape, content = c.applyContent(m.Shape, content, e)
	out.Blocks = slices.Concat(before, content, after)
	c.refreshRaw(out.Blocks, splices)
	return out
}

// hasRaw reports whether a block, or a part of one, is carried as JSON text.
func hasRaw(blocks []Block) bool {
	for i := range blocks {
		if blocks[i].Raw != "" || hasRaw(blocks[i].Result) {
			return true
		}
	}
	return false
}

// refreshRaw applies the edits of a message to the JSON text of blocks, which are the
// caller's to change, and of the parts of results in them.
func (c *Conversation) refreshRaw(blocks []Block, splices []Splice) {
	if len(splices) == 0 {
		return
	}
	for i := range blocks {
		b := &blocks[i]
		if hasRaw(b.Result) {
			b.Result = slices.Clone(b.Result)
			c.refreshRaw(b.Result, splices)
		}
		if b.Raw == "" {
			continue
		}
		// What stands exactly at an end of the block is outside of it.
		from, _ := slices.BinarySearchFunc(splices, b.Span.Start+1, func(sp Splice, at int) int { return sp.Offset - at })
		to, _ := slices.BinarySearchFunc(splices, b.Span.End, func(sp Splice, at int) int { return sp.Offset - at })
		b.Raw = c.spliced(b.Span, splices[from:to])
	}
}

// applyContent adds results and text to a content value whose blocks have been
// edited already.
func (c *Conversation) applyContent(shape Shape, content []Block, e *MessageEdit) (Shape, []Block) {
	results := make([]Block, len(e.Results))
	for i := range e.Results {
		results[i] = e.Results[i].block()
	}
	added := []Block{{Kind: KindText, Type: "text", Text: e.Append}}
	if e.Append == "" {
		added = nil
	}
	switch {
	case shape == ShapeList || c.Format == FormatTyped:
		return shape, slices.Concat(results, content, added)
	case shape == ShapeString:
		text := &content[0]
		text.Text += e.Append
		if len(results) == 0 && text.Type == "" {
			return shape, content
		}
		if len(results) > 0 && text.Mark == nil && Blank(text.Text) {
			content = nil
		} else {
			text.Type = "text"
		}
		return ShapeList, append(results, content...)
	case shape == ShapeOther || len(results)+len(added) == 0:
		return shape, content
	case len(results) > 0:
		return ShapeList, append(results, added...)
	default:
		added[0].Type = ""
		return ShapeString, added
	}
}

// leftStrays returns the strays that no edit took away.
func leftStrays(strays []*Mark, splices []Splice) []*Mark {
	var left []*Mark
	for _, mark := range strays {
		after, _ := slices.BinarySearchFunc(splices, mark.Value.Start+1, func(sp Splice, at int) int { return sp.Offset - at })
		if after == 0 || splices[after-1].end() < mark.Value.End {
			left = append(left, mark)
		}
	}
	return left
}

// applyBlock returns a changed copy of a block. shape is that of the content it
// stands in.
func (c *Conversation) applyBlock(b Block, e *BlockEdit, shape Shape) Block {
	if b.Site == SiteContent && c.Format != FormatTyped {
		switch {
		case shape == ShapeOther:
			return b
		case shape == ShapeString || c.isBareString(&b):
			return applyString(b, e)
		}
	}
	if b.Kind == KindToolResult {
		b = c.applyResult(b, e, "")
	} else if b.Kind == KindText {
		b.Text = e.newText(b.Text)
	}
	if e.Input != nil && (b.InputShape != ShapeAbsent || c.Format == FormatTyped) && *e.Input != b.Input {
		b.Input = *e.Input
		if b.inputIsString() {
			b.InputShape = ShapeString
		}
	}
	if c.takesMark(&b) {
		b.Mark = e.Mark.apply(b.Mark)
	}
	return b
}

// applyString edits the block that a bare string is. With a mark it becomes a
// text block.
func applyString(b Block, e *BlockEdit) Block {
	b.Text = e.newText(b.Text)
	if e.Mark.Kind == MarkSet {
		b.Type, b.Mark = "text", e.Mark.apply(nil)
	}
	return b
}

// applyResult edits the content of a tool result, see
// [Conversation.resultSplices].
func (c *Conversation) applyResult(b Block, e *BlockEdit, added string) Block {
	if e == nil {
		e = &BlockEdit{}
	}
	switch {
	case b.ResultShape == ShapeString && len(b.Result) == 1:
		text := applyString(b.Result[0], &BlockEdit{Text: e.Text, Mark: e.parts[0]})
		text.Text += added
		b.Result = []Block{text}
	case e.Text != nil, added != "" && (b.ResultShape == ShapeNull || b.ResultShape == ShapeAbsent):
		b.Result = []Block{applyString(Block{Kind: KindText}, &BlockEdit{Mark: e.parts[0]})}
		b.Result[0].Text = e.newText("") + added
		b.ResultShape = ShapeString
	case b.ResultShape == ShapeList || c.Format == FormatTyped:
		b.Result = slices.Clone(b.Result)
		for i := range b.Result {
			if part := &b.Result[i]; e.parts[i].Kind != MarkKeep {
				*part = c.applyBlock(*part, &BlockEdit{Mark: e.parts[i]}, ShapeList)
			}
		}
		if added != "" {
			b.Result = append(b.Result, Block{Kind: KindText, Type: "text", Text: added})
		}
	}
	if len(b.Result) == 1 && b.Result[0].Type == "text" && b.ResultShape == ShapeString {
		b.ResultShape = ShapeList
	}
	return b
}

// apply returns the mark after the edit.
func (e MarkEdit) apply(have *Mark) *Mark {
	switch e.Kind {
	case MarkSet:
		return &Mark{TTL: e.TTL, Wire: e.Wire}
	case MarkRemove:
		return nil
	default:
		return have
	}
}
