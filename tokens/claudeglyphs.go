package tokens

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// glyph is what the tiling for Claude needs to know about a character: its run in the low bits, then flags.
type glyph uint16

// The runs a text is split into. Pieces do not cross from one to the next, with the exceptions named in claudetext.go.
const (
	runSpace  glyph = iota
	runWord         // letters of alphabets with the marks on them
	runDigit        // ASCII and Arabic digits
	runPunct        // ASCII signs and some others
	runLetter       // ideographs, Hangul, everything beyond the basic plane
	runNumber       // other numbers
	runSign         // other signs and symbols, marks that are not alphabetic, unassigned characters
	runKind   = 7
)

const (
	glyphStray    glyph = 1 << (iota + 3) // a mark that opens a word of its own where it has no base
	glyphSelector                         // a variation selector: part of the run it follows
	glyphOther                            // a number that is no decimal digit
	glyphUpper                            // a capital with a small letter to it
	glyphLower                            // a small letter
	glyphFixed                            // a letter or mark that is neither: blocks the all-capitals mark
	glyphNormal                           // may change under NFC, by itself or with its neighbours
	glyphDropped                          // does not count
	glyphBlank                            // counts as a space
	glyphQuote                            // a curly quote
	glyphSign                             // a letter that Unicode 15 calls a symbol or does not know
)

// glyphTable has the glyph of every character of the basic plane. Its rules are ctok's, some derived from Unicode properties,
// some lists of what ctok's author measured.
type glyphTable [1 << 16]glyph

func newGlyphTable() *glyphTable {
	t := new(glyphTable)
	t.kinds()
	t.cases()
	for c := rune(0x80); c < 1<<16; c++ {
		if c >= 0x3400 && c <= 0x9FFF || c >= 0xAC00 && c <= 0xF8FF {
			continue // ideographs, Hangul and private characters never change
		}
		s := string(c)
		p := norm.NFC.PropertiesString(s)
		if !p.BoundaryBefore() || !norm.NFC.IsNormalString(s) {
			t[c] |= glyphNormal
		}
		if p.CCC() != 0 && t[c]&runKind == runWord && !isSyriacVowel(c) {
			t[c] |= glyphStray
		}
	}
	for _, c := range "\u2018\u2019\u201c\u201d" {
		t[c] |= glyphQuote
	}
	t[0x0E4D] |= glyphNormal // half of the Thai vowel sign that is composed besides
	t.normalized()
	return t
}

// kinds sorts the characters into runs, later lines overriding earlier ones.
func (t *glyphTable) kinds() {
	for c := range t {
		t[c] = runSign
	}
	t.set(unicode.Cc, runLetter)
	t.set(unicode.Co, runLetter)
	t.set(unicode.Nl, runLetter)
	t.set(unicode.Nd, runNumber)
	t.set(unicode.No, runNumber|glyphOther)
	t.each(unicode.L, func(c rune) {
		t[c] = runWord
		if isHan(c) || c >= 0xAC00 && c <= 0xD7A3 || c >= 0x3031 && c <= 0x3035 || c == 0x3005 || c == 0x3006 || c == 0x303B || c == 0x303C {
			t[c] = runLetter
		}
	})
	t.each(unicode.P, func(c rune) {
		if c >= 0x3001 && c <= 0x303F {
			t[c] = runLetter // the punctuation of ideographs stays with them
		}
	})
	for _, c := range "\u3004\u3012\u3013\u3020\u3036\u3037\u303e\u303f" {
		t[c] = runLetter
	}
	t.each(unicode.M, func(c rune) {
		if unicode.Is(unicode.Other_Alphabetic, c) {
			t[c] = runWord
		}
	})
	// Alphabetic in Unicode 18, which ctok follows here: combining letters, and marks that are newer than Unicode 15.
	t.span(0x0363, 0x036F, runWord)
	t.span(0x1DD3, 0x1DE6, runWord)
	t.span(0x0897, 0x0897, runWord|glyphSign)
	t.span(0x05C8, 0x05C9, runWord|glyphSign)
	t.span(0xFE00, 0xFE0F, runLetter|glyphSelector)
	for _, c := range "£§«°·»\u0f0d–—„†•…€№→−√─│└═█（" {
		t[c] = runPunct
	}
	for c := rune('!'); c <= '~'; c++ {
		if unicode.IsPunct(c) || unicode.IsSymbol(c) {
			t[c] = runPunct
		}
	}
	t.span('0', '9', runDigit)
	t.span(0x0660, 0x0669, runDigit)
	t.span(0x06F0, 0x06F9, runDigit)
	// Golden numbers, Roman numerals, circled letters and Bamum number letters behave as letters.
	t.span(0x16EE, 0x16F0, runWord)
	t.span(0x2160, 0x2188, runWord)
	t.span(0x24B6, 0x24E9, runWord|glyphSign)
	t.span(0xA6E6, 0xA6EF, runWord)
	t.set(unicode.Z, runSpace)
	t['\t'], t['\n'] = runSpace, runSpace
	for _, c := range []rune{lateUpper1, lateLower1, lateUpper2} {
		t[c] = runWord | glyphSign
	}
}

