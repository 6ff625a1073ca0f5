package redact

import "strings"

// Bounds of the look around a separator, in bytes. A bare value is judged by its
// first maxBare bytes and replaced to its end.
const (
	maxQuoted = 4096
	maxBare   = 256
	maxGap    = 32
)

// assignment looks at the separator of the given width at i: what is named before
// it, and whether the value after it is a secret. It returns where to go on.
func (sc *scanner) assignment(i, width int) int {
	s := sc.src
	next := i + width
	if s[i] == ':' && strings.HasPrefix(s[i:], "://") {
		return sc.address(i)
	}
	n := sc.nameBefore(i)
	if n.start < sc.copied || n.fam == famNone && !n.pair {
		return next
	}
	v := valueAfter(s, next, n.inQuery)
	sc.work += v.end - i
	if n.pair && n.fam != famHeader {
		if at := sc.pair(v); at > i {
			return at
		}
	}
	if v.start < sc.copied {
		return next
	}
	switch n.fam {
	case famNone:
		return next
	case famHeader:
		return max(next, sc.header(v))
	case famCookie:
		return max(next, sc.cookies(v))
	case famKeyLines:
		return max(next, sc.lineBlock(v))
	}
	if v.start >= v.end {
		return next
	}
	if !v.quoted && n.line && allCaps(n.text) && v.sep == '=' && !v.spaced && strings.IndexByte(",;{}|<>)'`", v.next) >= 0 {
		v.end = v.whole(s, endsLine) // a password may hold these
	}
	// What stands beside a placeholder is judged by itself.
	text := s[v.start:v.end]
	if rest := withoutPlaceholders(text); rest != text {
		if len(rest) < 4 || !random(rest) {
			return next
		}
		text = rest
	}
	if n.inQuery && !v.quoted {
		if !queryValue(n.fam, text) {
			return next
		}
		kind := kindOf(n.fam, n.text)
		if n.fam != famPassword {
			kind = KindQueryParam
		}
		return sc.named(v.start, v.whole(s, endsParam), kind)
	}
	if (v.quoted || v.opened) && !v.spaced && !n.quoted && concatenated(text) {
		return next
	}
	if n.fam == famQuery || lookUp(text) || !secretValue(n, text, v) {
		return next
	}
	return sc.named(v.start, v.whole(s, v.ends(n)), kindOf(n.fam, n.text))
}

// named replaces a value found by its name. A key whose form tells more keeps the
// kind of its form.
func (sc *scanner) named(start, end int, kind string) int {
	run := start + span(sc.src[start:], maxQuoted, isWord)
	byForm, stop := sc.vendorAt(start)
	if byForm == "" && run > start {
		byForm, stop = sc.shapeAt(start, run, true)
	}
	switch {
	case byForm != "":
	case sc.src[start] == '$':
		byForm, stop = KindPasswordHash, sc.hashAt(start)
	case end > start+5 && sc.src[start+5] == '~':
		byForm, stop = kindAzureSecret, sc.azureAt(start+5)
	}
	if byForm != "" && stop >= end {
		kind, end = byForm, stop
	}
	return sc.replace(start, end, kind, true)
}

// name is what stands before a separator.
type name struct {
	start, end int
	text       string
	fam        family
	quoted     bool // it stands in quotes
	inQuery    bool // it is a parameter of an address or a form
	line       bool // nothing but indentation and the like stands before it on its line
	pair       bool // it is "name" or "key", whose value may be the name of another value
}

// nameBefore finds the name that ends before a separator at i: through spaces
// and quotes, escaped ones included, back over at most maxName characters.
func (sc *scanner) nameBefore(i int) name {
	s := sc.src
	n := name{end: i}
	for n.end > 0 && n.end > i-maxGap && (s[n.end-1] == ' ' || s[n.end-1] == '\t') {
		n.end--
	}
	sc.work += i - n.end
	floor := n.end - 9
	for n.end > 0 && n.end > floor && (s[n.end-1] == '"' || s[n.end-1] == '\'' || s[n.end-1] == '`' || s[n.end-1] == '\\' || s[n.end-1] == ']' || s[n.end-1] == '*') {
		n.end--
		n.quoted = true
	}
	if n.end > 0 && s[n.end-1] >= 0x80 {
		n.start = n.end
		n.fam = foreignFamily(s[:n.end])
		return n
	}
	n.start = back(s, n.end)
	sc.work += n.end - n.start
	if n.start == n.end {
		return n
	}
	n.start = sc.skipEscape(n.start, n.end)
	if t := s[n.start:n.end]; t == "str" || t == "string" || t == "String" {
		// "const apiKey: string = ..." and "var apiKey string = ..."
		at := n.start
		for at > 0 && at > n.start-3 && (s[at-1] == ' ' || s[at-1] == ':') {
			at--
		}
		if at < n.start {
			n.end, n.start = at, back(s, at)
		}
	}
	for n.start < n.end && (s[n.start] == '-' || s[n.start] == '.') {
		n.start++
	}
	n.text = s[n.start:n.end]
	n.fam = familyOf(n.text)
	if n.text == "a" || n.text == "o" || n.text == "passe" { // contraseña, hasło, mot de passe
		n.fam = foreignFamily(s[:n.end])
	}
	if (n.fam == famQuery || n.fam == famNone) && !n.quoted && n.start > 1 && s[n.start-1] == ' ' && joins(n.text) {
		// "API key: ..." is a name of two words.
		if first := back(s, n.start-1); first < n.start-1 && n.end-first < maxName {
			if fam := familyOf(s[first:n.end]); fam != famQuery && fam != famNone {
				n.start, n.fam, n.text = first, fam, s[first:n.end]
			}
		}
	}
	switch n.text {
	case "name", "Name", "key", "Key", "variable", "header":
		n.pair = true
	}
	if n.fam != famNone {
		n.inQuery = afterQuerySign(s, n.start)
		n.line = startsLine(s, n.start)
	}
	return n
}

