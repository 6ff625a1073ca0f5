package fidelity

import (
	"cmp"
	"slices"
	"strings"

	"github.com/elbowroom/elbowroom/internal/parallel"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// fact is a name or a statement with its fate.
type fact struct {
	kind           kind
	text           string
	index          int
	weight         float64
	kept, repaired bool
	name           *name      // nil for a statement
	statement      *statement // nil for a name
}

// markKept marks what stands in the summary: names at the borders of words,
// statements by the words of one line.
func (x *index) markKept(summary string) {
	parallel.Both(func() {
		x.markNames(summary, func(n *name) { n.summarized = true })
	}, func() {
		if len(x.statements) == 0 {
			return
		}
		x.wording.read(summary)
		for i := range x.statements {
			x.statements[i].summarized = x.wording.tells(i)
		}
	})
	for _, f := range x.found {
		f.kept = f.name != nil && f.name.summarized || f.statement != nil && f.statement.summarized
	}
}

// markNames calls mark for every name of the source that stands in a text.
func (x *index) markNames(text string, mark func(*name)) {
	found := func(s string) {
		if !x.shapes.mayHave(s) {
			return
		}
		if id, ok := x.ids[s]; ok {
			mark(&x.names[id])
		}
	}
	look := func(text string) {
		facts.Terms(text, func(start, end int, c facts.Class) {
			if c < facts.Caps {
				return
			}
			found(text[start:end])
			if c == facts.Number && end-start == 3 {
				if _, _, joined, _ := grouped(text, start, end); joined != "" {
					found(joined)
				}
			}
		})
		eachName(text, nil, found)
	}
	look(text)
	// No name reaches over the end of a line, so only lines that change are looked at again.
	for line := range strings.Lines(text) {
		if plain := withoutEscapes(plainSigns(line)); plain != line {
			look(plain)
		}
	}
}

// facts lists what was found, those that matter most first. Which of them stand in a
// summary is not known yet.
func (x *index) facts() []*fact {
	var out []*fact
	for i := range x.names {
		n := &x.names[i]
		if !n.isFact() {
			continue
		}
		f := &fact{kind: n.kind, text: n.text, index: x.reader.passages[n.last].index, weight: x.weigh(n), name: n}
		out = append(out, f)
	}
	seen := make(map[string]bool)
	for i := range x.statements {
		s := &x.statements[i]
		if seen[s.text] {
			continue
		}
		seen[s.text] = true
		out = append(out, &fact{kind: s.kind, text: s.text, index: s.index, weight: s.weight, statement: s})
	}
	slices.SortFunc(out, func(a, b *fact) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.index, a.index), cmp.Compare(a.kind, b.kind), strings.Compare(a.text, b.text))
	})
	return out
}