// Two capitals that are newer than Unicode 15, and their small letters, the first of which is too.
const (
	lateUpper1, lateLower1 = 0x1C89, 0x1C8A
	lateUpper2, lateLower2 = 0xA7CB, 0x0264
)

// cases marks capitals and small letters.
func (t *glyphTable) cases() {
	for _, table := range []*unicode.RangeTable{unicode.Lu, unicode.Other_Uppercase} {
		t.each(table, func(c rune) {
			if lowerOf(c) != c {
				t[c] |= glyphUpper
			}
		})
	}
	for _, table := range []*unicode.RangeTable{unicode.Ll, unicode.Other_Lowercase} {
		t.each(table, func(c rune) { t[c] |= glyphLower })
	}
	t[lateUpper1] |= glyphUpper
	t[lateUpper2] |= glyphUpper
	t[lateLower1] |= glyphLower
	for _, table := range []*unicode.RangeTable{unicode.L, unicode.M} {
		t.each(table, func(c rune) {
			if t[c]&(glyphUpper|glyphLower) == 0 {
				t[c] |= glyphFixed
			}
		})
	}
}

// normalized marks what the API drops or takes for a space.
func (t *glyphTable) normalized() {
	for c := range 0xA0 {
		if c != '\t' && c != '\n' && (c < ' ' || c >= 0x7F) {
			t[c] |= glyphDropped
		}
	}
	t[0] = runSpace | glyphBlank
	for c := 0xE000; c <= 0xF8FF; c++ {
		t[c] |= glyphDropped
	}
	t.each(unicode.Z, func(c rune) {
		if c != ' ' && c != 0x3000 {
			t[c] |= glyphBlank
		}
	})
}

func (t *glyphTable) span(from, to rune, g glyph) {
	for c := from; c <= to; c++ {
		t[c] = g
	}
}

func (t *glyphTable) set(table *unicode.RangeTable, g glyph) {
	t.each(table, func(c rune) { t[c] = g })
}

// each calls f with the characters of a range table that are in the basic plane.
func (t *glyphTable) each(table *unicode.RangeTable, f func(rune)) {
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			f(c)
		}
	}
}

// isHan reports whether c is an ideograph of the basic plane.
func isHan(c rune) bool {
	return c >= 0x4E00 && c <= 0x9FFF || c >= 0x3400 && c <= 0x4DBF || c >= 0xF900 && c <= 0xFAFF
}

// isSyriacVowel reports whether c is a mark that is a letter of a word where it has no base.
func isSyriacVowel(c rune) bool { return c == 0x0711 || c >= 0x0730 && c <= 0x073F }

// lowerOf is the small letter of c, c itself if there is none or if Claude does not use it.
func lowerOf(c rune) rune {
	switch c {
	case 0x03F4, 'İ':
		return c
	case lateUpper1:
		return lateLower1
	case lateUpper2:
		return lateLower2
	default:
		return unicode.ToLower(c)
	}
}
