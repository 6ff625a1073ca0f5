package extractive

import (
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/internal/parallel"
)

// chunkSize is the size in bytes of the passages that are cut together: some
// milliseconds' work. It does not depend on the machine, and neither does the result.
const chunkSize = 128 << 10

// chunk is some passages in a row, all of the turns they belong to.
type chunk struct {
	from, to int // passages
	cutter   cutter
	// units and refs are how many stand before those of the chunk; ids are the numbers
	// of its terms in the joint lexicon.
	units, refs int
	ids         []int32
}

// cut cuts all passages into units and notes every term: in chunks, on as many
// processors as there are, joined in order.
func cut(s *script, q *query, known *memo.Memo, spare *spares) (*lexicon, []unit, []int32) {
	return join(s, q, cutChunks(s, chunksOf(s), known, spare), spare)
}

// cutChunks cuts every chunk by itself.
func cutChunks(s *script, chunks []chunk, known *memo.Memo, spare *spares) []chunk {
	seed := known.Seed()
	parallel.Each(len(chunks), func(i int) {
		k := &chunks[i]
		bytes := 0
		for p := k.from; p < k.to; p++ {
			bytes += len(s.passages[p].text)
		}
		size := bytes
		if i == 0 {
			size = s.bytes // its lexicon takes the others in
		}
		k.cutter = cutter{script: s, lex: spare.lexicon(seed, size), units: spare.unitSlice(bytes/64 + 16), refs: spare.refSlice(bytes/8 + 16)}
		k.cutter.run(k.from, k.to, known)
	})
	return chunks
}

// join puts the chunks together. The first lexicon takes the others in.
func join(s *script, q *query, chunks []chunk, spare *spares) (*lexicon, []unit, []int32) {
	lex := chunks[0].cutter.lex
	lex.query = q
	units, refs := 0, 0
	for i := range chunks {
		k := &chunks[i]
		k.units, k.refs = units, refs
		units += len(k.cutter.units)
		refs += len(k.cutter.refs)
		if i > 0 {
			k.ids = lex.absorb(k.cutter.lex, int32(k.units))
			spare.putLexicon(k.cutter.lex)
		}
	}
	j := joint{script: s, units: spare.unitSlice(units)[:units], refs: spare.refSlice(refs)[:refs], alarms: make([]bool, len(lex.terms)), facts: make([]bool, len(lex.terms))}
	inParts(len(lex.terms), func(from, to int) {
		for id := from; id < to; id++ {
			t := &lex.terms[id]
			t.query = q.match(t.text)
			j.alarms[id], j.facts[id] = t.alarm, t.class.Fact()
		}
	})
	parallel.Each(len(chunks), func(i int) {
		j.add(&chunks[i])
		spare.putUnits(chunks[i].cutter.units)
		spare.putRefs(chunks[i].cutter.refs)
	})
	return lex, j.units, j.refs
}

// chunksOf parts the passages, one chunk at least.
func chunksOf(s *script) []chunk {
	var out []chunk
	from, bytes := 0, 0
	for p := range s.passages {
		if bytes >= chunkSize && s.passages[p].turn != s.passages[p-1].turn {
			out = append(out, chunk{from: from, to: p})
			from, bytes = p, 0
		}
		bytes += len(s.passages[p].text)
	}
	return append(out, chunk{from: from, to: len(s.passages)})
}

// joint is where the chunks come together. alarms and facts say of each term whether
// it tells of an error, and whether it is a fact.
type joint struct {
	script        *script
	units         []unit
	refs          []int32
	alarms, facts []bool
}

// add puts the units of a chunk in their place. Chunks can be added at the same time.
func (j *joint) add(k *chunk) {
	refs := j.refs[k.refs : k.refs+len(k.cutter.refs)]
	copy(refs, k.cutter.refs)
	if k.ids != nil {
		for i, id := range refs {
			refs[i] = k.ids[id]
		}
	}
	for p := k.from; p < k.to; p++ {
		pa := &j.script.passages[p]
		for u := pa.first; u < pa.last; u++ {
			un := k.cutter.units[u]
			alarm := false
			for _, id := range refs[un.first:un.last] {
				alarm = alarm || j.alarms[id]
				if j.facts[id] {
					pa.facts++
				}
			}
			if alarm {
				un.flags |= flagAlarm
			}
			un.first += int32(k.refs)
			un.last += int32(k.refs)
			j.units[k.units+u] = un
		}
		pa.first += k.units
		pa.last += k.units
	}
}

// inParts shares a loop over n small things among the processors.
func inParts(n int, work func(from, to int)) {
	const size = 1 << 10
	parallel.Each((n+size-1)/size, func(i int) { work(i*size, min((i+1)*size, n)) })
}
