package tokens

import "unicode/utf8"

// splitter cuts a text into the pieces that tokenization treats one by one. It gives the pieces of the published
// regular expressions without a regular expression: each alternative is a short loop, and where the expression would
// back-track the place it falls back to is remembered on the way. Every piece costs a bounded number of visits per
// byte, whatever the text.
//
// o200k_base (also o200k_harmony), alternatives in this order:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// cl100k_base:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
type splitter struct {
	runes *runeTable
	// cl100k selects the second pattern.
	cl100k bool
	tables *byteTables
	// fold is what the fast path sets in eight letters to tell words by: 0x20 in each where case does not end a word.
	fold uint64
}

func newSplitter(cl100k bool) *splitter {
	p := &splitter{runes: newRuneTable(), cl100k: cl100k}
	p.tables = newByteTables(p.runes, cl100k)
	if cl100k {
		p.fold = 0x20 * everyByte
	}
	return p
}

// next returns the end of the piece that starts at s[i] (i < len(s)) and its class.
func (p *splitter) next(s string, i int) (end int, class Class) {
	if p.cl100k {
		return p.nextCL100k(s, i)
	}
	return p.nextO200k(s, i)
}

func (p *splitter) nextO200k(s string, i int) (end int, class Class) {
	first, size := p.runes.at(s, i)
	if first&(upperSet|lowerSet) != 0 {
		// A mark counts as a letter here. It could also be the optional character before the word, but that reading
		// never ends elsewhere.
		return p.caseWord(s, i)
	}
	if first&number != 0 {
		return p.digits(s, i+size), ClassDigits
	}
	after := i + size
	if first&newline == 0 && after < len(s) {
		if second, _ := p.runes.at(s, after); second&(upperSet|lowerSet) != 0 {
			return p.caseWord(s, after)
		}
	}
	if end := p.punctuation(s, i); end > i {
		for end < len(s) && (s[end] == '\n' || s[end] == '\r' || s[end] == '/') {
			end++
		}
		return end, ClassPunctuation
	}
	return p.whiteSpace(s, i), ClassSpace
}

func (p *splitter) nextCL100k(s string, i int) (end int, class Class) {
	if s[i] == '\'' {
		if n := contraction(s[i:]); n > 0 {
			return i + n, ClassLatin
		}
	}
	first, size := p.runes.at(s, i)
	if first&letter != 0 {
		return p.plainWord(s, i)
	}
	if first&number != 0 {
		return p.digits(s, i+size), ClassDigits
	}
	after := i + size
	if first&newline == 0 && after < len(s) {
		if second, _ := p.runes.at(s, after); second&letter != 0 {
			return p.plainWord(s, after)
		}
	}
	if end := p.punctuation(s, i); end > i {
		for end < len(s) && (s[end] == '\n' || s[end] == '\r') {
			end++
		}
		return end, ClassPunctuation
	}
	return p.whiteSpace(s, i), ClassSpace
}

// caseWord matches the two word alternatives of o200k from the first letter (or mark) at s[i].
func (p *splitter) caseWord(s string, i int) (end int, class Class) {
	end = i
	var script uint8
	// The run of the first character class. lastBoth is the end of its last character that the second class has too:
	// if no lower-case letter follows the run, that character is the whole second part.
	lastBoth, scriptAtBoth := -1, uint8(0)
	var properties uint8
	for end < len(s) {
		size := 1
		if b := s[end]; b < utf8.RuneSelf {
			properties = p.runes.ascii[b]
		} else {
			properties, size = p.runes.beyondASCII(s[end:])
		}
		if properties&upperSet == 0 {
			break
		}
		end += size
		script = max(script, properties>>scriptShift)
		if properties&lowerSet != 0 {
			lastBoth, scriptAtBoth = end, script
		}
	}
	if end < len(s) && properties&lowerSet != 0 {
		for end < len(s) {
			properties, size := p.runes.at(s, end)
			if properties&lowerSet == 0 {
				break
			}
			end += size
			script = max(script, properties>>scriptShift)
		}
	} else if lastBoth > 0 {
		end, script = lastBoth, scriptAtBoth
	}
	if end < len(s) && s[end] == '\'' {
		end += contraction(s[end:])
	}
	return end, wordClass(script)
}

// plainWord matches \p{L}+ from the letter at s[i].
func (p *splitter) plainWord(s string, i int) (end int, class Class) {
	end = i
	var script uint8
	for end < len(s) {
		properties, size := p.runes.at(s, end)
		if properties&letter == 0 {
			break
		}
		end += size
		script = max(script, properties>>scriptShift)
	}
	return end, wordClass(script)
}

// digits extends a number whose first character ends at end to at most three characters.
func (p *splitter) digits(s string, end int) int {
	for n := 1; n < 3 && end < len(s); n++ {
		properties, size := p.runes.at(s, end)
		if properties&number == 0 {
			break
		}
		end += size
	}
	return end
}

// punctuation matches " ?[^\s\p{L}\p{N}]+" at s[i]; i means no match.
func (p *splitter) punctuation(s string, i int) int {
	start := i
	if s[i] == ' ' {
		start++
	}
	end := start
	for end < len(s) {
		properties, size := p.runes.at(s, end)
		if properties&(space|letter|number) != 0 {
			break
		}
		end += size
	}
	if end == start {
		return i
	}
	return end
}

// whiteSpace matches the last three alternatives at the white space at s[i]: up to and including the last newline of the
// run; else the run without its last character if something follows it; else the run.
func (p *splitter) whiteSpace(s string, i int) int {
	end, lastStart, afterNewline := i, i, -1
	for end < len(s) {
		properties, size := p.runes.at(s, end)
		if properties&space == 0 {
			break
		}
		lastStart = end
		end += size
		if properties&newline != 0 {
			afterNewline = end
		}
	}
	switch {
	case afterNewline >= 0:
		return afterNewline
	case end < len(s) && lastStart > i:
		return lastStart
	default:
		return end
	}
}

// contraction returns the length of the English contraction at the start of s, which begins with an apostrophe, or 0.
// Case is ignored as Unicode does it, so the long s (U+017F) is an s.
func contraction(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(s) > 2 && s[2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if len(s) > 2 && s[2]|0x20 == 'l' {
			return 3
		}
	}
	if len(s) > 2 && s[1] == 0xc5 && s[2] == 0xbf {
		return 3
	}
	return 0
}

func wordClass(script uint8) Class {
	switch script {
	case scriptDiacritic:
		return ClassDiacritic
	case scriptOther:
		return ClassOtherScript
	case scriptCJK:
		return ClassCJK
	default:
		return ClassLatin
	}
}
