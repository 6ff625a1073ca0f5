package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Class is the shape of a term. Shapes, not dictionaries, say what is a fact:
// anything that does not look like an ordinary word is likely to be a name that
// must be spelled right later.
type Class uint8

// The shapes, the plainest first; [Class.Fact] divides them.
const (
	Gram    Class = iota // two neighbouring characters of a script without spaces
	Word                 // an ordinary word
	Name                 // a capitalised word
	Caps                 // a word in capitals: a code, a constant
	Kebab                // words joined by '-'
	Number               // three digits or more, or a decimal
	Symbol               // snake_case, camelCase, a dotted name, a file name
	Mixed                // letters and digits: identifiers, versions, hashes
	Pair                 // key=value, file:line
	Path                 // with a slash
	Address              // URL or e-mail
	ClassCount
)

// Fact reports whether terms of the class count as facts of a message.
func (c Class) Fact() bool { return c >= Caps }

// Limits of the scan, in bytes: longer runs are data, not names.
const (
	maxTerm = 80
	// MaxName is the size of the longest path or address.
	MaxName = 240
)

// Byte kinds of the scan.
const (
	kindOther = iota
	kindLetter
	kindDigit
	kindUnder // '_'
	kindJoint // may stand inside a name: . / - : @ = + # % ~
	kindHigh  // not ASCII
)

// kinds is never written to.
var kinds = func() (t [256]uint8) {
	for c := range t {
		switch b := byte(c); {
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z':
			t[c] = kindLetter
		case b >= '0' && b <= '9':
			t[c] = kindDigit
		case b == '_':
			t[c] = kindUnder
		case b >= utf8.RuneSelf:
			t[c] = kindHigh
		case strings.IndexByte("./-:@=+#%~", b) >= 0:
			t[c] = kindJoint
		}
	}
	return t
}()

// Terms calls add for every term of text, in order. Runs of name characters are
// cut at joints; what a joint held together (a path, an address, key=value) is a
// term of its own besides its parts.
func Terms(text string, add func(start, end int, c Class)) {
	for i := 0; i < len(text); {
		switch kinds[text[i]] {
		case kindLetter:
			end := smallLetters(text, i+1)
			if end < len(text) && kinds[text[end]] != kindOther {
				i = chunk(text, i, end, add)
				continue
			}
			// Most of a text are words, or capitalised words, that nothing is joined to.
			switch n := end - i; {
			case n < 3 || n > maxTerm:
			case text[i] >= 'a':
				add(i, end, Word)
			default:
				add(i, end, Name)
			}
			i = end
		case kindDigit, kindUnder:
			i = chunk(text, i, i, add)
		case kindJoint:
			// A path may begin with '/', '~/', './'.
			if c := text[i]; (c == '/' || c == '~' || c == '.') && i+1 < len(text) && rooted(text, i) {
				i = chunk(text, i, i+1, add)
			} else {
				i++
			}
		case kindHigh:
			i = highRun(text, i, add)
		default:
			i++
		}
	}
}

// smallLetters is the end of the small ASCII letters at i.
func smallLetters(text string, i int) int {
	for i < len(text) && text[i]-'a' < 26 {
		i++
	}
	return i
}

// rooted reports whether a path begins at i.
func rooted(text string, i int) bool {
	if i > 0 && (kinds[text[i-1]] == kindJoint || text[i-1] == '<' || text[i-1] == '*') {
		return false
	}
	next := text[i+1]
	if text[i] == '/' {
		return kinds[next] == kindLetter || kinds[next] == kindUnder || next == '.'
	}
	return next == '/' || text[i] == '.' && kinds[next] == kindLetter
}

