package redact

import "strings"

func isWord(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }

func isAlnum(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHexDigit(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isBase64(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '=' }

func all(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return s != ""
}

func allDigits(s string) bool { return all(s, isDigit) }

func isHex(s string) bool { return all(s, isHexDigit) }

// span is the length of the characters of one kind that s begins with, at most most.
func span(s string, most int, is func(byte) bool) int {
	n := 0
	for n < len(s) && n < most && is(s[n]) {
		n++
	}
	return n
}

// lineBreak is the width of the line break s has at i: a plain one, or the escape
// of one at any depth, such as \\n. It is 0 for none.
func lineBreak(s string, i int) int {
	at := i
	for at < len(s) && at < i+8 && s[at] == '\\' {
		at++
	}
	switch {
	case at >= len(s):
		return 0
	case at > i && (s[at] == 'n' || s[at] == 'r'):
		return at + 1 - i
	case s[i] == '\n':
		return 1
	case strings.HasPrefix(s[i:], "\r\n"):
		return 2
	}
	return 0
}

// hasSign reports whether s has a character that passwords have and words do not.
func hasSign(s string) bool { return strings.ContainsAny(s, "!@#$%^*?&+~") }

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

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
