package redact

import "strings"

// value is where the value of an assignment stands.
type value struct {
	start, end int
	sep        byte // the character before the value and the spaces before it
	quoted     bool // it stands in quotes, start and end inside them
	opened     bool // a quote stands before it and none after it
	spaced     bool // a space stands before it
	toEOL      bool // nothing but a comment follows on its line
	next       byte // the character after it, 0 at the end
}

// whole is the end of a bare value of which only the beginning was looked at, or
// whose end the look took to be too near.
func (v value) whole(s string, ends func(byte) bool) int {
	end := v.end
	if v.quoted && ends == nil {
		return end
	}
	for end < len(s) && !ends(s[end]) && !foreignStop(s, end) && !(ends('&') && strings.HasPrefix(s[end:], "%26")) {
		end++
	}
	for end > v.end && strings.IndexByte(",;.)", s[end-1]) >= 0 {
		end--
	}
	return end
}

// ends is how far a value goes: to the end of its line where it has one to itself.
func (v value) ends(n name) func(byte) bool {
	switch {
	case v.quoted && v.next != 0:
		return nil
	case n.line && !n.quoted && v.toEOL:
		return endsLine
	case n.line && allCaps(n.text) && v.sep == '=':
		return endsLine
	}
	return endsValue
}

// valueAfter finds the value after a separator that ends at i.
func valueAfter(s string, i int, inQuery bool) value {
	at := i
	v := value{sep: s[i-1]}
	for at < len(s) && at < i+2 && (s[at] == ':' || s[at] == '=' || s[at] == '>') {
		v.sep = s[at]
		at++
	}
	for gap := at; at < len(s) && at < gap+maxGap && (s[at] == ' ' || s[at] == '\t' || s[at] == '*'); {
		at++
		v.spaced = true
	}
	at = skipBlock(s, at)
	if at < len(s)-1 && (s[at] == 'b' || s[at] == 'f' || s[at] == 'r' || s[at] == 'u') && (s[at+1] == '"' || s[at+1] == '\'') {
		at++
	}
	if quote := quoteAt(s, at); quote != "" && !inQuery {
		at += len(quote)
		if end := closing(s, at, maxQuoted, quote); end >= 0 {
			v.start, v.end, v.quoted, v.next = at, end, true, quote[len(quote)-1]
			return v
		}
		v.opened = true // take what a bare value would be
	}
	ends := endsValue
	if inQuery {
		ends = endsParam
	}
	v.start = at
	for at < len(s) && at < v.start+maxBare && !ends(s[at]) && !foreignStop(s, at) && !(inQuery && strings.HasPrefix(s[at:], "%26")) {
		at++
	}
	v.end = at
	if at < len(s) {
		v.next = s[at]
	}
	// What stands between the value and the end of the line.
	line := at
	for line < len(s) && line < at+64 && !endsLine(s[line]) {
		line++
	}
	rest := strings.TrimLeft(s[line:min(len(s), line+64)], " \t\r")
	// The end of the JSON string that a bare value is in ends its line too.
	v.toEOL = rest == "" && line+64 >= len(s) || rest != "" && (rest[0] == '\n' || rest[0] == '#') ||
		rest != "" && lineBreak(rest, 0) > 0 || strings.HasPrefix(strings.TrimLeft(rest, `\`), `"`)
	return v
}

// skipBlock passes over the head of a YAML block, "|" or ">-", after which the value
// is the next line. It returns i where none begins.
func skipBlock(s string, i int) int {
	if i >= len(s) || s[i] != '|' && s[i] != '>' {
		return i
	}
	at := i + 1
	if at < len(s) && (s[at] == '-' || s[at] == '+') {
		at++
	}
	width := lineBreak(s, min(at, len(s)))
	if width == 0 {
		return i
	}
	at += width
	for gap := at; at < len(s) && at < gap+maxGap && s[at] == ' '; {
		at++
	}
	return at
}

// quoteAt returns the quote s has at i together with the backslashes that
// escape it, "" for none.
func quoteAt(s string, i int) string {
	end := i
	for end < len(s) && end < i+8 && s[end] == '\\' {
		end++
	}
	if end < len(s) && (s[end] == '"' || s[end] == '\'' || s[end] == '`') {
		if triple := s[end : end+1]; end == i && strings.HasPrefix(s[i+1:], triple+triple) {
			return s[i : i+3]
		}
		return s[i : end+1]
	}
	return ""
}

// closing finds where the text in a quote ends that began at i, at most most bytes
// on, -1 for nowhere. A quote of the text itself has more backslashes than the one
// around it, for each level of escaping doubles them.
func closing(s string, i, most int, quote string) int {
	mark := quote[len(quote)-1]
	depth := len(quote) - 1
	if depth == 2 && quote[0] == mark { // a triple quote
		depth = 0
	}
	slashes := 0
	for at := i; at < len(s) && at < i+most; at++ {
		switch c := s[at]; {
		case c == '\\':
			slashes++
			continue
		case c == mark && slashes%(2*(depth+1)) == depth:
			return at - depth
		case c == '\n' && depth == 0 && len(quote) == 1:
			return -1
		}
		slashes = 0
	}
	return -1
}

// endsValue reports whether an unquoted value ends before c.
func endsValue(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '"', '\'', '`', '<', '>', '\\', ',', ';', ')', '(', ']', '[', '}', '{', '|':
		return true
	}
	return c < ' ' || c == 0x7f
}

// endsParam reports whether a parameter of an address ends before c.
func endsParam(c byte) bool { return c == '&' || c == '#' || endsValue(c) }

// endsLine reports whether a value that has its line to itself ends before c.
func endsLine(c byte) bool { return c <= ' ' || c == '"' || c == '\\' || c == '[' || c == 0x7f }

// foreignStop reports whether punctuation or text of another script begins at i,
// which ends a bare value: such texts have no spaces around it.
func foreignStop(s string, i int) bool {
	switch c := s[i]; {
	case c < 0xE2:
		return c == 0xC2 && i+1 < len(s) && (s[i+1] == 0xA0 || s[i+1] == 0xAB || s[i+1] == 0xBB)
	case c == 0xE2:
		return i+1 < len(s) && (s[i+1] == 0x80 || s[i+1] >= 0x94 && s[i+1] <= 0x9f)
	default:
		return c >= 0xE3 && c <= 0xED || c == 0xEF || c >= 0xF0
	}
}
