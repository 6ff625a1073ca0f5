package fidelity

import (
	"strings"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// wording finds the line of a summary that has most words of a statement. It knows the
// words of the statements before there is a summary, and looks for no others.
type wording struct {
	ids        map[string]int32
	statements [][]int32 // the words of each
	words      []standing
	posts      []post
	hits       []int16
	seen       []int32 // lines with hits
	small      [64]byte
}

// standing is where a word stands in the summary: its newest post, -1 for none, and how many
// there are.
type standing struct {
	first int32
	posts uint8
}

// post is one line with a word, and the place of the next.
type post struct{ line, next int32 }

const (
	// maxPosts is how many lines with one word are compared.
	maxPosts = 32
	// maxWords is how many words of a statement are looked for.
	maxWords = 64
	// tellsShare is the share of a statement's words that a line must have to tell it.
	tellsShare = 0.7
)

func newWording(statements []statement) *wording {
	w := &wording{ids: make(map[string]int32), statements: make([][]int32, len(statements))}
	for i := range statements {
		last, words := "", w.statements[i]
		eachWord(statements[i].text, func(word string) {
			word = strings.ToLower(word)
			if word == last || len(words) >= maxWords {
				return
			}
			last = word
			id, known := w.ids[word]
			if !known {
				id = int32(len(w.words))
				w.ids[word] = id
				w.words = append(w.words, standing{first: -1})
			}
			words = append(words, id)
		})
		w.statements[i] = words
	}
	return w
}

// read finds the words in a summary. It is called once.
func (w *wording) read(summary string) {
	lines := int32(0)
	for line := range strings.SplitSeq(summary, "\n") {
		eachWord(line, func(word string) {
			id, known := w.id(word)
			if !known {
				return
			}
			f := &w.words[id]
			if f.first >= 0 && w.posts[f.first].line == lines || f.posts >= maxPosts {
				return
			}
			w.posts = append(w.posts, post{lines, f.first})
			f.first = int32(len(w.posts) - 1)
			f.posts++
		})
		lines++
	}
	w.hits = make([]int16, lines)
}

// id is the number of a word, which may have capitals.
func (w *wording) id(word string) (int32, bool) {
	if len(word) > len(w.small) {
		id, known := w.ids[strings.ToLower(word)]
		return id, known
	}
	for i := range len(word) {
		c := word[i]
		if c >= utf8.RuneSelf {
			id, known := w.ids[strings.ToLower(word)]
			return id, known
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		w.small[i] = c
	}
	id, known := w.ids[string(w.small[:len(word)])]
	return id, known
}

// tells reports whether one line of the summary has most of the words of a statement.
func (w *wording) tells(statement int) bool {
	words, best := w.statements[statement], int16(0)
	for _, id := range words {
		for at := w.words[id].first; at >= 0; at = w.posts[at].next {
			line := w.posts[at].line
			if w.hits[line] == 0 {
				w.seen = append(w.seen, line)
			}
			w.hits[line]++
			best = max(best, w.hits[line])
		}
	}
	for _, line := range w.seen {
		w.hits[line] = 0
	}
	w.seen = w.seen[:0]
	return len(words) > 0 && float64(best) >= tellsShare*float64(len(words))
}

// eachWord calls yield for the words of a text that carry meaning.
func eachWord(text string, yield func(string)) {
	facts.Terms(text, func(start, end int, c facts.Class) {
		if c == facts.Word && end-start < 4 || c == facts.Pair || c == facts.Path && start > 0 && text[start-1] == '/' {
			return
		}
		yield(text[start:end])
	})
}
