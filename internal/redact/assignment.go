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
