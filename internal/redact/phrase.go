package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// phrase looks at words after which a secret stands without a separator: "Bearer
// VALUE", "machine HOST login USER password VALUE", "ENV NAME VALUE", "password is
// VALUE", IDENTIFIED BY 'VALUE'. It returns where to go on, start for no match.
func (sc *scanner) phrase(start, end int) int {
	s := sc.src
	if end >= len(s) || s[end] != ' ' && s[end] != '\n' && s[end] != '\t' {
		return start
	}
	run := s[sc.skipEscape(start, end):end]
	if len(run) > 10 {
		return start
	}
	switch run {
	case "Bearer", "bearer", "BEARER":
		return sc.bearer(start, end)
	case "Basic", "basic":
		return sc.basic(start, end)
	case "machine":
		return sc.netrc(start, end)
	case "ENV", "setenv":
		return sc.twoWords(start, end, 1)
	case "set", "SET": // "aws configure set NAME VALUE", a shell's, and prose
		return sc.twoWords(start, end, 8)
	case "BY", "by", "PASSWORD", "password", "Password":
		if next := sc.quotedAfter(start, end, run); next > start {
			return next
		}
	}
	return sc.statement(start, end)
}

// bearer replaces the credential after the word Bearer in prose or a command.
func (sc *scanner) bearer(start, end int) int {
	s := sc.src
	at := end + 1
	stop := at
	for stop < len(s) && isCredentialByte(s[stop]) && s[stop] != ':' && s[stop] != '!' {
		stop++
	}
	for stop > at && s[stop-1] == '.' {
		stop--
	}
	sc.work += min(stop-at, maxBare)
	if stop-at < 16 || !random(s[at:min(stop, at+maxBare)]) || wordy(s[at:min(stop, at+maxBare)]) || identifiers(s[at:min(stop, at+maxBare)]) {
		return start
	}
	return sc.named(at, stop, KindAuthorization)
}

// basic replaces base64 of user and password after the word Basic.
func (sc *scanner) basic(start, end int) int {
	s := sc.src
	at := end + 1
	n := span(s[at:], maxQuoted, isBase64)
	sc.work += n
	if n < 8 {
		return start
	}
	head := strings.TrimRight(s[at:at+n], "=")
	plain, err := base64.RawStdEncoding.DecodeString(head[:min(len(head), maxBare)/4*4])
	if len(head) <= maxBare {
		plain, err = base64.RawStdEncoding.DecodeString(head)
	}
	if err != nil || !utf8.Valid(plain) || strings.IndexByte(string(plain), ':') <= 0 || strings.ContainsAny(string(plain), "\x00\x01\x02\x03") {
		return start
	}
	return sc.replace(at, at+n, KindAuthorization, true)
}

// netrc replaces the password of an entry "machine HOST login USER password VALUE",
// on one line or several.
func (sc *scanner) netrc(start, end int) int {
	s := sc.src
	limit := min(len(s), end+maxQuoted/8)
	before := ""
	entry := false
	for at := end; at < limit; {
		for at < limit && (isSpace(s[at]) || lineBreak(s, at) > 0) {
			at += max(1, lineBreak(s, at))
		}
		stop := at
		for stop < len(s) && stop < at+maxBare && !isSpace(s[stop]) && s[stop] != '\\' && s[stop] != '"' {
			stop++
		}
		word := s[at:stop]
		entry = entry || word == "login"
		switch {
		case before == "password" && entry:
			sc.work += stop - end
			if word == "" || lookUp(word) || withoutPlaceholders(word) != word {
				return start
			}
			return sc.replace(at, stop, KindPassword, true)
		case stop == at, word == "machine", word == "default":
			sc.work += stop - end
			return start
		}
		before = word
		at = stop
	}
	sc.work += limit - end
	return start
}

// twoWords replaces the value in "ENV NAME VALUE". A value to be judged by its looks
// alone must have a least length and a digit.
func (sc *scanner) twoWords(start, end, least int) int {
	s := sc.src
	at := end + 1
	for range 3 { // "set -x NAME VALUE" of fish
		if n := span(s[at:], maxName, isWord); n > 1 && s[at] == '-' && at+n < len(s) && s[at+n] == ' ' {
			at += n + 1
			least = 1
		}
	}
	if strings.HasPrefix(s[at:], "//") { // a registry in npm's configuration
		if n := strings.Index(s[at:min(len(s), at+maxBare)], "/:"); n > 0 {
			at += n + len("/:")
		}
	}
	stop := at + span(s[at:], maxName, isNameByte)
	if stop >= len(s) || s[stop] != ' ' || stop == at {
		return start
	}
	n := name{start: at, end: stop, text: s[at:stop], fam: familyOf(s[at:stop]), line: true}
	if n.fam == famNone || n.fam == famQuery || n.fam == famHeader || n.fam == famCookie || n.fam == famKeyLines {
		return start
	}
	v := valueAfter(s, stop+1, false)
	sc.work += v.end - stop
	if v.start >= v.end || v.start > stop+3 || v.end-v.start < least || least > 1 && !hasDigit(s[v.start:v.end]) {
		return start
	}
	v.sep, v.spaced = '=', false
	text := s[v.start:v.end]
	if lookUp(text) || withoutPlaceholders(text) != text || !secretValue(n, text, v) {
		return start
	}
	return sc.named(v.start, v.whole(s, v.ends(n)), kindOf(n.fam, n.text))
}

