package conversation

import "slices"

// Carries reports whether a mark already says what setting want would write, so
// that there is nothing to change.
func (c *Conversation) Carries(have *Mark, want MarkEdit) bool {
	switch {
	case have == nil || have.TTL != want.TTL:
		return false
	case c.Format == FormatTyped:
		return true
	case have.Wire != want.Wire:
		return false
	}
	members, ok := Members(c.Raw(have.Value))
	named := false
	for _, m := range members {
		switch {
		case m.Key == "type" && m.IsString && m.Text == "ephemeral" && want.Wire == WireCacheControl,
			m.Key == "mode" && m.IsString && m.Text == "explicit" && want.Wire == WireBreakpoint:
			named = true
		case m.Key == "ttl" && m.IsString && m.Text != "":
		default:
			return false
		}
	}
	return ok && named
}

// takesMark reports whether a cache_control can be written on an object that is a
// block: an element of a list, or a call.
func (c *Conversation) takesMark(b *Block) bool {
	switch b.Site {
	case SiteContent, SiteToolCalls, SiteFunctionCall:
		return c.Format == FormatTyped || b.Span.Len() > 0 && c.Source[b.Span.Start] == '{'
	default:
		return false
	}
}

// objectMark sets or removes the cache_control of an object.
func (c *Conversation) objectMark(object Span, have *Mark, e MarkEdit) []Splice {
	switch {
	case e.Kind == MarkSet && c.Carries(have, e):
		return nil
	case e.Kind == MarkSet && have != nil && have.Wire != e.Wire:
		// The member is cut with one comma, before or after it; both stay.
		if c.Source[have.Member.Start] == '"' {
			return c.replace(have.Member, e.member()+c.Source[have.Value.End:have.Member.End])
		}
		return c.replace(have.Member, ","+e.member())
	case e.Kind == MarkSet && have != nil:
		return c.replace(have.Value, e.value())
	case e.Kind == MarkSet:
		return []Splice{c.setMember(object, e.Wire.Key(), e.value())}
	case e.Kind == MarkRemove && have != nil:
		return []Splice{cut(have.Member)}
	default:
		return nil
	}
}

// toolSplices renders the mark edit of one tool. Strays go with either kind: the
// definition then carries the one mark that was decided, or none.
func (c *Conversation) toolSplices(t *Tool, e MarkEdit) []Splice {
	if e.Kind == MarkKeep {
		return nil
	}
	return c.settle(append(c.objectMark(t.Span, t.Mark, e), cutStrays(t.Strays)...))
}

// straysIn returns the strays that stand inside a span.
func straysIn(strays []*Mark, within Span) []*Mark {
	from, _ := slices.BinarySearchFunc(strays, within.Start, func(m *Mark, at int) int { return m.Value.Start - at })
	to := from
	for to < len(strays) && strays[to].Member.End <= within.End {
		to++
	}
	return strays[from:to]
}

func cutStrays(strays []*Mark) []Splice {
	var out []Splice
	for _, m := range strays {
		out = append(out, cut(m.Member))
	}
	return out
}

// value writes the breakpoint's value. The provider's default life has no ttl key:
// some platforms refuse the key even for 5m (field report K011).
func (e MarkEdit) value() string {
	kind := `{"type":"ephemeral"`
	if e.Wire == WireBreakpoint {
		kind = `{"mode":"explicit"`
	}
	if e.TTL == "" {
		return kind + "}"
	}
	return kind + `,"ttl":` + Quote(e.TTL) + `}`
}

// member writes the breakpoint's key and value.
func (e MarkEdit) member() string { return Quote(e.Wire.Key()) + ":" + e.value() }

// suffix is the member behind others, empty when no mark is set.
func (e MarkEdit) suffix() string {
	if e.Kind != MarkSet {
		return ""
	}
	return "," + e.member()
}