// chunk reads the name that begins at start, its characters known up to from.
func chunk(text string, start, from int, add func(int, int, Class)) int {
	end := from
	joints := 0 // joints that part terms: not '.' and '-'
	slash := false
	for end < len(text) {
		c := text[end]
		switch kinds[c] {
		case kindLetter, kindDigit, kindUnder:
			end++
			continue
		case kindJoint:
			if end+1 >= len(text) {
				break
			}
			if c == ':' && strings.HasPrefix(text[end:], "://") {
				return address(text, start, end, add)
			}
			switch kinds[text[end+1]] {
			case kindLetter, kindDigit, kindUnder:
			case kindJoint:
				if text[end+1] != '/' && text[end+1] != '.' && c != '/' || text[end+1] == c && c != '.' {
					goto done
				}
			default:
				goto done
			}
			if c == '/' {
				slash = true
			}
			if c != '.' && c != '-' {
				joints++
			}
			end++
			continue
		case kindHigh:
			if r, n := utf8.DecodeRuneInString(text[end:]); unicode.IsLetter(r) && !Unspaced(r) || unicode.Is(unicode.Mn, r) {
				end += n
				continue
			}
		}
		break
	}
done:
	for end > start && kinds[text[end-1]] == kindJoint && !(text[end-1] == '/' && end-start > 2) {
		end--
	}
	if end == start {
		return start + 1
	}
	if joints == 0 && text[start] != '/' && text[start] != '~' {
		part(text, start, end, add)
		return end
	}
	parts(text, start, end, slash, add)
	return end
}

// parts emits the terms of a name with joints.
func parts(text string, start, end int, slash bool, add func(int, int, Class)) {
	at := strings.IndexByte(text[start:end], '@')
	if at > 0 && !slash && strings.IndexByte(text[start+at:end], '.') > 0 && end-start <= maxTerm {
		add(start, end, Address)
		return
	}
	pieces := 0
	for p := start; p < end; {
		q := p
		for q < end && !parting(text[q]) {
			q++
		}
		if q > p {
			pieces++
			if strings.IndexByte(text[p:q], '/') >= 0 {
				wholePath(text, p, q, add)
			} else {
				part(text, p, q, add)
			}
		}
		p = q + 1
	}
	if pieces == 2 && end-start <= maxTerm {
		add(start, end, Pair)
	}
}

func parting(c byte) bool {
	return c == ':' || c == '=' || c == '@' || c == '+' || c == '#' || c == '%'
}

// wholePath emits a path as a whole and its last element.
func wholePath(text string, start, end int, add func(int, int, Class)) {
	for end > start+1 && text[end-1] == '/' {
		end--
	}
	if end-start > MaxName {
		return
	}
	if end-start > 3 {
		add(start, end, Path)
	}
	if at := strings.LastIndexByte(text[start:end], '/'); at >= 0 && start+at+1 < end {
		part(text, start+at+1, end, add)
	}
}

// address reads a URL whose scheme is text[start:colon].
func address(text string, start, colon int, add func(int, int, Class)) int {
	end := colon + 3
	for end < len(text) && text[end] > ' ' && strings.IndexByte("\"'`<>()[]{}|\\,", text[end]) < 0 {
		end++
	}
	for end > colon+3 && strings.IndexByte(".,;:!?*", text[end-1]) >= 0 {
		end--
	}
	end = start + len(validPrefix(text[start:end]))
	if end-start <= MaxName {
		add(start, end, Address)
	}
	// The last element often is the name that comes back.
	stop := end
	if q := strings.IndexByte(text[colon+3:end], '?'); q >= 0 {
		stop = colon + 3 + q
	}
	if at := strings.LastIndexByte(text[colon+3:stop], '/'); at >= 0 && colon+3+at+1 < stop {
		part(text, colon+3+at+1, stop, add)
	}
	return max(end, colon+3)
}

