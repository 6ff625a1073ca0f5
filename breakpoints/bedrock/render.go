package bedrock

import (
	"slices"

	"github.com/elbowroom/elbowroom/conversation"
)

// Splices writes the marks that a rewrite of the request's conversation sets and
// removes, and the splits of its system prompt: ascending and disjoint edits of the
// source. Other edits are not rendered.
func (r *Request) Splices(rw *conversation.Rewrite) []conversation.Splice {
	out := append(r.tools.splices(r.toolChanges(rw)), r.system.splices(r.systemChanges(rw))...)
	for i := range r.messages {
		out = append(out, r.messageSplices(rw, i)...)
	}
	slices.SortStableFunc(out, func(a, b conversation.Splice) int { return a.Offset - b.Offset })
	return out
}

// toolChanges are those of the tools.
func (r *Request) toolChanges(rw *conversation.Rewrite) changes {
	stray := false
	edits := make([]edit, len(r.tools.blocks))
	for i := range r.Conversation.Tools {
		e := rw.Tool(i)
		stray = stray || e.Kind != conversation.MarkKeep
		if i < len(edits) {
			edits[i].mark = e
		}
	}
	return r.changes(&r.tools, edits, stray)
}

// systemChanges are those of the system prompt.
func (r *Request) systemChanges(rw *conversation.Rewrite) changes {
	e := rw.System()
	if e == nil {
		return r.changes(&r.system, nil, false)
	}
	return r.changes(&r.system, editsOf(e, len(r.system.blocks)), e.Unmark)
}

// messageSplices are the edits inside one message.
func (r *Request) messageSplices(rw *conversation.Rewrite, i int) []conversation.Splice {
	e := rw.Message(i)
	if e == nil {
		return nil
	}
	m := &r.messages[i]
	out := m.content.splices(r.changes(&m.content, editsOf(e, len(m.content.blocks)), e.Unmark))
	for j := range m.results {
		out = append(out, m.results[j].splices(r.changes(&m.results[j], nil, e.Unmark))...)
	}
	return out
}

// Render returns the source with the splices applied.
func (r *Request) Render(rw *conversation.Rewrite) string {
	return conversation.ApplySplices(r.Source, r.Splices(rw))
}

// edit is what happens to one block.
type edit struct {
	mark, rest conversation.MarkEdit
	split      int
}

func editsOf(e *conversation.MessageEdit, n int) []edit {
	out := make([]edit, n)
	for i := range out {
		if be := e.Block(i); be != nil {
			out[i] = edit{be.Mark, be.RestMark, be.Split}
		}
	}
	return out
}

// point writes a cachePoint behind a comma, empty when no mark is set.
func point(e conversation.MarkEdit) string {
	switch {
	case e.Kind != conversation.MarkSet:
		return ""
	case e.TTL == "":
		return `,{"cachePoint":{"type":"default"}}`
	default:
		return `,{"cachePoint":{"type":"default","ttl":` + conversation.Quote(e.TTL) + `}}`
	}
}

// changes are what happens to the elements of one array.
type changes struct {
	dropped []bool
	// after is what is added behind each, every element with a comma in front.
	after []string
	// cuts are the edits inside elements, by their index.
	cuts map[int]conversation.Splice
}

// changes decides what happens to one array. unstray removes the points that mark
// nothing.
func (r *Request) changes(l *list, edits []edit, unstray bool) changes {
	c := changes{dropped: make([]bool, len(l.elements)), after: make([]string, len(l.elements)), cuts: make(map[int]conversation.Splice)}
	for i := range l.elements {
		c.dropped[i] = l.elements[i].stray && unstray
	}
	for b, e := range edits {
		at := l.blocks[b]
		c.after[at] = point(e.mark)
		if e.mark.Kind != conversation.MarkKeep && at+1 < len(l.elements) && l.elements[at+1].point {
			c.dropped[at+1] = true
		}
		literal := l.elements[at].text
		if e.split == 0 || literal.Len() == 0 {
			continue
		}
		// The block's text ends at the cut, and a block with the rest follows the mark.
		text := r.Source[literal.Start:literal.End]
		cut := conversation.LiteralOffset(text, e.split)
		if next := at + 1; e.mark.Kind == conversation.MarkKeep && next < len(l.elements) && l.elements[next].point {
			// The point that is kept marks the first half, so it moves before the rest.
			c.dropped[next] = true
			c.after[at] = "," + r.Source[l.elements[next].at.Start:l.elements[next].at.End]
		}
		c.cuts[at] = conversation.Splice{Offset: literal.Start + cut, Length: len(text) - 1 - cut}
		c.after[at] += `,{"text":"` + text[cut:] + "}" + point(e.rest)
	}
	return c
}

// splices renders the changes of an array. The bytes between two elements that stay
// neighbours are not touched.
func (l *list) splices(c changes) []conversation.Splice {
	var out []conversation.Splice
	for _, cut := range c.cuts { // in any order: they are sorted with the others
		out = append(out, cut)
	}
	cut := func(from, to int, text string) {
		if to > from || text != "" {
			out = append(out, conversation.Splice{Offset: from, Length: to - from, Text: text})
		}
	}
	elements, last := l.elements, -1
	for i := range elements {
		switch {
		case c.dropped[i]:
			continue
		case last >= 0:
			cut(elements[last].at.End, elements[i-1].at.End, c.after[last])
		default:
			cut(elements[0].at.Start, elements[i].at.Start, "")
		}
		last = i
	}
	switch n := len(elements); {
	case last >= 0:
		cut(elements[last].at.End, elements[n-1].at.End, c.after[last])
	case n > 0:
		cut(elements[0].at.Start, elements[n-1].at.End, "")
	}
	return out
}
