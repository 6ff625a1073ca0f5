package extractive

import (
	"math"
	"runtime"
	"slices"
	"strings"
)

// group is the units chosen from one passage.
type group struct {
	passage int32
	units   []int32
	line    int // bytes on the line being filled
}

// maxGroupLine is the size in bytes after which chosen units begin a new line.
const maxGroupLine = 360

// newShare is the share of new worth under which a unit repeats what stands in
// the summary.
const newShare = 0.3

// mostlySaid reports whether a unit would repeat more than it adds, and adds no fact.
func (f *filler) mostlySaid(unit int32) bool {
	refs := f.refs[f.units[unit].first:f.units[unit].last]
	for _, id := range refs {
		if !f.covered[id] && f.lex.terms[id].class.Fact() {
			return false
		}
	}
	return f.gain(refs) < newShare*f.worth(refs)
}

// candidate is a unit or a note that competes by what it adds. Notes have numbers below
// 0: the first in filler.leftovers has -1.
type candidate struct {
	key  float64
	unit int32
}

// candidates is a heap, the best on top. Of equal ones the newer is better, so no two
// are alike and the order of the heap never shows.
type candidates []candidate

func (c candidates) better(i, j int) bool {
	if c[i].key != c[j].key {
		return c[i].key > c[j].key
	}
	return c[i].unit > c[j].unit
}

// sink moves the candidate at i down to where it belongs.
func (c candidates) sink(i int) {
	for {
		best := 2*i + 1
		if best >= len(c) {
			return
		}
		if best+1 < len(c) && c.better(best+1, best) {
			best++
		}
		if !c.better(best, i) {
			return
		}
		c[i], c[best] = c[best], c[i]
		i = best
	}
}

// heap makes a heap of candidates in any order.
func (c candidates) heap() {
	for i := len(c)/2 - 1; i >= 0; i-- {
		c.sink(i)
	}
}

// pop takes the best candidate off.
func (c *candidates) pop() candidate {
	list := *c
	top, last := list[0], len(list)-1
	list[0] = list[last]
	*c = list[:last]
	c.sink(0)
	return top
}

// candidatesBetween is how many candidates are looked at before others may have the
// processor.
const candidatesBetween = 256

// facts spends tokens on the units that add most: greedy coverage of weighted
// terms with a lazy heap. A term counts once, so what was said already adds
// nothing, and gains only fall, which makes the laziness exact.
func (f *filler) facts(most int, relevantOnly bool) error {
	f.grow()
	keys := make([]float64, len(f.units))
	inParts(len(keys), func(from, to int) {
		for u := from; u < to; u++ {
			if !relevantOnly || f.relevance[u] != 0 {
				keys[u] = f.density(int32(u))
			}
		}
	})
	h := make(candidates, 0, len(keys))
	for u, key := range keys {
		if key > 0 {
			h = append(h, candidate{key: key, unit: int32(u)})
		}
	}
	if !relevantOnly {
		h = f.withLeftovers(h)
	}
	h.heap()
	spent, misses := 0, 0
	for n := 1; len(h) > 0 && misses < 40; n++ {
		if n%candidatesBetween == 0 {
			runtime.Gosched()
		}
		top := &h[0]
		key := f.density(top.unit)
		if key <= 0 {
			h.pop()
			continue
		}
		if key < top.key*0.999 {
			top.key = key
			h.sink(0)
			continue
		}
		unit := h.pop().unit
		if unit >= 0 && (f.mostlySaid(unit) || f.sameAlarm(unit)) {
			continue
		}
		room := min(most-spent, f.left())
		if room <= 2 {
			return nil
		}
		cost, err := f.buy(unit, room)
		if err != nil {
			return err
		}
		if cost == 0 {
			misses++
		}
		spent += cost
	}
	return nil
}

// withLeftovers adds the notes their sections had no room for.
func (f *filler) withLeftovers(h candidates) candidates {
	for s := range f.notes {
		for _, list := range [][]*note{f.notes[s], f.carried[s]} {
			for _, n := range list {
				if n.taken {
					continue
				}
				if key := f.noteDensity(n); key > 0 {
					f.leftovers = append(f.leftovers, n)
					h = append(h, candidate{key: key, unit: -int32(len(f.leftovers))})
				}
			}
		}
	}
	return h
}

