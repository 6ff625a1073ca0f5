package extractive

import (
	"hash/maphash"
	"sync"
)

// spares are the large pieces of memory that one summary leaves for the next. They hold
// nothing of it any more. The zero value is ready to use; nil spares nothing.
type spares struct {
	lexicons, units, refs sync.Pool
}

// spareMost bounds what is kept, in elements: a very large summary does not leave its
// memory behind for small ones.
const spareMost = 1 << 19

func (s *spares) lexicon(seed maphash.Seed, bytes int) *lexicon {
	if s != nil {
		if x, ok := s.lexicons.Get().(*lexicon); ok {
			x.seed = seed
			return x
		}
	}
	return newLexicon(seed, bytes)
}

func (s *spares) putLexicon(x *lexicon) {
	if s == nil || len(x.slots) > spareMost {
		return
	}
	clear(x.slots)
	clear(x.terms)
	x.terms, x.query = x.terms[:0], nil
	s.lexicons.Put(x)
}

// unitSlice and refSlice return a slice of no elements and room for n.
func (s *spares) unitSlice(n int) []unit {
	if s != nil {
		if p, ok := s.units.Get().(*[]unit); ok && cap(*p) >= n {
			return (*p)[:0]
		}
	}
	return make([]unit, 0, n)
}

func (s *spares) refSlice(n int) []int32 {
	if s != nil {
		if p, ok := s.refs.Get().(*[]int32); ok && cap(*p) >= n {
			return (*p)[:0]
		}
	}
	return make([]int32, 0, n)
}

func (s *spares) putUnits(units []unit) {
	if s == nil || cap(units) == 0 || cap(units) > spareMost {
		return
	}
	clear(units[:cap(units)])
	s.units.Put(&units)
}

func (s *spares) putRefs(refs []int32) {
	if s == nil || cap(refs) == 0 || cap(refs) > 4*spareMost {
		return
	}
	s.refs.Put(&refs)
}