// validPrefix cuts s before an incomplete character at its end.
func validPrefix(s string) string {
	for i := 0; i < utf8.UTFMax && len(s) > 0; i++ {
		if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n > 1 {
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// part judges one name without parting joints by its shape.
func part(text string, start, end int, add func(int, int, Class)) {
	for start < end && kinds[text[start]] == kindJoint {
		start++
	}
	n := end - start
	if n < 2 || n > maxTerm {
		return
	}
	var digits, letters, upper, humps, dots, dashes, under, high int
	for i := start; i < end; i++ {
		c := text[i]
		switch kinds[c] {
		case kindDigit:
			digits++
		case kindLetter:
			letters++
			if c < 'a' {
				upper++
				if i > start && text[i-1] >= 'a' && text[i-1] <= 'z' {
					humps++
				}
			}
		case kindUnder:
			under++
		case kindHigh:
			high++
		default:
			if c == '.' {
				dots++
			} else if c == '-' {
				dashes++
			}
		}
	}
	switch {
	case letters == 0 && high == 0:
		if digits >= 3 || digits >= 2 && dots == 1 {
			add(start, end, Number)
		}
	case digits > 0 && n >= 3:
		add(start, end, Mixed)
	case digits > 0:
	case under > 0 && letters > 1, humps > 0:
		add(start, end, Symbol)
	case dots > 0:
		if n >= 5 {
			add(start, end, Symbol)
		}
	case dashes > 0:
		add(start, end, Kebab)
	case upper == letters && letters >= 2 && high == 0:
		add(start, end, Caps)
	case upper > 0 && n >= 3:
		add(start, end, Name)
	case n >= 3:
		add(start, end, Word)
	}
}

// highRun reads text that is not ASCII at i: a word of an alphabet, or pairs of
// neighbouring characters where words are not parted by spaces.
func highRun(text string, i int, add func(int, int, Class)) int {
	r, n := utf8.DecodeRuneInString(text[i:])
	if !unicode.IsLetter(r) {
		return i + n
	}
	if !Unspaced(r) {
		return chunk(text, i, i+n, add)
	}
	for {
		next, m := utf8.DecodeRuneInString(text[i+n:])
		if m == 0 || !Unspaced(next) || !unicode.IsLetter(next) {
			return i + n
		}
		add(i, i+n+m, Gram)
		i, n = i+n, m
	}
}

// Unspaced reports whether r belongs to a script that writes no spaces between words.
func Unspaced(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, // Thai, Lao
		r >= 0x1000 && r <= 0x109F,   // Myanmar
		r >= 0x1780 && r <= 0x17FF,   // Khmer
		r >= 0x3040 && r <= 0x30FF,   // Kana
		r >= 0x3400 && r <= 0x4DBF,   // Han
		r >= 0x4E00 && r <= 0x9FFF,   // Han
		r >= 0xF900 && r <= 0xFAFF,   // Han
		r >= 0x20000 && r <= 0x3FFFF: // Han
		return true
	}
	return false
}

// Alarming reports whether a term tells of an error.
func Alarming(text string, c Class) bool {
	if c == Gram {
		switch text {
		case "错误", "失败", "异常", "报错", "錯誤", "失敗", "異常", "エラ", "例外":
			return true
		}
		return false
	}
	if c != Word && c != Name && c != Caps && c != Symbol || len(text) < 4 {
		return false
	}
	var buf [24]byte
	if len(text) > len(buf) {
		text = text[len(text)-len(buf):]
	}
	for i := range len(text) {
		buf[i] = text[i]
		if text[i] >= 'A' && text[i] <= 'Z' {
			buf[i] |= 0x20
		}
	}
	switch s := string(buf[:len(text)]); {
	case s == "fail", s == "failed", s == "fails", s == "failure", s == "fatal", s == "panic", s == "traceback", s == "denied",
		s == "undefined", s == "refused", s == "aborted", s == "killed", s == "timeout", s == "cannot", s == "segfault", s == "errno",
		s == "unexpected", s == "invalid", s == "enoent", s == "eacces", s == "enospc", s == "sigkill",
		s == "fehler", s == "erreur", s == "falha", s == "errore", s == "ошибка", s == "fallo", s == "오류", s == "실패":
		return true
	default:
		return strings.HasSuffix(s, "error") || strings.HasSuffix(s, "errors") || strings.HasSuffix(s, "exception")
	}
}

// Letter reports whether b is an ASCII letter.
func Letter(b byte) bool { return kinds[b] == kindLetter }

// Digit reports whether b is an ASCII digit.
func Digit(b byte) bool { return kinds[b] == kindDigit }

// Joint reports whether b may stand between the parts of a name: . / - : @ = + # % ~
func Joint(b byte) bool { return kinds[b] == kindJoint }
