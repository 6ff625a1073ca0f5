package redact

import "strings"

// scanner goes through one view of a text from left to right. Every rule looks a bounded
// distance back and either a bounded distance forward or to the end of what it
// replaces, which keeps the whole pass linear.
type scanner struct {
	edit
	r     *Redactor
	uncut int // up to here no token is cut by invisible characters, or it was dealt with
	work  int // bytes looked at beside the scan itself
}

// Byte classes of the scan.
const (
	plain   = iota // nothing begins here
	word           // letters, digits, '_' and '-': the characters of most tokens
	assign         // ':' and '=', which may stand between a name and its value
	bracket        // '[', which may begin a placeholder
	angle          // '>', which may end the tag before a value
	call           // '('
	dollar         // may begin a password hash
	tilde          // stands in the client secrets of Azure
	wide           // may begin a colon of East Asian text
	copula         // may end the word for "is" of East Asian text
)

// classes is never written to.
var classes = func() (t [256]uint8) {
	for c := range t {
		if isWord(byte(c)) {
			t[c] = word
		}
	}
	t[':'], t['='], t['['], t['>'], t['('] = assign, assign, bracket, angle, call
	for _, c := range [...]byte{0x80, 0x94, 0xAF, 0xBA} {
		t[c] = copula
	}
	t['$'], t['~'], t[0xEF] = dollar, tilde, wide
	return t
}()

// endings holds the characters after which nothing goes on that a short word began: no
// key, no name and no statement. It is never written to.
var endings = func() (t [256]bool) {
	for _, c := range []byte("\n\r\t,;()[]{}<>\"'`|!?*#$&@~^") {
		t[c] = true
	}
	return t
}()

// run looks for what begins in src[from:to].
func (sc *scanner) run(from, to int) {
	s := sc.src
	for i := max(from, sc.copied); i < to; {
		switch classes[s[i]] {
		case plain:
			i++
		case word:
			end := i + 1
			for end < len(s) && classes[s[end]] == word {
				end++
			}
			if end-i < 9 && end < len(s) && endings[s[end]] && !isDigit(s[i]) && s[i] != '-' && (i == 0 || s[i-1] != '\\') || sc.ordinary(i, end) {
				i = end
				continue
			}
			i = sc.word(i, end)
		case assign:
			i = sc.assignment(i, 1)
		case bracket:
			i = sc.bracket(i)
		case angle:
			i = sc.element(i)
		case call:
			i = sc.call(i)
		case dollar:
			i = sc.hash(i)
		case tilde:
			i = sc.azure(i)
		case copula:
			i = sc.foreignStatement(i)
		default: // wide
			i = sc.fullWidth(i)
		}
	}
}

// fullWidth treats the separators of East Asian text like the others.
func (sc *scanner) fullWidth(i int) int {
	for _, sign := range [...]string{"：", "＝"} {
		if strings.HasPrefix(sc.src[i:], sign) {
			return sc.assignment(i, len(sign))
		}
	}
	return i + 1
}

// replace puts a placeholder in the place of src[start:end] and returns end.
// What was replaced before is never replaced again.
func (sc *scanner) replace(start, end int, kind string, remember bool) int {
	if start < sc.copied || start >= end {
		return max(end, sc.copied)
	}
	sc.put(start, end, sc.r.name(kind, stripHidden(sc.src[start:end]), remember))
	return end
}

// bracket passes over a placeholder, or over a single '['.
func (sc *scanner) bracket(i int) int {
	_, _, width := parsePlaceholder(sc.src[i:])
	return i + max(width, 1)
}

// ordinary reports quickly that no rule can hold for a run, as is so for nearly
// all of them.
func (sc *scanner) ordinary(start, end int) bool {
	s := sc.src
	n := end - start
	c := s[start]
	if n >= 15 || c == '-' || start > 0 && s[start-1] == '\\' || n >= 9 && (s[end-1] == 'N' || end < len(s) && (s[end] == '\n' || s[end] == '\\')) || end < len(s) && (s[end] < ' ' || s[end] > '~') && hiddenLen(s[end:]) > 0 {
		return false
	}
	if isDigit(c) {
		return n < 4 // numbers of cards and bots
	}
	if end+4 < len(s) && s[end] == ' ' {
		switch n {
		case 1: // contraseña
			return c != 'a' || start == 0 || s[start-1] < 128
		case 3, 5, 6: // key, set, ENV, Basic, Bearer, token, secret, passe
			return s[end+1] != 'i' && c|0x20 != 'b' && c|0x20 != 'e' && c|0x20 != 's' && s[start:end] != "passe"
		case 2, 4: // BY, pass
			return c|0x20 != 'b' && c|0x20 != 'p'
		case 7, 8, 10: // machine, passwd, password, Kennwort, passphrase, contrasena, wachtwoord
			return c|0x20 != 'm' && c|0x20 != 'p' && c|0x20 != 'k' && (n < 10 || c|0x20 != 'c' && c|0x20 != 'w')
		}
	}
	return !(end < len(s) && (s[end] == '.' || s[end] == '/' || s[end] == ':' || s[end] == '+' || s[end] == '=' || s[end] == '%') && goesOn(s[start:end]))
}

