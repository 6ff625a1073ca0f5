package hostile

import (
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// charactersPerText is how many characters share one text of [EveryCharacter].
const charactersPerText = 64

// EveryCharacter returns texts that together hold every Unicode character, assigned or not, each in places where its
// class decides the number of tokens: before a contraction (a letter takes the 's along in o200k, anything else does
// not), after a space, and before a slash and a line break.
func EveryCharacter() []string {
	var out []string
	var b strings.Builder
	held := 0
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if c >= 0xd800 && c <= 0xdfff {
			continue // surrogates are no characters
		}
		b.WriteRune(c)
		b.WriteString("'s ")
		b.WriteRune(c)
		b.WriteString("/\n")
		if held++; held == charactersPerText {
			out = append(out, b.String())
			b.Reset()
			held = 0
		}
	}
	if held > 0 {
		out = append(out, b.String())
	}
	return out
}

// Invalid returns n strings that are not valid UTF-8: words with single bytes cut out, put in or changed.
func Invalid(seed uint64, n int) []string {
	r := source(seed, invalidStream)
	out := make([]string, 0, n)
	for len(out) < n {
		text := []byte(words(r, 1+r.IntN(6)) + string(anyRune(r)) + words(r, 1))
		for range 1 + r.IntN(3) {
			at := r.IntN(len(text))
			switch r.IntN(3) {
			case 0:
				text = append(text[:at], text[at+1:]...)
			case 1:
				text[at] = byte(r.IntN(256))
			default:
				text = append(text[:at], append([]byte{byte(0x80 + r.IntN(0x80))}, text[at:]...)...)
			}
		}
		if !utf8.Valid(text) {
			out = append(out, string(text))
		}
	}
	return out
}

// anyRune returns any character, common blocks more often.
func anyRune(r *rand.Rand) rune {
	limit := pick(r, []int32{0x80, 0x250, 0x3000, 0x20000, unicode.MaxRune + 1})
	if c := r.Int32N(limit); c < 0xd800 || c > 0xdfff {
		return c
	}
	return ' '
}

// runeOf returns a character of a class; each range of the table is as likely as another, so small scripts turn up.
func runeOf(r *rand.Rand, table *unicode.RangeTable) rune {
	n := r.IntN(len(table.R16) + len(table.R32))
	if n < len(table.R16) {
		t := table.R16[n]
		return rune(t.Lo) + rune(t.Stride)*r.Int32N(int32(t.Hi-t.Lo)/int32(t.Stride)+1)
	}
	t := table.R32[n-len(table.R16)]
	return rune(t.Lo) + rune(t.Stride)*r.Int32N(int32(t.Hi-t.Lo)/int32(t.Stride)+1) //nolint:gosec // below MaxRune
}
