package conversation

import "slices"

// Carries reports whether a mark already says what a rewrite with this ttl would
// write, so that there is nothing to change.
func (c *Conversation) Carries(have *Mark, ttl string) bool {
	switch {
	case have == nil || have.TTL != ttl:
		return false
	case c.Format == FormatTyped:
		return true
	}
	members, ok := Members(c.Raw(have.Value))
	ephemeral := false
	for _, m := range members {
		switch {
		case m.Key == "type" && m.IsString && m.Text == "ephemeral":
			ephemeral = true
		case m.Key == "ttl" && m.IsString && m.Text != "":
		default:
			return false
		}
	}
	return ok && ephemeral
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
	case e.Kind == MarkSet && c.Carries(have, e.TTL):
		return nil
	case e.Kind == MarkSet && have != nil:
		return c.replace(have.Value, cacheControl(e.TTL))
	case e.Kind == MarkSet:
		return []Splice{c.setMember(object, "cache_control", cacheControl(e.TTL))}
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

// cacheControl writes the breakpoint value. The 5-minute default has no ttl key:
// some platforms refuse the key even for 5m (field report K011).
func cacheControl(ttl string) string {
	if ttl == "" {
		return `{"type":"ephemeral"}`
	}
	return `{"type":"ephemeral","ttl":` + Quote(ttl) + `}`
}
