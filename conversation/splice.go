package conversation

import (
	"slices"
	"strings"
)

// Splice replaces Length bytes at Offset of the caller's JSON by Text. Offsets
// count UTF-8 bytes of the input.
type Splice struct {
	Offset, Length int
	Text           string
}

func (s Splice) end() int { return s.Offset + s.Length }

// ApplySplices edits src. Splices must be ascending and disjoint.
func ApplySplices(src string, splices []Splice) string {
	if len(splices) == 0 {
		return src
	}
	size := len(src)
	for _, sp := range splices {
		size += len(sp.Text) - sp.Length
	}
	var sb strings.Builder
	sb.Grow(size)
	at := 0
	for _, sp := range splices {
		sb.WriteString(src[at:sp.Offset])
		sb.WriteString(sp.Text)
		at = sp.end()
	}
	sb.WriteString(src[at:])
	return sb.String()
}

// Splices renders the rewrite of a native conversation as byte edits: ascending,
// disjoint, and none for anything that was kept. The typed form has no bytes to
// edit and gives none.
func (r *Rewrite) Splices() []Splice {
	if r.c.Format == FormatTyped {
		return nil
	}
	var out []Splice
	for _, i := range sortedKeys(r.tools) {
		if i < len(r.c.Tools) {
			out = append(out, r.c.toolSplices(&r.c.Tools[i], r.tools[i])...)
		}
	}
	if r.system != nil && r.c.System != nil {
		out = append(out, r.c.messageSplices(r.c.System, r.system)...)
	}
	for _, i := range sortedKeys(r.messages) {
		if e := r.messages[i]; !e.Drop {
			out = append(out, r.c.messageSplices(&r.c.Messages[i], e)...)
		}
	}
	out = append(out, r.listSplices()...)
	if body := r.c.body(); body.Len() > 0 {
		out = append(out, r.c.objectMark(body, r.c.AutoMark, r.auto)...)
	}
	return r.c.settle(out)
}

// body is the span of the request body, empty where there is none.
func (c *Conversation) body() Span {
	const space = " \t\r\n"
	if c.Bare {
		return Span{}
	}
	end := len(strings.TrimRight(c.Source, space))
	return Span{end - len(strings.TrimLeft(c.Source[:end], space)), end}
}

// Render returns the whole rewritten JSON.
func (r *Rewrite) Render() string { return ApplySplices(r.c.Source, r.Splices()) }

// listSplices renders dropped and inserted messages.
func (r *Rewrite) listSplices() []Splice {
	if len(r.inserts) == 0 && !r.drops() {
		return nil
	}
	spans := make([]Span, len(r.c.Messages))
	for i := range r.c.Messages {
		spans[i] = r.c.Messages[i].Span
	}
	return editList(r.c.list, spans, r.Dropped, func(i int) []string {
		var added []string
		for _, m := range r.inserts[i] {
			added = append(added, m.JSON(r.c.Format))
		}
		return added
	})
}

// settle sorts splices by place and joins those that touch. Splices at one place
// keep the order in which they were made, insertions first. A splice inside
// another one is left out: what it would have edited is gone. So is one that
// changes nothing.
func (c *Conversation) settle(splices []Splice) []Splice {
	slices.SortStableFunc(splices, func(a, b Splice) int {
		switch {
		case a.Offset != b.Offset:
			return a.Offset - b.Offset
		case a.Length == 0 || b.Length == 0:
			return a.Length - b.Length
		default:
			return b.Length - a.Length
		}
	})
	var text strings.Builder // of the splice being joined
	joined := splices[:0]
	for i, sp := range splices {
		n := len(joined) - 1
		switch {
		case i == 0 || sp.Offset > joined[n].end():
			if n >= 0 {
				joined[n].Text = text.String()
			}
			text = strings.Builder{}
			joined = append(joined, sp)
		case sp.Offset < joined[n].end():
			continue
		default:
			joined[n].Length += sp.Length
		}
		text.WriteString(sp.Text)
	}
	if n := len(joined) - 1; n >= 0 {
		joined[n].Text = text.String()
	}
	return slices.DeleteFunc(joined, func(sp Splice) bool { return c.Source[sp.Offset:sp.end()] == sp.Text })
}

// cut removes a span.
func cut(s Span) Splice { return Splice{Offset: s.Start, Length: s.Len()} }

// replace writes text over a span, unless it stands there already.
func (c *Conversation) replace(s Span, text string) []Splice {
	if c.Raw(s) == text {
		return nil
	}
	return []Splice{{s.Start, s.Len(), text}}
}

// spliced applies splices that lie inside a span to that span's bytes.
func (c *Conversation) spliced(s Span, splices []Splice) string {
	inner := make([]Splice, len(splices))
	for i, sp := range splices {
		inner[i] = Splice{sp.Offset - s.Start, sp.Length, sp.Text}
	}
	return ApplySplices(c.Raw(s), inner)
}

// editList renders removals and additions in a JSON array. add(i) are new
// elements that come before element i; add(len(elems)) come last. The bytes
// between two kept neighbours stay as they are.
func editList(list Span, elems []Span, dropped func(int) bool, add func(int) []string) []Splice {
	var out []Splice
	edit := func(gap Span, text string) {
		if gap.Len() > 0 || text != "" {
			out = append(out, Splice{gap.Start, gap.Len(), text})
		}
	}
	var pending []string
	last := -1 // the kept element before the gap being looked at
	for i := range elems {
		pending = append(pending, add(i)...)
		if dropped(i) {
			continue
		}
		if last < 0 {
			edit(Span{elems[0].Start, elems[i].Start}, joinAfter(pending))
		} else {
			// Cut up to the end of the last dropped element: its separator then leads
			// to the element that stays.
			edit(Span{elems[last].End, elems[i-1].End}, joinBefore(pending))
		}
		pending, last = nil, i
	}
	pending = append(pending, add(len(elems))...)
	switch {
	case last >= 0:
		edit(Span{elems[last].End, elems[len(elems)-1].End}, joinBefore(pending))
	case len(elems) > 0:
		edit(Span{elems[0].Start, elems[len(elems)-1].End}, strings.Join(pending, ","))
	default:
		edit(Span{list.Start + 1, list.Start + 1}, strings.Join(pending, ","))
	}
	return out
}

// joinBefore joins elements that follow a kept one.
func joinBefore(elems []string) string {
	if len(elems) == 0 {
		return ""
	}
	return "," + strings.Join(elems, ",")
}

// joinAfter joins elements that a kept one follows.
func joinAfter(elems []string) string {
	if len(elems) == 0 {
		return ""
	}
	return strings.Join(elems, ",") + ","
}
