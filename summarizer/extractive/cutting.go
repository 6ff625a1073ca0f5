package extractive

import (
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// cutting is what cutting one text came to. It depends on the text and the voice alone,
// holds on to neither, and is never changed.
type cutting struct {
	// text is that of the units, one after the other, then of the terms that were met
	// first in units that were taken back.
	text  string
	terms []cutTerm
	units []cutUnit
	refs  []int32 // numbers of terms, unit by unit
	// ending is that of a tool's text.
	ending ending
}

// cutTerm is one distinct term: text[at:at+size].
type cutTerm struct {
	hash uint64 // by the memo's seed
	at   uint32
	// units counts the units with it; first and last are the numbers of such units, those
	// that were taken back included.
	units, first, last int32
	size               uint8 // maxima of package facts are below 256
	class              facts.Class
	alarm              bool
}

// cutUnit is a unit as in [unit], its text as text[at:at+size].
type cutUnit struct {
	at, size    uint32
	first, last int32 // in refs
	flags       uint8
}

// Sizes in memory, in bytes.
const (
	cutTermBytes = 32
	cutUnitBytes = 20
)

// bytes is what a cutting takes in memory.
func (k *cutting) bytes() int {
	return len(k.text) + cutTermBytes*len(k.terms) + cutUnitBytes*len(k.units) + 4*len(k.refs)
}

// tape notes the terms of one text in the order in which they are met.
type tape struct {
	met []meeting
	// marks holds the local number of each term of the lexicon, where the upper half is
	// that of the text at hand.
	marks []uint64
	text  uint64
}

// meeting is one occurrence of a term: in which unit, and where in its text.
type meeting struct {
	id, unit int32
	start    uint32
	class    facts.Class
	// gone says that the unit was taken back: its terms stay counted without it.
	gone bool
}

// here is the place of the next meeting on the tape, 0 without a tape.
func (t *tape) here() int {
	if t == nil {
		return 0
	}
	return len(t.met)
}

// takeBack notes that the units behind a place on the tape are gone.
func (t *tape) takeBack(from int) {
	if t == nil {
		return
	}
	for i := from; i < len(t.met); i++ {
		t.met[i].gone = true
	}
}

// cutNoting cuts the passage at hand and returns what came of it, to be done again.
func (c *cutter) cutNoting(p *passage) *cutting {
	t := &c.noted
	t.met = t.met[:0]
	firstUnit, firstRef := len(c.units), len(c.refs)
	c.tape = t
	c.split(p)
	c.tape = nil
	k := c.note(firstUnit, firstRef)
	k.ending = p.ending
	return k
}

// note makes a cutting of the units and refs of the cutter from these on, and of all
// terms on the tape.
func (c *cutter) note(firstUnit, firstRef int) *cutting {
	t, units := &c.noted, c.units[firstUnit:]
	t.text++
	if more := len(c.lex.terms) - len(t.marks); more > 0 {
		t.marks = append(t.marks, make([]uint64, more)...)
	}
	size := 0
	for i := range units {
		size += len(units[i].text)
	}
	text := make([]byte, 0, size)
	k := &cutting{units: make([]cutUnit, len(units)), refs: make([]int32, 0, len(c.refs)-firstRef)}
	base := int32(firstRef)
	for n := range units {
		u := &units[n]
		k.units[n] = cutUnit{at: uint32(len(text)), size: uint32(len(u.text)), first: u.first - base, last: u.last - base, flags: u.flags}
		text = append(text, u.text...)
	}
	terms := c.terms[:0]
	for i := range t.met {
		m := &t.met[i]
		n := m.unit - int32(firstUnit)
		mark := &t.marks[m.id]
		if *mark>>32 != t.text {
			*mark = t.text<<32 | uint64(len(terms))
			have := &c.lex.terms[m.id]
			now := cutTerm{hash: have.hash, size: uint8(len(have.text)), class: m.class, alarm: have.alarm, first: n, last: -1}
			if m.gone {
				now.at = uint32(len(text))
				text = append(text, have.text...)
			} else {
				now.at = k.units[n].at + m.start
			}
			if now.class != have.class {
				now.alarm = facts.Alarming(have.text, now.class)
			}
			terms = append(terms, now)
		}
		local := int32(*mark & (1<<32 - 1)) //nolint:gosec // counted as int32
		if !m.gone {
			k.refs = append(k.refs, local)
		}
		if have := &terms[local]; have.last != n {
			have.last = n
			have.units++
		}
	}
	c.terms = terms
	k.text, k.terms = string(text), append(make([]cutTerm, 0, len(terms)), terms...)
	return k
}

// paste does what cutting the passage at hand would do.
func (c *cutter) paste(k *cutting) {
	base, refs := int32(len(c.units)), int32(len(c.refs))
	ids := c.ids[:0]
	for i := range k.terms {
		t := &k.terms[i]
		id, known := c.lex.find(t.hash)
		if !known {
			text := k.text[t.at : t.at+uint32(t.size)]
			c.lex.terms = append(c.lex.terms, term{text: text, hash: t.hash, class: t.class, alarm: t.alarm, lastTurn: -1, lastUnit: -1, query: -1})
		}
		ids = append(ids, id)
		have := &c.lex.terms[id]
		have.units += t.units
		if have.lastUnit == base+t.first {
			have.units-- // a unit of the text before that was taken back had the same number
		}
		have.lastUnit = base + t.last
		have.voices |= 1 << c.voice
		if have.lastTurn != c.turn {
			have.lastTurn = c.turn
			have.turns++
		}
	}
	c.ids = ids
	for i := range k.units {
		u := &k.units[i]
		c.units = append(c.units, unit{text: k.text[u.at : u.at+u.size], passage: c.at, first: refs + u.first, last: refs + u.last, flags: u.flags})
	}
	for _, id := range k.refs {
		c.refs = append(c.refs, ids[id])
	}
}

// cut cuts the passage at hand, or does again what was remembered of it.
func (c *cutter) cut(p *passage, known *memo.Memo) {
	if known == nil || len(p.text) < memo.Least {
		c.split(p)
		return
	}
	key := known.Key(memo.Cut+memo.Kind(p.voice), p.text)
	if found, ok := known.Get(key); ok {
		k := found.(*cutting) //nolint:forcetypeassert // entries of a kind are of one type
		c.paste(k)
		p.ending = k.ending
		return
	}
	k := c.cutNoting(p)
	known.Put(key, k, k.bytes())
}
