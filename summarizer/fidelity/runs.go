package fidelity

import (
	"unicode"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// maxParts is how many parts of a name are looked at together.
const maxParts = 24

// sizes says which sizes of names in bytes are looked for.
type sizes [facts.MaxName + 1]bool

// eachName calls visit for every stretch of text that may be a name: parts of
// letters, digits and '_' joined by signs, from any part to any later one, with a
// path's leading signs and without. With wanted, only stretches of such sizes.
func eachName(text string, wanted *sizes, visit func(string)) {
	var starts, ends [maxParts]int
	give := func(start, end int) {
		if n := end - start; n <= facts.MaxName && (wanted == nil || wanted[n]) {
			visit(text[start:end])
		}
	}
	for i := 0; i < len(text); {
		n := partEnd(text, i)
		if n == i {
			_, width := utf8.DecodeRuneInString(text[i:])
			i += width
			continue
		}
		parts, first, lead := 0, i, i
		for lead > 0 && i-lead < 3 && (text[lead-1] == '/' || text[lead-1] == '.' || text[lead-1] == '~') {
			lead--
		}
		// Each part is taken with all parts before it, the nearest first.
		for {
			if parts == maxParts {
				copy(starts[:], starts[1:])
				copy(ends[:], ends[1:])
				parts--
			}
			starts[parts], ends[parts] = i, n
			parts++
			for k := parts - 1; k >= 0; k-- {
				give(starts[k], n)
				if starts[k] == first {
					for at := first - 1; at >= lead; at-- {
						give(at, n)
					}
				}
			}
			j := n
			for j < len(text) && j-n < 3 && joins(text[j]) {
				j++
			}
			if j == n || j >= len(text) {
				break
			}
			end := partEnd(text, j)
			if end == j {
				break
			}
			i, n = j, end
		}
		i = n
	}
}

// partEnd is the end of the letters, digits and '_' at i.
func partEnd(text string, i int) int {
	for i < len(text) {
		c := text[i]
		switch {
		case facts.Letter(c), facts.Digit(c), c == '_':
			i++
			continue
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(text[i:])
			if unicode.IsLetter(r) && !facts.Unspaced(r) || unicode.Is(unicode.Mn, r) {
				i += n
				continue
			}
		}
		break
	}
	return i
}

// joins reports whether a sign may stand between the parts of a name.
func joins(c byte) bool { return facts.Joint(c) || c == '?' || c == '&' }
