package redact

import "strings"

// Bounds of the look ahead, in bytes. A bare value is judged by its first
// maxBare bytes and replaced to its end.
const (
	maxQuoted = 2048
	maxBare   = 256
)

// assignment looks at the ':' or '=' at i: what is named before it, and whether
// the value after it is a secret. It returns where to go on.
func (sc *scanner) assignment(i int) int {
	s := sc.src
	if s[i] == ':' && strings.HasPrefix(s[i:], "://") {
		return sc.address(i)
	}
	start, end, quoted := nameBefore(s, i)
	if start == end || start < sc.copied {
		return i + 1
	}
	name := s[start:end]
	fam := familyOf(name)
	if fam == famNone {
		return i + 1
	}
	inQuery := start > 0 && (s[start-1] == '?' || s[start-1] == '&' || s[start-1] == ';')
	v := valueAfter(s, i, inQuery)
	if v.start >= v.end || v.start < sc.copied {
		return i + 1
	}
	text := s[v.start:v.end]
	switch {
	case inQuery && !v.quoted:
		if !queryValue(fam, text) {
			return i + 1
		}
		kind := KindQueryParam
		if fam == famPassword {
			kind = KindPassword
		}
		return sc.replace(v.start, v.whole(s, true), kind, true)
	case fam == famQuery:
		return i + 1
	case fam == famHeader:
		return sc.header(v, i)
	case lookUp(text) || !secretValue(fam, name, text, v, s, quoted, start):
		return i + 1
	}
	return sc.replace(v.start, v.whole(s, false), fam.kind(), true)
}

// whole is the end of the value where only its beginning was looked at.
func (v value) whole(s string, inQuery bool) int {
	end := v.end
	for v.cut && end < len(s) && !endsValue(s[end], inQuery) {
		end++
	}
	return end
}

// nameBefore finds the name that ends before a separator at i: through spaces
// and quotes, escaped ones included, back over at most maxName characters.
func nameBefore(s string, i int) (start, end int, quoted bool) {
	end = i
	for end > 0 && end > i-3 && s[end-1] == ' ' {
		end--
	}
	floor := end - 8
	for end > 0 && end > floor && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '`' || s[end-1] == '\\' || s[end-1] == ']') {
		end--
		quoted = true
	}
	start = end
	for start > 0 && end-start < maxName && (isWord(s[start-1]) || s[start-1] == '.') {
		start--
	}
	for start < end && (s[start] == '-' || s[start] == '.') {
		start++
	}
	return start, end, quoted
}

// value is where the value of an assignment stands.
type value struct {
	start, end int
	quoted     bool // it stands in quotes, start and end inside them
	spaced     bool // a space stands before it
	toEOL      bool // nothing but a comment follows on its line
	next       byte // the character after it, 0 at the end
	cut        bool // it goes on after end
}

// valueAfter finds the value after a separator at i.
func valueAfter(s string, i int, inQuery bool) value {
	at := i
	for at < len(s) && at < i+3 && (s[at] == ':' || s[at] == '=' || s[at] == '>') {
		at++
	}
	var v value
	for at < len(s) && at < i+12 && (s[at] == ' ' || s[at] == '\t') {
		at++
		v.spaced = true
	}
	if at < len(s)-1 && (s[at] == 'b' || s[at] == 'f' || s[at] == 'r' || s[at] == 'u') && (s[at+1] == '"' || s[at+1] == '\'') {
		at++
	}
	if quote := quoteAt(s, at); quote != "" && !inQuery {
		at += len(quote)
		rest := s[at:min(len(s), at+maxQuoted)]
		if n := strings.Index(rest, quote); n >= 0 {
			v.start, v.end, v.quoted = at, at+n, true
			return v
		}
		// No closing quote in sight: take what a bare value would be.
	}
	v.start = at
	for at < len(s) && at < v.start+maxBare && !endsValue(s[at], inQuery) {
		at++
	}
	v.end = at
	v.cut = at == v.start+maxBare
	if at < len(s) {
		v.next = s[at]
	}
	rest := strings.TrimLeft(s[at:min(len(s), at+64)], " \t\r")
	v.toEOL = rest == "" && at+64 >= len(s) || rest != "" && (rest[0] == '\n' || rest[0] == '#') || strings.HasPrefix(rest, `\n`)
	return v
}

// quoteAt returns the quote s has at i together with the backslashes that
// escape it, "" for none.
func quoteAt(s string, i int) string {
	end := i
	for end < len(s) && end < i+8 && s[end] == '\\' {
		end++
	}
	if end < len(s) && (s[end] == '"' || s[end] == '\'' || s[end] == '`') {
		return s[i : end+1]
	}
	return ""
}

// endsValue reports whether an unquoted value ends before c.
func endsValue(c byte, inQuery bool) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '"', '\'', '`', '<', '>', '\\':
		return true
	case '&', '#':
		return inQuery
	case ',', ';', ')', '(', ']', '[', '}', '{', '|':
		return true
	}
	return false
}