// goesOn reports whether a short run may begin a key that goes on after characters
// no run has.
func goesOn(run string) bool {
	if run[0] >= 128 {
		return false
	}
	for _, v := range spanning[run[0]] {
		if strings.HasPrefix(run, v) || strings.HasPrefix(v, run) {
			return true
		}
	}
	return len(run) == 14 || run == "SG" || run == "sl" || strings.HasPrefix(run, "bot")
}

// word looks at one run of token characters and returns where to go on.
func (sc *scanner) word(start, end int) int {
	s := sc.src
	if start < sc.copied {
		return end
	}
	if end < len(s) && hiddenLen(s[end:]) > 0 {
		if next := sc.cut(start, end); next > end {
			return next
		}
	}
	if end-start >= 9 && s[end-1] == 'N' || s[start] == '-' {
		if dashes := strings.Index(s[start:end], "----"); dashes >= 0 {
			if next := sc.armour(start+dashes, end); next > start+dashes {
				return next
			}
		}
	}
	if s[start] == '-' {
		if next := sc.option(start, end); next > start {
			return next
		}
	}
	if next := sc.token(start, end); next > start {
		return next
	}
	if next := sc.phrase(start, end); next > start {
		return next
	}
	return end
}

// token looks for a key by its form: at the beginning of the run, after an escape
// that the run begins with, and after every joint.
func (sc *scanner) token(start, end int) int {
	s := sc.src
	begin := sc.skipEscape(start, end)
	for _, at := range [...]int{start, begin} {
		if next := sc.keyAt(at, end, at > start); next > at {
			return next
		}
		if begin == start {
			break
		}
	}
	if end-start < 15 {
		return start
	}
	for at := begin + 1; at < end-10; at++ {
		if s[at-1] != '-' && s[at-1] != '_' {
			continue
		}
		if kind, stop := sc.vendorAt(at); kind != "" {
			return sc.replace(at, stop, kind, true)
		}
	}
	return start
}

// keyAt looks for a key of any known form that begins at i, in a run that ends at
// end; escaped says that what stands before it is an escape. It returns where to go
// on, i for no match.
func (sc *scanner) keyAt(i, end int, escaped bool) int {
	if i >= end {
		return i
	}
	if kind, stop := sc.vendorAt(i); kind != "" {
		next := sc.replace(i, stop, kind, true)
		if kind == kindAWSKey {
			sc.awsSecret(stop)
			next = max(next, sc.copied)
		}
		return next
	}
	if kind, stop := sc.shapeAt(i, end, escaped); kind != "" {
		return sc.replace(i, stop, kind, true)
	}
	return i
}

// skipEscape returns where the text of a run begins when its first characters
// belong to what stands before it: \n, \u0026, %3D, a colour of a terminal.
func (sc *scanner) skipEscape(start, end int) int {
	s := sc.src
	if start == 0 {
		return start
	}
	n := 0
	switch s[start-1] {
	case '\\':
		switch s[start] {
		case 'n', 'r', 't', 'b', 'f', 'v', 'a', 'e':
			n = 1
		case 'u':
			n = 5
		case 'x':
			n = 3
		}
	case '%':
		n = 2
	case '[', ';':
		for n < 3 && start+n < end && isDigit(s[start+n]) {
			n++
		}
		if start+n >= end || s[start+n] != 'm' {
			return start
		}
		n++
	}
	return min(start+n, end)
}

// cut looks at a token that invisible characters cut in pieces.
func (sc *scanner) cut(start, end int) int {
	if start < sc.uncut {
		return end
	}
	whole := sc.hiddenRun(end)
	sc.uncut = whole
	sc.work += whole - start
	token := stripHidden(sc.src[start:whole])
	if whole == end || len(token) < 15 {
		return end
	}
	joined := scanner{edit: newEdit(&view{src: token}), r: sc.r}
	at := start
	for i := range len(token) - 10 {
		// A key begins after a joint or where a piece does.
		piece := i == 0
		for hidden := hiddenLen(sc.src[at:]); hidden > 0; hidden = hiddenLen(sc.src[at:]) {
			at += hidden
			piece = true
		}
		if piece || token[i-1] == '-' || token[i-1] == '_' {
			kind, _ := joined.vendorAt(i)
			if kind == "" && strings.HasPrefix(token[i:], "eyJ") {
				kind = KindJWT
			}
			if kind != "" {
				sc.work += joined.work
				return sc.replace(at, whole, kind, true)
			}
		}
		at++
	}
	sc.work += joined.work
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
