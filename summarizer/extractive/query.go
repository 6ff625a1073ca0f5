package extractive

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// query holds the words of the newest request, or of the focus, that lines are
// compared with.
type query struct {
	numbers map[string]int16
	// heads has a bit for every pair of characters that one of them begins with, short says
	// that one of them is shorter: most terms are found to match nothing without a search.
	heads [1 << 10]uint64
	short bool
	// weight is the inverse document frequency of each term, known after the scan.
	weight []float64
}

// newQuery reads the words of the texts. Words of one or two letters and the
// commonest English ones carry no meaning of their own.
func newQuery(texts ...string) *query {
	q := &query{numbers: make(map[string]int16)}
	for _, text := range texts {
		text = text[:min(len(text), 16<<10)]
		facts.Terms(text, func(start, end int, c facts.Class) {
			word := stem(text[start:end])
			if c == facts.Word && (len(word) < 3 || stopWord(word)) || len(q.numbers) >= math.MaxInt16 {
				return
			}
			if _, ok := q.numbers[word]; !ok {
				q.numbers[strings.Clone(word)] = int16(len(q.numbers))
				if len(word) < 2 {
					q.short = true
				} else {
					head := uint16(word[0])<<8 | uint16(word[1])
					q.heads[head>>6] |= 1 << (head & 63)
				}
			}
		})
	}
	return q
}

func (q *query) empty() bool { return len(q.numbers) == 0 }

// match returns the number of the query term that a term contains, -1 for none:
// the whole term, or one word of a compound name.
func (q *query) match(text string) int16 {
	if q == nil || len(q.numbers) == 0 || !q.mayMatch(text) {
		return -1
	}
	return q.find(text)
}

// find is match for a text that may well match.
func (q *query) find(text string) int16 {
	if n, ok := q.numbers[stem(text)]; ok {
		return n
	}
	start := 0
	for i := 1; i <= len(text); i++ {
		if i < len(text) && !facts.Joint(text[i]) && text[i] != '_' && !hump(text, i) {
			continue
		}
		if i-start >= 3 && i-start < len(text) {
			word := strings.TrimLeft(text[start:i], "_./-:@=+#%~")
			if n, ok := q.numbers[stem(word)]; ok && len(word) >= 3 {
				return n
			}
		}
		start = i
	}
	return -1
}

// mayMatch reports whether a word that match would look for begins like one of the
// query's.
func (q *query) mayMatch(text string) bool {
	if q.short {
		return true
	}
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return true // small letters may have another size
		}
		if i+1 == len(text) || i > 0 && (facts.Letter(text[i-1]) || facts.Digit(text[i-1])) && !hump(text, i) {
			continue // no word begins here
		}
		head := uint16(small(c))<<8 | uint16(small(text[i+1]))
		if q.heads[head>>6]&(1<<(head&63)) != 0 {
			return true
		}
	}
	return false
}

func small(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// hump reports whether a capital after a small letter stands at i.
func hump(text string, i int) bool {
	return text[i] >= 'A' && text[i] <= 'Z' && text[i-1] >= 'a' && text[i-1] <= 'z'
}

// stem folds case and the commonest ending, so that "schemas" meets "Schema".
func stem(word string) string {
	lower := strings.ToLower(word)
	if len(lower) > 4 && lower[len(lower)-1] == 's' && lower[len(lower)-2] != 's' && lower[len(lower)-2] < utf8.RuneSelf {
		return lower[:len(lower)-1]
	}
	return lower
}

func stopWord(w string) bool {
	switch w {
	case "the", "and", "for", "you", "can", "are", "was", "not", "but", "with", "that", "thi", "this", "have", "has", "from", "all",
		"now", "please", "let", "use", "its", "our", "your", "what", "when", "how", "why", "then", "also", "into", "should", "would",
		"could", "there", "here", "just", "like", "make", "need", "want", "get", "see", "der", "die", "das", "und", "ist", "les", "des",
		"est", "une", "los", "las", "que", "por", "para", "con", "com", "uma", "del", "della", "che", "per", "или", "что", "как", "это", "для":
		return true
	}
	return false
}

// weigh computes the inverse document frequency of the query's terms over the units.
func (q *query) weigh(x *lexicon, units int) {
	df := make([]int32, len(q.numbers))
	for i := range x.terms {
		if n := x.terms[i].query; n >= 0 {
			df[n] += x.terms[i].units
		}
	}
	q.weight = make([]float64, len(df))
	for n, d := range df {
		if d > 0 {
			q.weight[n] = math.Log(1 + (float64(units)-min(float64(d), float64(units))+0.5)/(float64(d)+0.5))
		}
	}
}

// The constants of BM25.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// relevance is the BM25 score of a unit. average is the mean length of units in
// terms.
func (q *query) relevance(x *lexicon, refs []int32, average float64) float64 {
	score := 0.0
	norm := bm25K * (1 - bm25B + bm25B*float64(len(refs))/average)
	// A term counts once a unit: repeated words in one line say little.
	var met [4]int16
	n := 0
	for _, id := range refs {
		k := x.terms[id].query
		if k < 0 {
			continue
		}
		dup := false
		for _, have := range met[:min(n, len(met))] {
			dup = dup || have == k
		}
		if dup {
			continue
		}
		met[n%len(met)] = k
		n++
		score += q.weight[k] * (bm25K + 1) / (1 + norm)
	}
	return score
}
