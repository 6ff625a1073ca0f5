package conversation

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

// unquote decodes a valid JSON string literal. A lone surrogate becomes U+FFFD.
// A literal without escapes is returned as a substring, without copying.
func unquote(lit string) string { return unescape(lit[1 : len(lit)-1]) }

// unescape decodes the inside of a valid JSON string literal.
func unescape(body string) string {
	esc := strings.IndexByte(body, '\\')
	if esc < 0 {
		return body
	}
	var sb strings.Builder
	sb.Grow(len(body))
	for esc >= 0 {
		sb.WriteString(body[:esc])
		body = body[esc:]
		switch body[1] {
		case 'b':
			sb.WriteByte('\b')
		case 'f':
			sb.WriteByte('\f')
		case 'n':
			sb.WriteByte('\n')
		case 'r':
			sb.WriteByte('\r')
		case 't':
			sb.WriteByte('\t')
		case 'u':
			r, width := escapedRune(body)
			sb.WriteRune(r)
			body = body[width-2:]
		default:
			sb.WriteByte(body[1])
		}
		body = body[2:]
		esc = strings.IndexByte(body, '\\')
	}
	sb.WriteString(body)
	return sb.String()
}

// escapedRune decodes the \u escape, or surrogate pair of escapes, that s
// begins with, and returns its width in bytes.
func escapedRune(s string) (rune, int) {
	hi, _ := hex4(s, 2)
	if hi < 0xD800 || hi > 0xDFFF {
		return hi, 6
	}
	if hi < 0xDC00 && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if lo, ok := hex4(s, 8); ok && lo >= 0xDC00 && lo <= 0xDFFF {
			return (hi-0xD800)<<10 | (lo - 0xDC00) + 0x10000, 12
		}
	}
	return utf8.RuneError, 6
}

// Quote writes s as a JSON string literal with no more escapes than JSON
// demands, so that text in any script stays readable. Invalid UTF-8 becomes
// U+FFFD.
func Quote(s string) string {
	return `"` + escape(s) + `"`
}

// escape writes s as the inside of a JSON string literal.
func escape(s string) string {
	clean := 0
	for clean < len(s) && s[clean] >= ' ' && s[clean] != '"' && s[clean] != '\\' && s[clean] < utf8.RuneSelf {
		clean++
	}
	if clean == len(s) {
		return s
	}
	var sb strings.Builder
	sb.Grow(len(s) + len(s)/8 + 8)
	sb.WriteString(s[:clean])
	for _, r := range s[clean:] {
		switch {
		case r == '"' || r == '\\':
			sb.WriteByte('\\')
			sb.WriteRune(r)
		case r == '\n':
			sb.WriteString(`\n`)
		case r == '\t':
			sb.WriteString(`\t`)
		case r == '\r':
			sb.WriteString(`\r`)
		case r < ' ':
			const hex = "0123456789abcdef"
			sb.WriteString(`\u00`)
			sb.WriteByte(hex[r>>4])
			sb.WriteByte(hex[r&15])
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

// Literal is one string value found inside a JSON text.
type Literal struct {
	Span Span   // the literal with its quotes
	Text string // its decoded text
}

// StringValues lists every string value of a JSON text (object keys are not
// values), in order. It reports false when the text is not one valid JSON value
// or is nested too deeply.
func StringValues(json string) ([]Literal, bool) {
	var lits []Literal
	s := newScanner(json, DefaultMaxDepth)
	var walk func() *Error
	walk = func() *Error {
		switch s.peek() {
		case '{':
			return s.object(func(string, int) *Error { return walk() })
		case '[':
			return s.array(func(int) *Error { return walk() })
		case '"':
			span, err := s.str()
			if err == nil {
				lits = append(lits, Literal{span, unquote(json[span.Start:span.End])})
			}
			return err
		default:
			_, err := s.skip()
			return err
		}
	}
	if err := walk(); err != nil || s.end() != nil {
		return nil, false
	}
	return lits, true
}

// Member is one key and value of a JSON object.
type Member struct {
	Key   string
	Value string // JSON text
	At    Span   // where the value stands in the text it was listed from
	// Text is the decoded value when it is a string; IsString says so.
	Text     string
	IsString bool
}

func newMember(json, key string, at Span) Member {
	value := json[at.Start:at.End]
	m := Member{Key: key, Value: value, At: at}
	if value[0] == '"' {
		m.Text, m.IsString = unquote(value), true
	}
	return m
}

// Members lists the members of a JSON object in order. It reports false when
// the text is not one valid JSON object.
func Members(json string) ([]Member, bool) {
	var out []Member
	s := newScanner(json, DefaultMaxDepth)
	err := s.object(func(key string, _ int) *Error {
		span, err := s.skip()
		if err == nil {
			out = append(out, newMember(json, key, span))
		}
		return err
	})
	if err != nil || s.end() != nil {
		return nil, false
	}
	return out, true
}

// Elements lists the elements of a JSON array in order; Key is empty. It reports
// false when the text is not one valid JSON array.
func Elements(json string) ([]Member, bool) {
	var out []Member
	s := newScanner(json, DefaultMaxDepth)
	err := s.array(func(int) *Error {
		span, err := s.skip()
		if err == nil {
			out = append(out, newMember(json, "", span))
		}
		return err
	})
	if err != nil || s.end() != nil {
		return nil, false
	}
	return out, true
}
