package redact

import "strings"

// scanner goes through one text from left to right. Every rule looks a bounded
// distance back and either a bounded distance forward or to the end of what it
// replaces, which keeps the whole pass linear.
type scanner struct {
	src    string
	r      *Redactor
	out    strings.Builder
	copied int // bytes of src already written to out or replaced
	// noPEMEnd is set when no "-----END" follows, so that it is not looked for again.
	noPEMEnd bool
}

// Byte classes of the scan.
const (
	plain  = iota // nothing begins here
	word          // letters, digits, '_' and '-': the characters of most tokens
	assign        // ':' and '=', which may stand between a name and its value
	open          // '[', which may begin a placeholder
	hidden        // may begin an invisible character
)

// classes is never written to.
var classes = func() (t [256]uint8) {
	for c := range t {
		switch {
		case isWord(byte(c)):
			t[c] = word
		case c == ':' || c == '=':
			t[c] = assign
		case c == '[':
			t[c] = open
		case hiddenLen(string([]byte{byte(c), 0x80, 0x8b})) > 0, c == 0xC2, c == 0xEF:
			t[c] = hidden
		}
	}
	return t
}()

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c == '-'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (sc *scanner) run() {
	s := sc.src
	for i := 0; i < len(s); {
		switch classes[s[i]] {
		case word:
			end := i + 1
			for end < len(s) && classes[s[end]] == word {
				end++
			}
			if sc.ordinary(i, end) {
				i = end
				continue
			}
			i = sc.word(i, end)
		case assign:
			i = sc.assignment(i)
		case open:
			i = sc.bracket(i)
		default:
			i++
		}
	}
}

// finish returns the text with the replacements made.
func (sc *scanner) finish() string {
	if sc.copied == 0 && sc.out.Len() == 0 {
		return sc.src
	}
	sc.out.WriteString(sc.src[sc.copied:])
	return sc.out.String()
}

// replace puts a placeholder in the place of src[start:end] and returns end.
// What was replaced before is never replaced again.
func (sc *scanner) replace(start, end int, kind string, remember bool) int {
	if start < sc.copied || start >= end {
		return max(end, sc.copied)
	}
	sc.out.WriteString(sc.src[sc.copied:start])
	sc.out.WriteString(sc.r.placeholder(kind, stripHidden(sc.src[start:end]), remember))
	sc.copied = end
	return end
}

// bracket passes over a placeholder, or over a single '['.
func (sc *scanner) bracket(i int) int {
	if strings.HasPrefix(sc.src[i:], placeholderHead) {
		if n := strings.IndexByte(sc.src[i:min(len(sc.src), i+64)], ']'); n > 0 {
			return i + n + 1
		}
	}
	return i + 1
}

// ordinary reports quickly that no rule can hold for a run, as is so for nearly
// all of them.
func (sc *scanner) ordinary(start, end int) bool {
	s := sc.src
	n := end - start
	if n >= 15 || s[start] == '-' || end < len(s) && classes[s[end]] == hidden {
		return false
	}
	if n >= 8 {
		return len(sc.r.known) == 0 && !isDigit(s[start])
	}
	return !(n == 2 && s[start] == 'S') && !(n == 6 && s[start] == 'B')
}

// word looks at one run of token characters and returns where to go on.
func (sc *scanner) word(start, end int) int {
	s := sc.src
	if start < sc.copied {
		return end
	}
	// A token cut by invisible characters is put together again.
	token := s[start:end]
	if end < len(s) && hiddenLen(s[end:]) > 0 {
		end = sc.hiddenRun(end)
		token = stripHidden(s[start:end])
	}
	if s[start] == '-' {
		if strings.HasPrefix(token, "-----BEGIN") {
			if next := sc.pem(start); next > start {
				return next
			}
		}
		if next := sc.option(start, end); next > start {
			return next
		}
	}
	if len(token) >= 8 && len(sc.r.known) > 0 {
		if _, ok := sc.r.known[token]; ok {
			return sc.replace(start, end, KindSecret, false)
		}
	}
	if len(token) < 15 && token != "SG" && token != "Bearer" && !telegramID(token) {
		return end
	}
	if kind, n := sc.r.vendor(token, s[end:]); kind != "" {
		return sc.replace(start, end+n, kind, true)
	}
	switch {
	case token == "Bearer":
		return sc.bearer(end)
	case telegramID(token):
		return sc.telegram(start, end)
	}
	return end
}

// hiddenRun extends a run of token characters over invisible ones in between.
func (sc *scanner) hiddenRun(end int) int {
	s := sc.src
	for end < len(s) {
		n := hiddenLen(s[end:])
		if n == 0 || end+n >= len(s) || classes[s[end+n]] != word {
			return end
		}
		end += n
		for end < len(s) && classes[s[end]] == word {
			end++
		}
	}
	return end
}

// hiddenLen is the length of the zero-width or control character s begins with, else 0.
func hiddenLen(s string) int {
	switch c := s[0]; {
	case c == '\n' || c == '\r' || c == '\t':
		return 0
	case c < ' ' || c == 0x7f:
		return 1
	case c == 0xC2 && strings.HasPrefix(s, "\u00ad"):
		return 2
	case c == 0xE2 && (strings.HasPrefix(s, "\u200b") || strings.HasPrefix(s, "\u200c") ||
		strings.HasPrefix(s, "\u200d") || strings.HasPrefix(s, "\u2060")):
		return 3
	case c == 0xEF && strings.HasPrefix(s, "\ufeff"):
		return 3
	default:
		return 0
	}
}

func stripHidden(s string) string {
	clean := true
	for i := range len(s) {
		if !isWord(s[i]) && hiddenLen(s[i:]) > 0 {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); {
		if n := hiddenLen(s[i:]); n > 0 {
			i += n
			continue
		}
		sb.WriteByte(s[i])
		i++
	}
	return sb.String()
}

// pem replaces a private key block that begins at i. Public keys and
// certificates are no secret.
func (sc *scanner) pem(i int) int {
	s := sc.src
	label := s[i:min(len(s), i+80)]
	if !strings.Contains(label, "PRIVATE KEY") {
		return i
	}
	end := -1
	if !sc.noPEMEnd {
		end = strings.Index(s[i:], "-----END")
		sc.noPEMEnd = end < 0
	}
	if end < 0 {
		return sc.replace(i, keyLines(s, i), KindPrivateKey, false)
	}
	end += i + len("-----END")
	if stop := strings.Index(s[end:min(len(s), end+60)], "-----"); stop >= 0 {
		end += stop + len("-----")
	}
	return sc.replace(i, end, KindPrivateKey, false)
}

// keyLines finds the end of a key that lacks its closing line: the first blank
// line, or the first character that no key holds.
func keyLines(s string, i int) int {
	for i < len(s) {
		c := s[i]
		if !isWord(c) && c != '+' && c != '/' && c != '=' && c != '\\' && !isSpace(c) && c != ':' && c != ',' {
			return i
		}
		if c == '\n' && i+1 < len(s) && s[i+1] == '\n' {
			return i
		}
		i++
	}
	return i
}