// density is what a candidate adds for each token it costs.
func (f *filler) density(unit int32) float64 {
	if unit < 0 {
		return f.noteDensity(f.leftovers[-1-unit])
	}
	u := &f.units[unit]
	gain := f.gain(f.refs[u.first:u.last])
	if gain == 0 {
		return 0
	}
	gain *= f.factors[u.passage]
	if u.flags&flagAlarm != 0 {
		gain *= 1.2
	}
	if !f.query.empty() {
		gain *= 1 + 0.15*f.relevance[unit]
	}
	return gain / bulk(u.text)
}

func (f *filler) noteDensity(n *note) float64 {
	gain := f.gain(n.refs) * n.voice.weight()
	if n.age > 0 {
		gain *= 2 * math.Pow(ageing, float64(n.age))
	} else {
		gain *= 0.7 + 0.3*float64(n.turn+1)/float64(f.script.turns+1)
	}
	return 0.7 * gain / bulk(n.text)
}

// bulk is what a line counts as in the comparison. Less than its length: a line
// that carries five facts reads better than five scraps.
func bulk(text string) float64 {
	if len(text) < len(bulks) {
		return bulks[len(text)]
	}
	return bulkOf(len(text))
}

func bulkOf(bytes int) float64 { return math.Pow(estimate(bytes)+3, 0.8) }

// bulks holds the values for the sizes that units have. It is never written to.
var bulks = func() (t [maxSentence + 64]float64) {
	for n := range t {
		t[n] = bulkOf(n)
	}
	return t
}()

// gain is the worth of the terms that are not in the summary yet.
func (f *filler) gain(refs []int32) float64 {
	sum := 0.0
	for i, id := range refs {
		if f.covered[id] {
			continue
		}
		dup := false
		for _, have := range refs[max(0, i-8):i] {
			if have == id {
				dup = true
				break
			}
		}
		if !dup {
			sum += f.weights[id]
		}
	}
	return sum
}

// buy takes a candidate if it fits and returns what it cost, 0 if it does not.
func (f *filler) buy(unit int32, room int) (int, error) {
	if unit < 0 {
		n := f.leftovers[-1-unit]
		cost, err := f.price(n, room)
		if err != nil || cost > room {
			return 0, err
		}
		f.accept(n, cost)
		return cost, nil
	}
	u := &f.units[unit]
	text := f.quote(unit)
	if hopeless(text, room) {
		return 0, nil
	}
	cost, err := f.count(f.ctx, " | "+text)
	if err != nil {
		return 0, err
	}
	g := f.picked[u.passage]
	if g == nil || g.line+len(text) > maxGroupLine {
		head, err := f.headings(sectionCritical)
		if err != nil {
			return 0, err
		}
		label, err := f.count(f.ctx, f.label(u.passage)+"\n")
		if err != nil {
			return 0, err
		}
		cost += head + label
	}
	if cost > room {
		return 0, nil
	}
	if g == nil {
		g = &group{passage: u.passage}
		f.picked[u.passage] = g
		f.groups = append(f.groups, g)
	}
	if g.line+len(text) > maxGroupLine {
		g.line = 0
	}
	g.line += len(text)
	g.units = append(g.units, unit)
	f.quotes[unit] = text
	f.used += cost
	f.opened(sectionCritical)
	f.cover(f.refs[u.first:u.last])
	if u.flags&flagAlarm != 0 && len(f.alarms) < maxAlarms {
		f.alarms = append(f.alarms, errorShape(u.text))
	}
	f.history = append(f.history, choice{unit: unit, cost: cost})
	return cost, nil
}

// maxAlarms is the number of error lines that later ones are compared with.
const maxAlarms = 200

// sameAlarm reports whether a unit is an error line that was quoted before, but
// for its numbers.
func (f *filler) sameAlarm(unit int32) bool {
	return f.units[unit].flags&flagAlarm != 0 && slices.Contains(f.alarms, errorShape(f.units[unit].text))
}

// errorShape is the beginning of an error line without what changes from one
// occurrence to the next: numbers, hashes, times.
func errorShape(text string) string {
	var sb strings.Builder
	for i := 0; i < len(text) && sb.Len() < 60; i++ {
		c := text[i]
		if c >= '0' && c <= '9' {
			if sb.Len() == 0 || sb.String()[sb.Len()-1] != '#' {
				sb.WriteByte('#')
			}
			continue
		}
		sb.WriteByte(c)
	}
	return sb.String()
}