// lookUp reports whether a value is no secret but says where one comes from:
// a variable, a template, a call, an address in a secret store.
func lookUp(v string) bool {
	switch v[0] {
	case '$', '{', '<', '%', '*', '[', '(', '@':
		return true
	}
	if strings.HasPrefix(v, placeholderHead) {
		return true
	}
	lower := strings.ToLower(v[:min(len(v), 40)])
	for _, prefix := range [...]string{
		"os.", "process.env", "env.", "env[", "getenv", "system.getenv", "config.", "settings.", "self.", "this.",
		"vault:", "op://", "arn:", "ssm:", "secretsmanager", "secrets.", "file:", "redacted", "xxx", "your-", "your_", "...", "example",
	} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	switch lower {
	case "true", "false", "null", "none", "nil", "undefined", "string", "str", "text", "bytes", "int", "bool", "any",
		"optional", "required", "object", "unknown", "empty", "missing", "invalid", "expired", "bearer", "basic", "yes", "no", "n/a", "changed", "unchanged", "hidden", "masked":
		return true
	}
	return false
}

// secretValue judges a value by the family of its name and by how it stands.
func secretValue(fam family, name, v string, at value, s string, quotedName bool, nameStart int) bool {
	word := strings.IndexByte(v, ' ') < 0
	switch {
	case at.quoted && fam == famPassword:
		return word || strings.Count(v, " ") < 6 && hasDigitOrSign(v) || last(name, "passphrase")
	case at.quoted && fam == famSecret:
		return word && (len(v) >= 6 || random(v))
	case at.quoted:
		return word && len(v) >= 6 && (random(v) || len(v) >= 20 && !plainPath(v))
	case at.next == '(' || at.next == '[' || at.next == '{':
		return false // code: a call, an index, a literal
	}
	if fam != famPassword && plainPath(v) {
		return false
	}
	env := allCaps(name) && s[at.start-1] == '=' // KEY=value without spaces
	if env {
		return len(v) >= 4 && !reference(v)
	}
	if fam == famPassword {
		if reference(v) {
			return false
		}
		lineStart := startsLine(s, nameStart)
		switch {
		case len(v) < 3 || at.next == ',' && !hasDigitOrSign(v):
			return false
		case s[at.start-1] == '=': // password=x in a command or an address
			return true
		case quotedName || !at.spaced:
			return hasDigitOrSign(v)
		}
		return lineStart && at.toEOL && strings.IndexByte(v, '=') < 0 || hasDigitOrSign(v) && len(v) >= 6
	}
	return len(v) >= 10 && random(v) && !reference(v)
}

// reference reports whether v is an identifier of code or another name of a
// secret: config.password, new_password, getToken.
func reference(v string) bool {
	letters := true
	for i := range len(v) {
		if !isWord(v[i]) && v[i] != '.' && v[i] != ':' || isDigit(v[i]) {
			letters = false
			break
		}
	}
	if !letters {
		return false
	}
	return strings.IndexByte(v, '.') > 0 || familyOf(v) != famNone
}

func hasDigitOrSign(v string) bool {
	for i := range len(v) {
		if c := v[i]; isDigit(c) || c == '!' || c == '@' || c == '#' || c == '$' || c == '%' || c == '^' || c == '*' || c == '?' {
			return true
		}
	}
	return false
}

// plainPath reports whether v is a path or an address without credentials.
func plainPath(v string) bool {
	return v[0] == '/' && strings.Count(v, "/") >= 2 || v[0] == '~' || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") ||
		strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://")
}

func last(name, word string) bool {
	var buf [maxName]byte
	w, _ := lastWord(name, buf[:])
	return string(w) == word
}

// startsLine reports whether only indentation or a list dash stands before i.
func startsLine(s string, i int) bool {
	for n := 0; i > 0 && n < 80; n++ {
		switch s[i-1] {
		case ' ', '\t', '-', '"', '\'':
			i--
		case '\n', '\r':
			return true
		default:
			return strings.HasSuffix(s[:i], `\n`)
		}
	}
	return i == 0
}

// header replaces the credential of an Authorization header and keeps its scheme.
func (sc *scanner) header(v value, i int) int {
	s := sc.src
	limit := v.end
	if !v.quoted {
		for limit < len(s) && limit < v.start+maxBare && s[limit] != '\n' && s[limit] != '\r' && s[limit] != '"' && s[limit] != '\'' && s[limit] != '\\' {
			limit++
		}
	}
	at := v.start
	for at < limit && (classes[s[at]] == word) {
		at++
	}
	if at < limit && s[at] == ' ' && at > v.start {
		at++ // the scheme word stays
	} else {
		at = v.start
	}
	end := tokenEnd(s, at)
	if v.quoted {
		end = min(end, limit)
	}
	if end-at < 6 || lookUp(s[at:end]) || !random(s[at:end]) && end-at < 16 {
		return i + 1
	}
	return sc.replace(at, end, KindAuthorization, true)
}
