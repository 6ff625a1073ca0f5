package facts

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape decodes the inside of a JSON string literal. Broken escapes stay.
func Unescape(s string) string {
	esc := strings.IndexByte(s, '\\')
	if esc < 0 {
		return s
	}
	var sb strings.Builder
	sb.Grow(len(s))
	for esc >= 0 && esc+1 < len(s) {
		sb.WriteString(s[:esc])
		c := s[esc+1]
		s = s[esc+2:]
		switch c {
		case 'n':
			sb.WriteByte('\n')
		case 't':
			sb.WriteByte('\t')
		case 'r', 'b', 'f':
			sb.WriteByte(' ')
		case 'u':
			r, n := hexRune(s)
			s = s[n:]
			if utf16.IsSurrogate(r) && strings.HasPrefix(s, `\u`) {
				low, m := hexRune(s[2:])
				if joined := utf16.DecodeRune(r, low); joined != utf8.RuneError {
					r = joined
					s = s[2+m:]
				}
			}
			sb.WriteRune(r)
		default:
			sb.WriteByte(c)
		}
		esc = strings.IndexByte(s, '\\')
	}
	sb.WriteString(s)
	return sb.String()
}

// hexRune reads four hexadecimal digits.
func hexRune(s string) (rune, int) {
	if len(s) < 4 {
		return utf8.RuneError, 0
	}
	var r rune
	for i := range 4 {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return utf8.RuneError, 0
		}
		r = r<<4 | rune(c)
	}
	return r, 4
}
