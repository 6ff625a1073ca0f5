package tokens

import "unicode/utf8"

// caseMark returns the mark of a word that is counted in lower case: one that begins with its only capital, or one of
// enough capitals and nothing else. 0 if it is counted as it is.
func (w *claudeWorker) caseMark(word string) byte {
	var some glyph
	letters, capitals, dotted := 0, 0, false
	firstUpper := false
	for at := 0; at < len(word); {
		g, size := w.glyph(word, at)
		switch word[at : at+size] {
		case "ẞ":
			return 0
		case "İ": // no mark can lower it: it stands as it is in a word that another capital begins
			if at == 0 {
				return 0
			}
			dotted = true
			g = 0
		}
		if g&glyphUpper != 0 {
			capitals++
			firstUpper = firstUpper || at == 0
		}
		some |= g
		letters++
		at += size
	}
	least := w.pieces.capsMin
	switch {
	case least > 0 && !dotted && letters >= least && capitals > 0 && some&(glyphLower|glyphFixed) == 0:
		return byteCaps
	case firstUpper && capitals == 1:
		return byteShift
	default:
		return 0
	}
}

func appendLower(stream []byte, word string) []byte {
	for at := 0; at < len(word); {
		c := word[at]
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			stream = append(stream, c)
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(word[at:])
		stream = utf8.AppendRune(stream, lowerOf(r))
		at += size
	}
	return stream
}
