package conversation

import "slices"

// Then joins a second rewrite, made of r's result, into one that leads from r's
// input to next's output. ok is false where next edits something that r put in and
// more than removing it is asked: such a pair has no single rewrite.
//
// Only what compression decides is joined: messages and blocks dropped, texts,
// arguments, added results and text, new messages. Cache breakpoints are not.
func (r *Rewrite) Then(next *Rewrite) (joined *Rewrite, ok bool) {
	j := &joiner{first: r, out: r.clone()}
	k := 0 // position in r's result
	for i := 0; i <= len(r.c.Messages); i++ {
		var inserts []NewMessage
		for _, m := range r.inserts[i] {
			inserts = append(inserts, next.inserts[k]...)
			switch e := next.messages[k]; {
			case e == nil:
				inserts = append(inserts, m)
			case !e.Drop:
				return nil, false
			}
			k++
		}
		if i == len(r.c.Messages) || !r.Dropped(i) {
			inserts = append(inserts, next.inserts[k]...)
		}
		if delete(j.out.inserts, i); len(inserts) > 0 {
			j.out.inserts[i] = inserts
		}
		if i == len(r.c.Messages) || r.Dropped(i) {
			continue
		}
		if e := next.messages[k]; e != nil && !j.message(i, e) {
			return nil, false
		}
		k++
	}
	if e := next.system; e != nil {
		sys := j.out.systemEdit()
		if len(e.blocks) > 0 || e.Unmark || sys.Append != "" && e.Append != "" {
			return nil, false
		}
		sys.Append += e.Append
	}
	return j.out, len(next.tools) == 0 && next.auto.Kind == MarkKeep
}

// clone returns a rewrite that may be changed without changing r.
func (r *Rewrite) clone() *Rewrite {
	out := NewRewrite(r.c)
	for i, e := range r.messages {
		out.messages[i] = e.clone()
	}
	for i, list := range r.inserts {
		out.inserts[i] = slices.Clone(list)
	}
	for i, e := range r.tools {
		out.tools[i] = e
	}
	if r.system != nil {
		out.system = r.system.clone()
	}
	out.auto = r.auto
	return out
}

func (e *MessageEdit) clone() *MessageEdit {
	out := *e
	out.Results, out.blocks = slices.Clone(e.Results), nil
	for i, b := range e.blocks {
		*out.block(i) = *b
	}
	return &out
}

// joiner adds the edits of a second rewrite to a copy of the first.
type joiner struct {
	first, out *Rewrite
}

// message joins the edit of a message that the first rewrite kept at i.
func (j *joiner) message(i int, next *MessageEdit) bool {
	e := j.out.message(i)
	if next.Drop {
		*e = MessageEdit{Drop: true}
		return true
	}
	if next.Unmark || e.Append != "" && next.Append != "" {
		return false // two texts added to a list are two blocks
	}
	m := &j.first.c.Messages[i]
	// The blocks that next knows by number, as numbers of the input.
	origin := j.first.blockOrigins(i)
	for b, edit := range next.blocks {
		if b >= len(origin) || origin[b] < 0 || edit.Mark.Kind != MarkKeep || edit.Split > 0 || len(edit.parts) > 0 {
			return false
		}
		if edit.Text != nil && e.Append != "" {
			return false // the added text may be part of the replaced one
		}
		if edit.Drop && m.Shape != ShapeList && j.first.c.Format != FormatTyped {
			return false // it is a block of a list only since the first rewrite
		}
		have := e.block(origin[b])
		have.Drop = have.Drop || edit.Drop
		if edit.Text != nil {
			have.Text = edit.Text
		}
		if edit.Input != nil {
			have.Input = edit.Input
		}
	}
	// Each rewrite puts its results in front of what it found, and its text behind.
	e.Results = slices.Concat(next.Results, e.Results)
	e.Append += next.Append
	return true
}

// OriginOf is the block of the input that a block of a kept message's rewritten
// form came from; ok is false for a new one.
func (r *Rewrite) OriginOf(message, block int) (origin int, ok bool) {
	origins := r.blockOrigins(message)
	if block < 0 || block >= len(origins) || origins[block] < 0 {
		return 0, false
	}
	return origins[block], true
}

// blockOrigins gives for each block of a rewritten message the block of the input
// that it came from, -1 for a new one. The order is that of applyMessage.
func (r *Rewrite) blockOrigins(i int) []int {
	m, e := &r.c.Messages[i], r.messages[i]
	if e == nil {
		e = &MessageEdit{}
	}
	var before, content, after []int
	for b := range m.Blocks {
		if be := e.blocks[b]; be != nil && be.Drop {
			continue
		}
		switch m.Blocks[b].Site {
		case SiteContent:
			content = append(content, b)
		case SiteReasoning:
			before = append(before, b)
		default:
			after = append(after, b)
		}
	}
	if m.isResult() {
		return []int{0}
	}
	results := slices.Repeat([]int{-1}, len(e.Results))
	switch {
	case m.Shape == ShapeString && len(e.Results) > 0 && len(r.ApplyMessage(i).Blocks) < len(m.Blocks)+len(e.Results):
		content = nil // a blank string gave way to the results
	case e.Append != "" && (m.Shape == ShapeList || r.c.Format == FormatTyped || m.Shape == ShapeNull || m.Shape == ShapeAbsent):
		content = append(content, -1)
	}
	return slices.Concat(before, results, content, after)
}
