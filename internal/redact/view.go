package redact

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// view is a text as the rules look at it: as it is, or with the escapes of JSON,
// addresses and HTML undone. What a rule finds there is replaced in the text itself.
type view struct {
	src    string
	under  *view   // what src was made of, nil for the text itself
	joints []joint // the places behind the escapes undone, in order
}

// joint is one place in src and in the view under it. From there to the next
// escape the two go on alike.
type joint struct{ src, under int }

const (
	// maxUndone is how many times escapes are undone: HTML in JSON, an address in an
	// address. The backslashes of JSON in JSON are undone together.
	maxUndone = 3
	// nearEscape is how far from an undone escape a view is looked at, in bytes.
	// Farther away it shows nothing that the view under it does not.
	nearEscape = 512
	// maxBackslashes is the most backslashes before an escaped character, those of
	// three levels of JSON; maxEscape is the longest escape, in bytes.
	maxBackslashes = 8
	maxEscape      = maxBackslashes + len("u0022")
)

// undone is a view of v with one more level of escapes undone, nil where v has none.
func (v *view) undone() *view {
	s := v.src
	var out strings.Builder
	var joints []joint
	copied := 0
	for i := 0; i < len(s); {
		if c := s[i]; c != '\\' && c != '%' && c != '&' {
			i++
			continue
		}
		c, n := unescape(s[i:min(len(s), i+maxEscape)])
		if n == 0 {
			i += max(1, span(s[i:], maxBackslashes, isBackslash))
			continue
		}
		if copied == 0 {
			out.Grow(len(s))
		}
		out.WriteString(s[copied:i])
		out.WriteRune(c)
		i += n
		copied = i
		joints = append(joints, joint{out.Len(), i})
	}
	if joints == nil {
		return nil
	}
	out.WriteString(s[copied:])
	return &view{out.String(), v, joints}
}

// at is the place in the text that the view shows at i.
func (v *view) at(i int) int {
	for ; v.under != nil; v = v.under {
		if n := sort.Search(len(v.joints), func(n int) bool { return v.joints[n].src > i }); n > 0 {
			i += v.joints[n-1].under - v.joints[n-1].src
		}
	}
	return i
}

// stretches are the parts to look at: all of the text itself, and what is near the
// escapes undone.
func (v *view) stretches() [][2]int {
	if v.under == nil {
		return [][2]int{{0, len(v.src)}}
	}
	var out [][2]int
	for _, j := range v.joints {
		from, to := max(0, j.src-nearEscape), min(len(v.src), j.src+nearEscape)
		if last := len(out) - 1; last >= 0 && from <= out[last][1] {
			out[last][1] = to
			continue
		}
		for from > 0 && from < j.src && isWord(v.src[from-1]) {
			from++ // a token begins at its beginning
		}
		out = append(out, [2]int{from, to})
	}
	return out
}

// edit replaces places of a view in the text it shows, from left to right.
type edit struct {
	*view
	text   string
	out    strings.Builder
	copied int // bytes of the view that were dealt with
	from   int // the same place in the text
}

func newEdit(v *view) edit {
	text := v
	for text.under != nil {
		text = text.under
	}
	return edit{view: v, text: text.src}
}

// put writes shown in the place of src[start:end].
func (e *edit) put(start, end int, shown string) {
	e.out.WriteString(e.text[e.from:e.at(start)])
	e.out.WriteString(shown)
	e.copied, e.from = end, e.at(end)
}

// finish returns the text with the replacements made.
func (e *edit) finish() string {
	if e.from == 0 {
		return e.text
	}
	e.out.WriteString(e.text[e.from:])
	return e.out.String()
}

func isBackslash(c byte) bool { return c == '\\' }

// unescape reads the escape s begins with and returns its width, 0 for none. The
// escapes that the rules know themselves, \" and \n, are left.
func unescape(s string) (c rune, width int) {
	switch s[0] {
	case '%':
		if len(s) >= 3 {
			return escaped(s[1:3], 16, utf8.RuneSelf, 3)
		}
	case '&':
		name, _, closed := strings.Cut(s[1:], ";")
		width = len(name) + 2
		switch {
		case !closed:
			return 0, 0
		case strings.HasPrefix(name, "#x"), strings.HasPrefix(name, "#X"):
			return escaped(name[2:], 16, utf8.MaxRune, width)
		case strings.HasPrefix(name, "#"):
			return escaped(name[1:], 10, utf8.MaxRune, width)
		}
		switch name {
		case "quot":
			return '"', width
		case "apos":
			return '\'', width
		case "amp":
			return '&', width
		case "lt":
			return '<', width
		case "gt":
			return '>', width
		}
	default:
		n := span(s, maxBackslashes, isBackslash)
		switch rest := s[n:]; {
		case strings.HasPrefix(rest, "/"):
			return '/', n + 1
		case strings.HasPrefix(rest, "u") && len(rest) >= 5:
			return escaped(rest[1:5], 16, utf8.MaxRune, n+5)
		case strings.HasPrefix(rest, "x") && len(rest) >= 3:
			return escaped(rest[1:3], 16, utf8.RuneSelf, n+3)
		}
	}
	return 0, 0
}

// escaped reads the number of a character below limit. It returns the width given,
// 0 for what is no such number.
func escaped(digits string, base uint, limit rune, width int) (rune, int) {
	var c rune
	if digits == "" || len(digits) > 7 {
		return 0, 0
	}
	for i := range len(digits) {
		d := digits[i]
		switch {
		case isDigit(d):
			c = c*rune(base) + rune(d-'0')
		case base == 16 && isHexDigit(d):
			c = c*16 + rune(d|0x20-'a') + 10
		default:
			return 0, 0
		}
	}
	if c >= limit || !utf8.ValidRune(c) {
		return 0, 0
	}
	return c, width
}
