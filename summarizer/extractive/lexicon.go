package extractive

import (
	"hash/maphash"
	"math"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// shapeWeight says how much a term of each class is worth before rarity and use.
// Words count a little: that is what makes prose compete at all.
func shapeWeight(c facts.Class) float64 {
	switch c {
	case facts.Gram:
		return 0.03
	case facts.Word:
		return 0.03
	case facts.Name:
		return 0.12
	case facts.Caps:
		return 0.4
	case facts.Kebab, facts.Pair:
		return 0.4
	case facts.Number:
		return 0.7
	default:
		return 1
	}
}

// term is one distinct string met in the middle.
type term struct {
	text  string
	hash  uint64
	class facts.Class
	alarm bool // it tells of an error
	// voices has a bit for each voice that used the term.
	voices uint8
	// units and turns count where it occurs; lastTurn is the newest turn.
	units, turns int32
	lastTurn     int32
	lastUnit     int32
	// query is the number of the query term it matches, -1 for none.
	query int16
}

// lexicon numbers terms in order of appearance. It is a hash table of its own
// because the keys are substrings that are hashed while they are hot; its order
// never shows in any output. Terms with the same hash are taken for the same: of a
// hundred thousand terms two share one in one of some thousand million conversations,
// and would be counted together.
type lexicon struct {
	seed  maphash.Seed
	slots []slot
	terms []term
	query *query
}

// slot is the number of a term plus one, 0 for an empty slot, and the upper half of the
// term's hash, so that other terms need not be looked at.
type slot struct {
	hash uint32
	term int32
}

// newLexicon returns a lexicon for so many bytes of text. Lexicons that are joined
// share a seed.
func newLexicon(seed maphash.Seed, bytes int) *lexicon {
	size := 1 << 10
	for size < bytes/12 && size < 1<<20 {
		size <<= 1
	}
	return &lexicon{seed: seed, slots: make([]slot, size), terms: make([]term, 0, bytes/50+16)}
}

// id returns the number of a term. The class of its first appearance stays.
func (x *lexicon) id(text string, c facts.Class) int32 {
	hash := maphash.String(x.seed, text)
	id, known := x.find(hash)
	if !known {
		x.terms = append(x.terms, term{text: text, hash: hash, class: c, alarm: facts.Alarming(text, c), lastTurn: -1, lastUnit: -1, query: x.query.match(text)})
	}
	return id
}

// find returns the number of the term with a hash, or the number that the next new term
// gets.
func (x *lexicon) find(hash uint64) (id int32, known bool) {
	if 2*len(x.terms) >= len(x.slots) {
		x.grow()
	}
	mask, upper := uint64(len(x.slots)-1), uint32(hash>>32)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := &x.slots[at]
		if s.term == 0 {
			*s = slot{upper, int32(len(x.terms) + 1)}
			return int32(len(x.terms)), false
		}
		if s.hash == upper && x.terms[s.term-1].hash == hash {
			return s.term - 1, true
		}
	}
}

// absorb adds the terms of a later text, whose units are numbered from first on. It
// returns their numbers here.
func (x *lexicon) absorb(later *lexicon, first int32) []int32 {
	ids := make([]int32, len(later.terms))
	for i := range later.terms {
		t := &later.terms[i]
		id, known := x.find(t.hash)
		ids[i] = id
		if !known {
			x.terms = append(x.terms, *t)
			x.terms[id].lastUnit += first
			continue
		}
		have := &x.terms[id]
		have.voices |= t.voices
		have.units += t.units
		have.turns += t.turns
		have.lastTurn, have.lastUnit = t.lastTurn, t.lastUnit+first
	}
	return ids
}

func (x *lexicon) grow() {
	slots := make([]slot, 2*len(x.slots))
	mask := uint64(len(slots) - 1)
	for i := range x.terms {
		hash := x.terms[i].hash
		at := hash & mask
		for slots[at].term != 0 {
			at = (at + 1) & mask
		}
		slots[at] = slot{uint32(hash >> 32), int32(i + 1)}
	}
	x.slots = slots
}

// seen notes an occurrence of a term.
func (t *term) seen(unit, turn int32, v voice) {
	t.voices |= 1 << v
	if t.lastUnit != unit {
		t.lastUnit = unit
		t.units++
	}
	if t.lastTurn != turn {
		t.lastTurn = turn
		t.turns++
	}
}

// weights computes the worth of every term: its shape, times how rare it is
// among the lines, times in how many messages it was used again. The last two
// need no dictionary and no fact class, so they hold for kinds of names nobody
// thought of.
func (x *lexicon) weights(units int) []float64 {
	w := make([]float64, len(x.terms))
	for i := range x.terms {
		t := &x.terms[i]
		if t.units == 0 {
			continue
		}
		rarity := math.Log(1 + float64(units)/float64(t.units))
		reuse := 1 + math.Log2(float64(t.turns))
		w[i] = shapeWeight(t.class) * rarity * reuse
		// A name that the assistant took up is one it works with.
		if t.turns > 1 && t.voices&(1<<voiceAssistant|1<<voiceCall) != 0 {
			w[i] *= 1.5
		}
	}
	return w
}
