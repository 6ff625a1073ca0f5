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
	parts := lineParts(summary)
	names := make([][]int32, len(parts))
	parallel.Each(1+len(parts), func(i int) {
		if i > 0 {
			names[i-1] = x.namesIn(parts[i-1])
			return
		}
		if len(x.statements) == 0 {
			return
		}
		x.wording.read(summary)
		for i := range x.statements {
			x.statements[i].summarized = x.wording.tells(i)
		}
	})
	for _, ids := range names {
		for _, id := range ids {
			x.names[id].summarized = true
		}
	}
	for _, f := range x.found {
		f.kept = f.name != nil && f.name.summarized || f.statement != nil && f.statement.summarized
	}
}

// lineParts cuts a text at ends of lines into parts that are worth another processor's
// while.
func lineParts(text string) []string {
	const size = 8 << 10 // bytes
	var parts []string
	for len(text) > size {
		end := strings.IndexByte(text[size:], '\n')
		if end < 0 {
			break
		}
		end += size + 1
		parts = append(parts, text[:end])
		text = text[end:]
	}
	return append(parts, text)
}

// namesIn lists the names of the source that stand in a text, some of them more than
// once.
func (x *index) namesIn(text string) []int32 {
	var out []int32
	found := func(s string) {
		if !x.shapes.mayHave(s) {
			return
		}
		if id, ok := x.ids[s]; ok {
			out = append(out, id)
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
	return out
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
