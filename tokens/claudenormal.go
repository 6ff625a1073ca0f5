package tokens

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalize returns text as Claude's API reads it: NFC, without control and private characters, all spaces alike and,
// with foldQuotes, curly quotes straight. Text that is so already comes back as it is; anything else is written into a
// new string.
func (t *glyphTable) normalize(text string, foldQuotes bool) string {
	if !utf8.ValidString(text) {
		text = replaceInvalid(text)
	}
	change := glyphDropped | glyphBlank
	if foldQuotes {
		change |= glyphQuote
	}
	seen := t.flags(text)
	if seen&glyphNormal != 0 {
		if !norm.NFC.IsNormalString(text) {
			text = composed(text)
			seen = t.flags(text)
		}
		text = strings.ReplaceAll(text, "\u0E4D\u0E32", "\u0E33") // the Thai SARA AM, which NFC leaves apart
	}
	if seen&change == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	for at, c := range text {
		if c >= 1<<16 || t[c]&change == 0 {
			continue
		}
		b.WriteString(text[from:at])
		from = at + utf8.RuneLen(c)
		switch {
		case t[c]&glyphBlank != 0:
			b.WriteByte(' ')
		case t[c]&glyphDropped != 0:
		case c == '\u2018' || c == '\u2019':
			b.WriteByte('\'')
		default:
			b.WriteByte('"')
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// flags returns the union of the flags of all characters but the printable ones of ASCII; those beyond the basic plane have glyphNormal unless they are
// emoji or ideographs.
func (t *glyphTable) flags(text string) glyph {
	var seen glyph
	for at := 0; at < len(text); {
		if at+8 <= len(text) && isPlain(eightBytes(text[at:at+8])) {
			at += 8
			continue
		}
		if c := text[at]; c < utf8.RuneSelf {
			seen |= t[c]
			at++
			continue
		}
		c, size := utf8.DecodeRuneInString(text[at:])
		at += size
		switch {
		case c < 1<<16:
			seen |= t[c]
		case c < 0x1F000 || c >= 0x2F800:
			seen |= glyphNormal
		}
	}
	return seen
}

// isPlain reports whether eight bytes are all ASCII from the space to the tilde: no flag concerns these.
func isPlain(x uint64) bool {
	const ones = 0x0101010101010101
	// The top bit of a byte is set by itself beyond ASCII, by the subtraction below a space and by the addition at 0x7f.
	return (x|(x-0x20*ones)|(x+ones))&(0x80*ones) == 0
}
