package conversation

import "slices"

// field gives access to the member at the cursor.
type field struct {
	p       *parser
	key     int // offset of the key's quote, -1 before the first member
	prevEnd int // end of the member before, -1 for the first
	// stays is set once there was a member that is no mark, and so is never cut.
	stays bool
	// marked is set when the member being visited is a mark.
	marked bool
	// cut is the mark whose member ends where the next key begins.
	cut  *Mark
	seen keySet
}

// blockMark reads one of the two marks that a block may carry. The first counts, a
// second one is a stray.
func (f *field) blockMark(dst **Mark, wire MarkWire) *Error {
	var m *Mark
	err := f.mark(&m)
	if m != nil {
		m.Wire = wire
		*dst = f.p.oneMark(*dst, m)
	}
	return err
}

// text decodes a string value; null and other kinds leave dst as it is.
func (f *field) text(dst *string) *Error {
	if f.p.peek() != '"' {
		_, err := f.p.skip()
		return err
	}
	_, text, err := f.p.scanner.text()
	if err == nil {
		*dst = text
	}
	return err
}

// textAt reads a string value that may be long and notes where it stands.
func (f *field) textAt(dst *sideText) *Error {
	if f.p.peek() != '"' {
		_, err := f.p.skip()
		return err
	}
	var err *Error
	*dst, err = f.p.longText()
	return err
}

// raw takes the value's JSON text; null leaves dst as it is.
func (f *field) raw(dst *string) *Error {
	null := f.p.peek() == 'n'
	span, err := f.p.skip()
	if err == nil && !null {
		*dst = f.p.c.Raw(span)
	}
	return err
}

func (f *field) isTrue(dst *bool) *Error {
	*dst = f.p.peek() == 't'
	_, err := f.p.skip()
	return err
}

// mark reads a cache_control value and works out how to cut the member.
func (f *field) mark(dst **Mark) *Error {
	f.p.space()
	m := &Mark{}
	start := f.p.pos
	switch f.p.peek() {
	case 'n': // null means no mark; [Conversation.setMember] writes over it
		_, err := f.p.skip()
		return err
	case '{':
		err := f.p.fields(func(key string, g *field) *Error {
			if key == "ttl" {
				if f.p.peek() == '"' {
					return g.text(&m.TTL)
				}
				return g.raw(&m.TTL)
			}
			_, err := f.p.skip()
			return err
		})
		if err != nil {
			return err
		}
	default:
		if _, err := f.p.skip(); err != nil {
			return err
		}
	}
	m.Value = Span{start, f.p.pos}
	f.marked = true
	if f.stays {
		m.Member = Span{f.prevEnd, f.p.pos}
	} else {
		m.Member = Span{f.key, f.p.pos}
		f.cut = m
	}
	*dst = m
	return nil
}

// oneMark chooses between the marks of a definition and of the object inside it,
// either of which may be nil: the first counts, the second is a stray.
func (p *parser) oneMark(outer, inner *Mark) *Mark {
	switch {
	case outer == nil:
		return inner
	case inner == nil:
		return outer
	case inner.Value.Start < outer.Value.Start:
		outer, inner = inner, outer
	}
	p.strays = append(p.strays, inner)
	return outer
}

// takeStrays hands over the strays found since it was last called, in the order
// of their places.
func (p *parser) takeStrays() []*Mark {
	found := p.strays
	p.strays = nil
	slices.SortFunc(found, func(a, b *Mark) int { return a.Value.Start - b.Value.Start })
	return found
}

// stray notes the marks of blocks that the model does not keep.
func (p *parser) stray(blocks []Block) {
	for i := range blocks {
		if blocks[i].Mark != nil {
			p.strays = append(p.strays, blocks[i].Mark)
		}
	}
}

// strayParts notes the marks on parts of tool results that stand inside another block, and
// takes them off: the model has marks on the parts of a message's own results only.
func (p *parser) strayParts(blocks []Block) {
	for i := range blocks {
		parts := blocks[i].Result
		p.stray(parts)
		for k := range parts {
			parts[k].Mark = nil
		}
	}
}

// strayIn reads a value that is of no interest but for a mark on it.
func (p *parser) strayIn() *Error {
	p.space()
	if p.peek() != '{' {
		_, err := p.skip()
		return err
	}
	var mark *Mark
	err := p.fields(func(key string, f *field) *Error {
		if key == "cache_control" {
			return f.mark(&mark)
		}
		_, err := p.skip()
		return err
	})
	if mark != nil {
		p.strays = append(p.strays, mark)
	}
	return err
}

// fields visits the members of an object that the domain model interprets, and
// puts a member's key in front of the path of an error that its visit returns. A
// key that occurs twice is refused: readers disagree on which of the two counts.
func (p *parser) fields(visit func(key string, f *field) *Error) *Error {
	f, err := p.openObject()
	for err == nil {
		var key string
		var more bool
		if key, more, err = f.next(); err != nil || !more {
			return err
		}
		if err = visit(key, f); err != nil {
			return err.under(clip(key, 40))
		}
	}
	return err
}

// openObject enters an object whose members are then read with [field.next], up to the
// last one. It is [parser.fields] for the objects of which there are many.
func (p *parser) openObject() (*field, *Error) {
	if err := p.begin('{', "an object"); err != nil {
		return nil, err
	}
	if p.nested == len(p.open) {
		p.open = append(p.open, &field{p: p})
	}
	f := p.open[p.nested]
	p.nested++
	f.key, f.prevEnd, f.stays, f.cut = -1, -1, false, nil
	f.seen.n, f.seen.many = 0, nil
	return f, nil
}

// next moves on to the next member and returns its key. Behind the last one it reports
// false, and the field is free for another object.
func (f *field) next() (string, bool, *Error) {
	p := f.p
	first := f.key < 0
	if !first {
		f.stays = f.stays || !f.marked
		f.prevEnd = p.pos
	}
	at, err := p.member(first)
	if err != nil {
		return "", false, err
	}
	if at == (Span{}) {
		p.nested--
		return "", false, nil
	}
	key := p.name(at)
	if !f.seen.add(key) {
		return "", false, p.fail(at.Start, "duplicate key "+Quote(clip(key, 40)))
	}
	if f.cut != nil {
		f.cut.Member.End = at.Start
		f.cut = nil
	}
	f.key, f.marked = at.Start, false
	return key, true, nil
}

// keySet finds repeated keys without quadratic cost on objects with many keys.
type keySet struct {
	few  [12]string
	n    int
	many map[string]struct{}
}

func (k *keySet) add(key string) bool {
	if k.many != nil {
		if _, dup := k.many[key]; dup {
			return false
		}
		k.many[key] = struct{}{}
		return true
	}
	for _, have := range k.few[:k.n] {
		if have == key {
			return false
		}
	}
	if k.n < len(k.few) {
		k.few[k.n] = key
		k.n++
		return true
	}
	k.many = make(map[string]struct{}, 4*len(k.few))
	for _, have := range k.few {
		k.many[have] = struct{}{}
	}
	k.many[key] = struct{}{}
	return true
}
