package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lookout finds cue words. It is built once and read only.
type Lookout struct {
	words map[string][]phrase // by first word, for alphabets
	signs map[rune][]phrase   // by first character, for scripts without spaces
	heads map[Cue]*heads      // of the words, by cue
	all   heads
}

// heads are the two letters that words begin with: by the first, an ASCII letter, the set
// of the second. It spares most words of a sentence the search. Case and what is no letter
// may collide.
type heads [32]uint32

func (h *heads) add(word string) { h[word[0]&31] |= 1 << headOf(word) }

// has reports whether one of the words may begin as s does, an ASCII letter first.
func (h *heads) has(s string) bool {
	return len(s) > 1 && s[1] >= utf8.RuneSelf || h[s[0]&31]>>headOf(s)&1 != 0
}

func headOf(word string) byte {
	if len(word) == 1 {
		return 0
	}
	return word[1] & 31
}

// phrase is what must follow the first word or character.
type phrase struct {
	rest string
	cue  Cue
}

// NewLookout reads the cue words.
func NewLookout() *Lookout {
	l := &Lookout{words: make(map[string][]phrase), signs: make(map[rune][]phrase), heads: make(map[Cue]*heads)}
	for _, group := range cueWords {
		if l.heads[group.cue] == nil {
			l.heads[group.cue] = &heads{}
		}
		for _, w := range strings.Split(group.words, "|") {
			r, n := utf8.DecodeRuneInString(w)
			if Unspaced(r) || hangul(r) {
				l.signs[r] = append(l.signs[r], phrase{w[n:], group.cue})
				continue
			}
			first := wordEnd(w, 0)
			l.words[w[:first]] = append(l.words[w[:first]], phrase{w[first:], group.cue})
			if kinds[w[0]] == kindLetter {
				l.heads[group.cue].add(w[:first])
				l.all.add(w[:first])
			}
		}
	}
	return l
}

// hangul is written with spaces, but its words take endings.
func hangul(r rune) bool { return r >= 0xAC00 && r <= 0xD7A3 }

// wordEnd is the end of the word at i: letters and apostrophes.
func wordEnd(s string, i int) int {
	for i < len(s) {
		c := s[i]
		switch {
		case kinds[c] == kindLetter || c == '\'' && i > 0:
			i++
			continue
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if unicode.IsLetter(r) && !Unspaced(r) && !hangul(r) || r == '’' || unicode.Is(unicode.Mn, r) {
				i += n
				continue
			}
		}
		break
	}
	return i
}

// maxCueScan bounds how much of a sentence is looked at, in bytes.
const maxCueScan = 1200

// Scan returns the cues of a sentence.
func (l *Lookout) Scan(s string) Cue { return l.scan(s, &l.all) }

// Has reports whether a sentence has one cue.
func (l *Lookout) Has(s string, cue Cue) bool { return l.scan(s, l.heads[cue])&cue != 0 }

// scan returns the cues of a sentence, at least those whose words begin so.
func (l *Lookout) scan(s string, begin *heads) Cue {
	var found Cue
	s = validPrefix(s[:min(len(s), maxCueScan)])
	var buf [32]byte
	for i := 0; i < len(s); {
		c := s[i]
		if kinds[c] == kindLetter {
			end := wordEnd(s, i)
			if end-i <= len(buf) && begin.has(s[i:end]) && !inName(s, i, end) {
				w := lowerInto(buf[:0], s[i:end])
				for _, p := range l.words[string(w)] {
					if found&p.cue == 0 && follows(s[end:], p.rest) {
						found |= p.cue
					}
				}
				if at := strings.IndexByte(s[i:end], '\''); at > 0 { // n'utilise
					w = lowerInto(buf[:0], s[i:i+at+1])
					for _, p := range l.words[string(w)] {
						found |= p.cue
					}
				}
			}
			i = max(end, i+1)
			continue
		}
		if c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if Unspaced(r) || hangul(r) {
			for _, p := range l.signs[r] {
				if strings.HasPrefix(s[i+n:], p.rest) {
					found |= p.cue
				}
			}
			i += n
			continue
		}
		end := wordEnd(s, i)
		if end > i && end-i <= len(buf) {
			for _, p := range l.words[string(lowerInto(buf[:0], s[i:end]))] {
				if follows(s[end:], p.rest) {
					found |= p.cue
				}
			}
		}
		i = max(end, i+n)
	}
	return found
}

// inName reports whether a word is a part of a name such as is_resolved or
// obj.created: then it says nothing about the sentence.
func inName(s string, start, end int) bool {
	if start > 0 && (s[start-1] == '_' || s[start-1] == '.' || s[start-1] == '/' || s[start-1] == '-') {
		return true
	}
	return end < len(s) && (s[end] == '_' || s[end] == '(' || s[end] == '/' || s[end] == '=') ||
		end+1 < len(s) && (s[end] == '.' || s[end] == '-') && kinds[s[end+1]] == kindLetter
}

// CodeLike reports whether a line is code or output rather than a sentence.
func CodeLike(s string) bool {
	signs, letters, spaces := 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; c {
		case ' ':
			spaces++
		case '(', ')', '{', '}', '[', ']', '=', '<', '>', ';', '_', '/', '\\', '|', '&', '$', '"':
			signs++
		default:
			if kinds[c] == kindLetter || c >= utf8.RuneSelf {
				letters++
			}
		}
	}
	switch s[len(s)-1] {
	case '{', '}', ';', '(', '[', '\\':
		return true
	}
	return signs*8 > len(s) || signs >= 2 && spaces < 2 || letters*2 < len(s)
}

// lowerInto writes w in small letters to buf, a typographic apostrophe as '.
func lowerInto(buf []byte, w string) []byte {
	for i := 0; i < len(w); {
		if c := w[i]; c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			buf = append(buf, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(w[i:])
		if r == '’' {
			r = '\''
		}
		buf = utf8.AppendRune(buf, unicode.ToLower(r))
		i += n
	}
	return buf
}

// follows reports whether s goes on with the words of rest, in any case, up to
// the end of a word.
func follows(s, rest string) bool {
	if rest == "" {
		return true
	}
	if len(s) < len(rest) || !strings.EqualFold(s[:len(rest)], rest) {
		return false
	}
	return wordEnd(s, len(rest)) == len(rest) || strings.HasSuffix(rest, " ")
}

// Question reports whether a sentence asks.
func Question(s string) bool {
	s = strings.TrimRight(s, " \t\"'*_)”»」』")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}