// quotedAfter replaces the quoted text after the words PASSWORD and IDENTIFIED BY
// of SQL.
func (sc *scanner) quotedAfter(start, end int, run string) int {
	s := sc.src
	at := end + 1
	if (run == "BY" || run == "by") && strings.HasPrefix(s[at:], "PASSWORD ") {
		at += len("PASSWORD ")
	}
	quote := quoteAt(s, at)
	if quote == "" {
		return start
	}
	if run == "BY" || run == "by" {
		before := strings.ToUpper(s[max(0, start-11):start])
		if !strings.HasSuffix(before, "IDENTIFIED ") {
			return start
		}
	}
	at += len(quote)
	stop := closing(s, at, maxBare, quote)
	if stop-at < 3 || lookUp(s[at:stop]) || withoutPlaceholders(s[at:stop]) != s[at:stop] {
		return start
	}
	sc.work += stop - at
	text := s[at:stop]
	if strings.ContainsAny(text, " \n") || run != "BY" && run != "PASSWORD" && !hasDigit(text) && !hasSign(text) {
		return start
	}
	return sc.replace(at, stop, KindPassword, true)
}

// element looks at the text of an XML element whose opening tag ends with the '>'
// at i: <password>VALUE</password>.
func (sc *scanner) element(i int) int {
	s := sc.src
	start := back(s, i)
	if start == i || start == 0 || s[start-1] != '<' {
		return i + 1
	}
	fam := familyOf(s[start:i])
	if fam == famNone || fam == famQuery || fam == famHeader || fam == famCookie || fam == famKeyLines {
		return i + 1
	}
	stop := i + 1
	for stop < len(s) && stop < i+maxBare && s[stop] != '<' && s[stop] != '\n' && s[stop] != '\\' {
		stop++
	}
	sc.work += stop - start
	if stop == i+1 {
		return stop
	}
	text := s[i+1 : stop]
	n := name{start: start, end: i, text: s[start:i], fam: fam}
	v := value{start: i + 1, end: stop, sep: '>', quoted: true, next: '<'}
	if stop >= len(s) || s[stop] != '<' || lookUp(text) || withoutPlaceholders(text) != text || !secretValue(n, text, v) {
		return i + 1
	}
	return sc.named(i+1, stop, kindOf(fam, n.text))
}

// call looks at the arguments after the '(' at i: setenv("DB_PASSWORD", "VALUE") and
// withPassword("VALUE").
func (sc *scanner) call(i int) int {
	s := sc.src
	quote := quoteAt(s, i+1)
	if quote == "" || len(quote) == 3 && quote[0] == quote[1] {
		return i + 1
	}
	start := i + 1 + len(quote)
	end := closing(s, start, maxBare, quote)
	if end <= start {
		return i + 1
	}
	sc.work += end - i
	first := s[start:end]
	if begin := back(s, i); begin < i {
		// The function's name says what the argument is.
		n := name{start: begin, end: i, text: s[begin:i], fam: familyOf(s[begin:i])}
		v := value{start: start, end: end, sep: '(', quoted: true, next: quote[0]}
		switch n.fam {
		case famPassword:
			if len(first) >= 6 && (hasDigit(first) || hasSign(first)) && !strings.Contains(first, " ") && !lookUp(first) &&
				withoutPlaceholders(first) == first && familyOf(first) == famNone {
				return sc.named(start, end, KindPassword)
			}
		case famToken, famAPIKey, famSecret:
			if len(first) >= 12 && mixed(first) && !wordy(first) && secretValue(n, first, v) && !lookUp(first) && withoutPlaceholders(first) == first {
				return sc.named(start, end, kindOf(n.fam, n.text))
			}
		}
	}
	if len(first) > maxName || !all(first, isUserByte) {
		return i + 1
	}
	if takesLogin(s, i) {
		return sc.login(i, end+len(quote))
	}
	fam := familyOf(first)
	if fam == famNone || fam == famQuery || fam == famCookie || fam == famKeyLines {
		return i + 1
	}
	at := end + len(quote)
	for at < len(s) && at < end+len(quote)+6 && (s[at] == ',' || s[at] == ' ') {
		at++
	}
	if at == end+len(quote) {
		return i + 1
	}
	v := valueAfter(s, at, false)
	sc.work += v.end - at
	if !v.quoted || v.start > at+8 {
		return i + 1
	}
	if fam == famHeader {
		return max(i+1, sc.header(v))
	}
	n := name{start: start, end: end, text: first, fam: fam}
	text := s[v.start:v.end]
	if v.start >= v.end || lookUp(text) || withoutPlaceholders(text) != text || familyOf(text) != famNone || !random(text) && !hasSign(text) || !secretValue(n, text, v) {
		return i + 1
	}
	return sc.named(v.start, v.end, kindOf(fam, first))
}

// takesLogin reports whether the arguments after the '(' at i are a user and a
// password: HTTPBasicAuth(...), client.login(...), auth=(...).
func takesLogin(s string, i int) bool {
	end := i
	for end > 0 && (s[end-1] == ' ' || s[end-1] == '=') && end > i-3 {
		end--
	}
	called := strings.ToLower(s[back(s, end):end])
	return strings.HasSuffix(called, "auth") || end == i && (strings.HasSuffix(called, "login") || strings.HasSuffix(called, "credentials"))
}

// login replaces the second argument of a call whose '(' stands at i and whose
// first argument ended at end.
func (sc *scanner) login(i, end int) int {
	s := sc.src
	at := end
	for at < len(s) && at < end+6 && (s[at] == ',' || s[at] == ' ') {
		at++
	}
	quote := quoteAt(s, at)
	if at == end || quote == "" {
		return i + 1
	}
	at += len(quote)
	stop := closing(s, at, maxBare, quote)
	if stop < at+6 {
		return i + 1
	}
	sc.work += stop - i
	text := s[at:stop]
	if lookUp(text) || plainPath(text) || withoutPlaceholders(text) != text || strings.ContainsAny(text, " \n") || !hasDigit(text) && !hasSign(text) {
		return i + 1
	}
	return sc.replace(at, stop, KindPassword, true)
}
