package bedrock

import (
	"slices"

	"github.com/elbowroom/elbowroom/conversation"
)

// Splices writes the marks that a rewrite of the request's conversation sets and
// removes, and the splits of its system prompt: ascending and disjoint edits of the
// source. Other edits are not rendered.
func (r *Request) Splices(rw *conversation.Rewrite) []conversation.Splice {
	var out []conversation.Splice
	if len(r.Conversation.Tools) > 0 {
		stray := false
		edits := make([]edit, len(r.tools.blocks))
		for i := range r.Conversation.Tools {
			e := rw.Tool(i)
			stray = stray || e.Kind != conversation.MarkKeep
			if i < len(edits) {
				edits[i].mark = e
			}
		}
		out = r.list(out, &r.tools, edits, stray)
	}
	if e := rw.System(); e != nil {
		out = r.list(out, &r.system, editsOf(e, len(r.system.blocks)), e.Unmark)
	}
	for i := range r.messages {
		e := rw.Message(i)
		if e == nil {
			continue
		}
		m := &r.messages[i]
		out = r.list(out, &m.content, editsOf(e, len(m.content.blocks)), e.Unmark)
		for j := range m.results {
			out = r.list(out, &m.results[j], nil, e.Unmark)
		}
	}
	slices.SortStableFunc(out, func(a, b conversation.Splice) int { return a.Offset - b.Offset })
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

// list renders the edits of one array. unstray removes the points that mark nothing.
func (r *Request) list(out []conversation.Splice, l *list, edits []edit, unstray bool) []conversation.Splice {
	after := make([]string, len(l.elements))
	dropped := make([]bool, len(l.elements))
	for i := range l.elements {
		dropped[i] = l.elements[i].stray && unstray
	}
	for b, e := range edits {
		at := l.blocks[b]
		after[at] = point(e.mark)
		if e.mark.Kind != conversation.MarkKeep && at+1 < len(l.elements) && l.elements[at+1].point {
			dropped[at+1] = true
		}
		literal := l.elements[at].text
		if e.split == 0 || literal.Len() == 0 {
			continue
		}
		// The block's text ends at the cut, and a block with the rest follows the mark.
		text := r.Source[literal.Start:literal.End]
		cut := conversation.LiteralOffset(text, e.split)
		out = append(out, conversation.Splice{Offset: literal.Start + cut, Length: len(text) - 1 - cut})
		after[at] += `,{"text":"` + text[cut:] + "}" + point(e.rest)
	}
	return append(out, gaps(l.elements, dropped, after)...)
}

// gaps renders removals and additions between the elements of an array. The bytes
// between two that stay neighbours are not touched.
func gaps(elements []element, dropped []bool, after []string) []conversation.Splice {
	var out []conversation.Splice
	cut := func(from, to int, text string) {
		if to > from || text != "" {
			out = append(out, conversation.Splice{Offset: from, Length: to - from, Text: text})
		}
	}
	last := -1
	for i := range elements {
		switch {
		case dropped[i]:
			continue
		case last >= 0:
			cut(elements[last].at.End, elements[i-1].at.End, after[last])
		default:
			cut(elements[0].at.Start, elements[i].at.Start, "")
		}
		last = i
	}
	switch n := len(elements); {
	case last >= 0:
		cut(elements[last].at.End, elements[n-1].at.End, after[last])
	case n > 0:
		cut(elements[0].at.Start, elements[n-1].at.End, "")
	}
	return out
}
