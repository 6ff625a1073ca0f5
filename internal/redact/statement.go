package redact

import "strings"

// verbs stand between the name of a secret and its value in a sentence.
var verbs = [...]string{" is ", " is: ", " ist ", " ist: ", " lautet ", " es ", " es: ", " est ", " est : ", " é ", " è "}

// statement replaces the value in "the password is VALUE". It returns where to go
// on, start for no match.
func (sc *scanner) statement(start, end int) int {
	s := sc.src
	at := end
	if end+2 >= len(s) || strings.IndexByte("iel\xc3", s[end+1]) < 0 {
		return start
	}
	for _, verb := range verbs {
		if strings.HasPrefix(s[end:], verb) {
			at = end + len(verb)
		}
	}
	if at == end {
		return start
	}
	first := sc.skipEscape(start, end)
	fam := familyOf(s[first:end])
	if (fam == famQuery || fam == famNone) && first > 0 && s[first-1] == ' ' && joins(s[first:end]) {
		fam = familyOf(s[back(s, first-1):end])
	}
	if fam == famNone {
		fam = foreignFamily(s[:end])
	}
	return max(start, sc.stated(at, fam, s[first:end]))
}

// foreignStatement replaces the value after a word for "is" whose last byte is the
// one at i, as in 密码是VALUE. It returns where to go on.
func (sc *scanner) foreignStatement(i int) int {
	s := sc.src
	switch s[max(0, i-2) : i+1] {
	case "是", "为", "為", "は", "는", "은", "—":
	default:
		return i + 1
	}
	at := i + 1 + span(s[i+1:], 2, isSpace)
	for _, quote := range [...]string{"「", "『", "“", "‘"} {
		if strings.HasPrefix(s[at:], quote) {
			at += len(quote)
		}
	}
	return max(i+1, sc.stated(at, foreignFamily(strings.TrimRight(s[max(0, i-2-maxName):i-2], " ")), ""))
}

// stated replaces the value at i that a sentence gives to a name. It returns where
// to go on, 0 for no match.
func (sc *scanner) stated(i int, fam family, name string) int {
	s := sc.src
	switch fam {
	case famPassword, famSecret, famToken, famAPIKey:
	default:
		return 0
	}
	at := i + len(quoteAt(s, i))
	stop := at
	for stop < len(s) && stop < at+maxBare && !endsValue(s[stop]) && !foreignStop(s, stop) {
		stop++
	}
	sc.work += stop - i
	text := strings.TrimRight(s[at:stop], ".,:;")
	if text == "" || lookUp(text) || identifiers(text) && !random(text) || !random(text) && !hasSign(strings.TrimRight(text, "!?")) {
		return 0
	}
	least := 12
	if fam == famPassword {
		least = 6
	}
	if len(text) < least {
		return 0
	}
	return sc.named(at, at+len(text), kindOf(fam, name))
}