// joins reports whether a word may be the second of a name of two words.
func joins(w string) bool {
	switch w {
	case "key", "Key", "KEY", "phrase", "Phrase", "number", "Number":
		return true
	}
	return false
}

// back is where the name begins that ends at end.
func back(s string, end int) int {
	start := end
	for start > 0 && end-start < maxName && (isWord(s[start-1]) || s[start-1] == '.') {
		start--
	}
	return start
}

// afterQuerySign reports whether the name at i is a parameter: after '?' or '&',
// plain, encoded or escaped.
func afterQuerySign(s string, i int) bool {
	if i == 0 {
		return false
	}
	switch s[i-1] {
	case '?', '&':
		return true
	}
	for _, sign := range [...]string{"amp;", `\u0026`, "%26", "%3F", "%3f"} {
		if strings.HasSuffix(s[:i], sign) {
			return true
		}
	}
	return false
}

// startsLine reports whether only indentation, a list dash, a quote, a prompt or a
// word such as export stands before i.
func startsLine(s string, i int) bool {
	for n := 0; i > 0 && n < 80; n++ {
		switch c := s[i-1]; {
		case c == ' ' || c == '\t' || c == '-' || c == '"' || c == '\'' || c == '>' || c == '*' || c == '$' || c == '+' || c == '|' || c == '`':
			i--
		case c == '\n' || c == '\r':
			return true
		case c == 't' && strings.HasSuffix(s[:i], "export"):
			i -= len("export")
		case c == 'V' && strings.HasSuffix(s[:i], "ENV"):
			i -= len("ENV")
		default:
			return (c == 'n' || c == 'r') && i > 1 && s[i-2] == '\\'
		}
	}
	return i == 0
}

// pair looks at the value of a field that names another: "name: DB_PASSWORD" and
// after it "value: ...". It returns where to go on, 0 for no match.
func (sc *scanner) pair(v value) int {
	s := sc.src
	if v.start >= v.end || v.end-v.start > maxName {
		return 0
	}
	called := s[v.start:v.end]
	fam := familyOf(called)
	if fam == famNone || fam == famQuery || !all(called, isNameByte) {
		return 0
	}
	at := v.end
	limit := min(len(s), at+80)
	for at < limit && (isSpace(s[at]) || strings.IndexByte("\"'\\,-", s[at]) >= 0 || s[at] == 'n' && s[at-1] == '\\') {
		at++
	}
	sc.work += at - v.end
	if !strings.HasPrefix(s[at:], "value") && !strings.HasPrefix(s[at:], "Value") {
		return 0
	}
	at += len("value")
	for at < limit && (s[at] == '"' || s[at] == '\'' || s[at] == '\\' || s[at] == ' ') {
		at++
	}
	if at >= limit || s[at] != ':' && s[at] != '=' {
		return 0
	}
	w := valueAfter(s, at+1, false)
	sc.work += w.end - at
	if w.start >= w.end {
		return 0
	}
	n := name{start: v.start, end: v.end, text: called, fam: fam, line: true}
	text := s[w.start:w.end]
	w.quoted = w.quoted || fam == famPassword || fam == famSecret
	switch {
	case fam == famHeader:
		return sc.header(w)
	case fam == famCookie:
		return sc.cookies(w)
	case lookUp(text) || withoutPlaceholders(text) != text || !secretValue(n, text, w):
		return 0
	}
	return sc.named(w.start, w.whole(s, w.ends(n)), kindOf(fam, called))
}

func isNameByte(c byte) bool { return isWord(c) || c == '.' }
