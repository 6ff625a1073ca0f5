package extractive

import (
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// cutting is what cutting one text by itself came to. It depends on the text and the
// voice alone, holds on to neither, and is never changed.
type cutting struct {
	text  string // of the units, one after the other
	terms []cutTerm
	units []cutUnit
	refs  []int32 // numbers of terms, unit by unit
}

// cutTerm is one distinct term: text[at:at+size].
type cutTerm struct {
	hash uint64 // by the memo's seed
	at   uint32
	// units counts the units with it; first and last are the numbers of such units.
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

// tape notes what a cutter does with one text, to be done again without the text.
type tape struct {
	text   []byte
	starts []uint32 // of each distinct term, in text
	firsts []int32  // the unit each was met in first
	units  []uint32 // where each unit begins in text
}

// cutAlone cuts one passage by itself.
func (c *cutter) cutAlone(p *passage) *cutting {
	size := len(p.text)
	alone := cutter{
		script: c.script, lex: newLexicon(c.lex.seed, size), voice: c.voice,
		units: make([]unit, 0, size/64+4), refs: make([]int32, 0, size/8+8),
		tape: &tape{text: make([]byte, 0, size)},
	}
	alone.split(p)
	k := &cutting{
		text: string(alone.tape.text), terms: make([]cutTerm, len(alone.lex.terms)), units: make([]cutUnit, len(alone.units)),
		refs: append(make([]int32, 0, len(alone.refs)), alone.refs...),
	}
	for i := range k.terms {
		t := &alone.lex.terms[i]
		k.terms[i] = cutTerm{
			hash: t.hash, at: alone.tape.starts[i], size: uint8(len(t.text)), class: t.class, alarm: t.alarm,
			units: t.units, first: alone.tape.firsts[i], last: t.lastUnit,
		}
	}
	for i := range k.units {
		u := &alone.units[i]
		k.units[i] = cutUnit{at: alone.tape.units[i], size: uint32(len(u.text)), first: u.first, last: u.last, flags: u.flags}
	}
	return k
}

// paste does what cutting the passage at hand would do.
func (c *cutter) paste(k *cutting) {
	base, refs := int32(len(c.units)), int32(len(c.refs))
	ids := c.ids[:0]
	for i := range k.terms {
		t := &k.terms[i]
		text := k.text[t.at : t.at+uint32(t.size)]
		id, known := c.lex.find(text, t.hash)
		if !known {
			c.lex.terms = append(c.lex.terms, term{text: text, hash: t.hash, class: t.class, alarm: t.alarm, lastTurn: -1, lastUnit: -1, query: -1})
		}
		ids = append(ids, id)
		have := &c.lex.terms[id]
		have.units += t.units
		if have.lastUnit == base+t.first {
			have.units-- // a unit that was taken back had the same number
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
		c.paste(found.(*cutting)) //nolint:forcetypeassert // entries of a kind are of one type
		return
	}
	k := c.cutAlone(p)
	known.Put(key, k, k.bytes())
	c.paste(k)
}
