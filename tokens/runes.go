package tokens

import (
	"unicode"
	"unicode/utf8"
)

// The properties of a character that the two split patterns and the piece classes ask for. The two top bits hold the
// script (scriptPlain, ...), so that the higher value wins when a word mixes scripts.
const (
	upperSet = 1 << iota // Lu, Lt, Lm, Lo, M: what o200k allows at the front of a word
	lowerSet             // Ll, Lm, Lo, M: what o200k allows at the end of a word
	letter               // \p{L}
	number               // \p{N}
	space                // \s, newlines included
	newline              // CR and LF
)

const (
	scriptShift     = 6
	scriptPlain     = 0 // ASCII letters, and everything that is no letter
	scriptDiacritic = 1 // Latin letters beyond ASCII, and combining marks
	scriptOther     = 2 // letters of any other alphabet
	scriptCJK       = 3 // Han, Kana, Hangul, Bopomofo
)

// runeTable gives the properties of every Unicode character: directly for ASCII, through 256-character blocks for the
// rest (most blocks are equal, so the table is small).
type runeTable struct {
	ascii  [utf8.RuneSelf]uint8
	two    [0x800]uint8 // the characters of up to two bytes again
	index  [(unicode.MaxRune + 1) >> 8]uint16
	blocks [][256]uint8
}

// at returns the properties and the length in bytes of the character at s[i]; s is valid UTF-8.
func (t *runeTable) at(s string, i int) (properties uint8, size int) {
	if b := s[i]; b < utf8.RuneSelf {
		return t.ascii[b], 1
	}
	return t.beyondASCII(s[i:])
}

func (t *runeTable) isSpace(r rune) bool { return t.blocks[t.index[r>>8]][r&0xff]&space != 0 }

func (t *runeTable) beyondASCII(s string) (properties uint8, size int) {
	switch {
	case len(s) >= 2 && s[0] < 0xe0:
		return t.two[uint(s[0]&0x1f)<<6|uint(s[1]&0x3f)], 2
	case len(s) >= 3 && s[0] < 0xf0:
		block := t.index[uint(s[0]&0xf)<<4|uint(s[1]&0x3f)>>2]
		return t.blocks[block][s[1]&3<<6|s[2]&0x3f], 3
	}
	r, size := utf8.DecodeRuneInString(s)
	return t.blocks[t.index[r>>8]][r&0xff], size
}

// newRuneTable builds the table from Go's Unicode tables and what came later. It visits ranges, not all characters.
func newRuneTable() *runeTable {
	flat := make([]uint8, unicode.MaxRune+1)
	mark := func(property uint8, tables ...*unicode.RangeTable) {
		for _, table := range tables {
			eachRune(table, func(r rune) { flat[r] |= property })
		}
	}
	mark(upperSet, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M)
	mark(lowerSet, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M)
	mark(letter, unicode.L)
	mark(number, unicode.N)
	mark(space, unicode.White_Space)
	flat['\r'] |= newline
	flat['\n'] |= newline

	setScript := func(script uint8, tables ...*unicode.RangeTable) {
		for _, table := range tables {
			eachRune(table, func(r rune) {
				if flat[r]&(letter|upperSet|lowerSet) != 0 && r >= utf8.RuneSelf {
					flat[r] = flat[r]&(1<<scriptShift-1) | script<<scriptShift
				}
			})
		}
	}
	setScript(scriptOther, unicode.L)
	setScript(scriptDiacritic, unicode.M, unicode.Latin)
	setScript(scriptCJK, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)

	for _, added := range unicode16() {
		for r := added.first; r <= added.last; r++ {
			flat[r] = added.properties
		}
	}

	t := &runeTable{}
	copy(t.ascii[:], flat)
	copy(t.two[:], flat)
	seen := make(map[[256]uint8]uint16)
	for i := range t.index {
		block := [256]uint8(flat[i<<8 : i<<8+256])
		at, ok := seen[block]
		if !ok {
			at = uint16(len(t.blocks)) //nolint:gosec // fewer than 0x1100 blocks exist
			seen[block] = at
			t.blocks = append(t.blocks, block)
		}
		t.index[i] = at
	}
	return t
}

func eachRune(table *unicode.RangeTable, visit func(rune)) {
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			visit(c)
		}
	}
	for _, r := range table.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) { //nolint:gosec // code points fit
			visit(c)
		}
	}
}
