package tokens

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// streamSafe is the longest sequence of marks that package norm keeps whole. It breaks longer ones up with a character of its
// own, which no other implementation does; composed takes these by itself.
const streamSafe = 30

// composed returns the NFC of text.
func composed(text string) string {
	var b strings.Builder
	from := 0
	for at := 0; at < len(text); {
		start, n := at, 0
		for at < len(text) && combining(text[at:]) != 0 {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
			n++
		}
		if n > streamSafe {
			composeMarks(&b, norm.NFC.String(text[from:start]), text[start:at])
			from = at
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	if from == 0 {
		return norm.NFC.String(text)
	}
	b.WriteString(norm.NFC.String(text[from:]))
	return b.String()
}

// combining is the canonical combining class of the first character: 0 for anything that is no mark with an order.
func combining(text string) uint8 { return norm.NFC.PropertiesString(text).CCC() }

// composeMarks writes text, which is NFC, and the marks that follow it: taken apart, put in canonical order, and put together
// with the character they stand on as far as that goes.
func composeMarks(b *strings.Builder, text, marks string) {
	base := len(text)
	for base > 0 {
		_, size := utf8.DecodeLastRuneInString(text[:base])
		base -= size
		if combining(text[base:]) == 0 {
			break
		}
	}
	b.WriteString(text[:base])
	apart := []rune(norm.NFD.String(text[base:]))
	for _, c := range marks {
		if parts := norm.NFD.PropertiesString(string(c)).Decomposition(); parts != nil {
			apart = append(apart, []rune(string(parts))...)
		} else {
			apart = append(apart, c)
		}
	}
	starters := 0 // more than one for a Hangul syllable
	for starters < len(apart) && combining(string(apart[starters])) == 0 {
		starters++
	}
	starter := norm.NFC.String(string(apart[:starters]))
	kept := make([]rune, 0, len(apart))
	last := uint8(0)
	for _, c := range ordered(apart[starters:]) {
		class := combining(string(c))
		if starter != "" && last < class {
			if joined := norm.NFC.String(starter + string(c)); utf8.RuneCountInString(joined) == 1 {
				starter = joined
				continue
			}
		}
		kept, last = append(kept, c), class
	}
	b.WriteString(starter)
	b.WriteString(string(kept))
}

// ordered sorts marks by their combining class and leaves those of the same class in order.
func ordered(marks []rune) []rune {
	var ends [256]int
	for _, c := range marks {
		ends[combining(string(c))]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	out := make([]rune, len(marks))
	for i := len(marks) - 1; i >= 0; i-- {
		class := combining(string(marks[i]))
		ends[class]--
		out[ends[class]] = marks[i]
	}
	return out
}
