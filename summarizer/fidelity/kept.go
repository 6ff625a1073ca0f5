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
		words := newWording(summary)
		for i := range x.statements {
			s := &x.statements[i]
			s.summarized = words.tells(s.text)
		}
	})
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

// facts lists what was found, those that matter most first.
func (x *index) facts() []*fact {
	var out []*fact
	for i := range x.names {
		n := &x.names[i]
		if !n.isFact() {
			continue
		}
		f := &fact{kind: n.kind, text: n.text, index: x.reader.passages[n.last].index, weight: x.weigh(n), kept: n.summarized, name: n}
		out = append(out, f)
	}
	seen := make(map[string]bool)
	for i := range x.statements {
		s := &x.statements[i]
		if seen[s.text] {
			continue
		}
		seen[s.text] = true
		out = append(out, &fact{kind: s.kind, text: s.text, index: s.index, weight: s.weight, kept: s.summarized, statement: s})
	}
	slices.SortFunc(out, func(a, b *fact) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.index, a.index), cmp.Compare(a.kind, b.kind), strings.Compare(a.text, b.text))
	})
	return out
}

// wording finds the line of a summary that has most words of a statement.
type wording struct {
	first map[string]int32
	posts []post
	hits  []int16
	seen  []int32 // lines with hits
}

// post is one line with a word, and the place of the next.
type post struct{ line, next int32 }

// maxPosts is how many lines with one word are compared.
const maxPosts = 32

// tellsShare is the share of a statement's words that a line must have to tell it.
const tellsShare = 0.7

func newWording(summary string) *wording {
	w := &wording{first: make(map[string]int32)}
	lines := int32(0)
	var counts []uint8
	for line := range strings.SplitSeq(summary, "\n") {
		eachWord(line, func(word string) {
			at, ok := w.first[word]
			if !ok {
				at = int32(len(w.posts))
				w.first[word] = at
				w.posts = append(w.posts, post{lines, -1})
				counts = append(counts, 1)
				return
			}
			if w.posts[at].line == lines || counts[at] >= maxPosts {
				return
			}
			// The newest line with the word stands first.
			old := w.posts[at]
			w.posts[at] = post{lines, int32(len(w.posts))}
			w.posts = append(w.posts, old)
			counts[at]++
			counts = append(counts, 0)
		})
		lines++
	}
	w.hits = make([]int16, lines)
	return w
}

// tells reports whether one line has most of the words of a statement.
func (w *wording) tells(s string) bool {
	words, best := 0, int16(0)
	var last string
	eachWord(s, func(word string) {
		if word == last || words >= 64 {
			return
		}
		last = word
		words++
		at, ok := w.first[word]
		if !ok {
			return
		}
		for ; at >= 0; at = w.posts[at].next {
			line := w.posts[at].line
			if w.hits[line] == 0 {
				w.seen = append(w.seen, line)
			}
			w.hits[line]++
			best = max(best, w.hits[line])
		}
	})
	for _, line := range w.seen {
		w.hits[line] = 0
	}
	w.seen = w.seen[:0]
	return words > 0 && float64(best) >= tellsShare*float64(words)
}

// eachWord calls yield for the words of a text that carry meaning, in small
// letters.
func eachWord(text string, yield func(string)) {
	facts.Terms(text, func(start, end int, c facts.Class) {
		if c == facts.Word && end-start < 4 || c == facts.Pair || c == facts.Path && start > 0 && text[start-1] == '/' {
			return
		}
		yield(strings.ToLower(text[start:end]))
	})
}
