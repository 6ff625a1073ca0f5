package extractive

import (
	"cmp"
	"math"
	"slices"
)

// The constants of maximal marginal relevance: how much relevance counts beside
// newness, and how many sentences are compared at most.
const (
	lambda        = 0.7
	maxCandidates = 192
)

// weigh prepares what every comparison of units needs: the BM25 score of each against
// the focus or the newest request, and what the place of a passage multiplies its
// units' gain by.
func (f *filler) weigh() {
	f.relevance = make([]float64, len(f.units))
	if !f.query.empty() {
		inParts(len(f.units), func(from, to int) {
			for u := from; u < to; u++ {
				un := &f.units[u]
				f.relevance[u] = f.query.relevance(f.lex, f.refs[un.first:un.last], f.average)
			}
		})
	}
	f.factors = make([]float64, len(f.script.passages))
	for i := range f.factors {
		p := &f.script.passages[i]
		f.factors[i] = p.voice.weight() * f.recency(i) / math.Sqrt(math.Log2(4+float64(p.facts)))
	}
}

func (f *filler) anyRelevant() bool {
	for _, w := range f.query.weight {
		if w > 0 {
			return true
		}
	}
	return false
}

// prose takes sentences of the user and the assistant that bear on the newest
// request, by maximal marginal relevance: each must say something the ones
// before it did not.
func (f *filler) prose(most int) error {
	if f.query.empty() || most <= 0 {
		return nil
	}
	type scored struct {
		unit  int32
		score float64
		near  float64 // similarity to the nearest chosen sentence
		used  bool
	}
	var all []scored
	best := 0.0
	for u := range f.units {
		un := &f.units[u]
		v := f.script.passages[un.passage].voice
		if un.flags&flagProse == 0 || v != voiceUser && v != voiceAssistant {
			continue
		}
		if s := f.relevance[u] * f.recency(int(un.passage)); s > 0 {
			all = append(all, scored{unit: int32(u), score: s})
			best = max(best, s)
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Compare(b.unit, a.unit)
	})
	all = all[:min(len(all), maxCandidates)]
	spent := 0
	for range all {
		at, top := -1, -2.0
		for i := range all {
			if s := lambda*all[i].score/best - (1-lambda)*all[i].near; !all[i].used && s > top {
				at, top = i, s
			}
		}
		c := &all[at]
		c.used = true
		room := min(most-spent, f.left())
		if room <= 4 || top < 0.2 {
			return nil
		}
		if f.mostlySaid(c.unit) {
			continue
		}
		un := &f.units[c.unit]
		cost, err := f.buy(c.unit, room)
		if err != nil {
			return err
		}
		if cost == 0 {
			continue
		}
		spent += cost
		for i := range all {
			if !all[i].used {
				o := &f.units[all[i].unit]
				all[i].near = max(all[i].near, overlap(f.refs[o.first:o.last], f.refs[un.first:un.last]))
			}
		}
	}
	return nil
}

// overlap is the share of the terms of a that b has too.
func overlap(a, b []int32) float64 {
	if len(a) == 0 {
		return 0
	}
	hits := 0
	for _, id := range a {
		if slices.Contains(b[:min(len(b), 80)], id) {
			hits++
		}
	}
	return float64(hits) / float64(len(a))
}

// focus spends on what bears on the focus: sentences first, then any line.
func (f *filler) focus(most int) error {
	before := f.used
	if err := f.prose(most / 2); err != nil {
		return err
	}
	return f.facts(most-(f.used-before), true)
}
