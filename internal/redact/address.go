package redact

import "strings"

// maxUserinfo bounds the credentials before the host of an address, in bytes.
const maxUserinfo = 256

// address looks for credentials after the "://" at i: scheme://user:PASSWORD@host
// or scheme://TOKEN@host.
func (sc *scanner) address(i int) int {
	s := sc.src
	start := i + len("://")
	at := -1
	colon := -1
scan:
	for p := start; p < len(s) && p < start+maxUserinfo; p++ {
		switch s[p] {
		case '@':
			at = p
		case ':':
			if colon < 0 {
				colon = p
			}
		case '/', '?', '#':
			// A password may hold these; the '@' of a path may not be taken for the end
			// of one.
			break scan
		case ' ', '\t', '\n', '\r', '"', '\'', '`', '<', '>', '\\', ')', ',', '|':
			break scan
		}
	}
	switch {
	case at < 0 || at == start:
		return start
	case colon >= 0 && colon < at:
		pass := s[colon+1 : at]
		if pass == "" || pass[0] == '$' || pass[0] == '{' || pass[0] == '<' || pass[0] == '*' || pass[0] == '[' {
			return at
		}
		return sc.replace(colon+1, at, KindURLPassword, true)
	case at-start >= 16 && random(s[start:at]):
		return sc.replace(start, at, KindURLPassword, true)
	}
	return start
}

// queryValue reports whether a parameter of an address holds a secret. Short
// values of names as common as key and code do not.
func queryValue(fam family, v string) bool {
	if lookUp(v) {
		return false
	}
	switch fam {
	case famPassword, famSecret:
		return len(v) >= 3
	case famQuery:
		return len(v) >= 8 && random(v)
	default:
		return len(v) >= 6 && (random(v) || len(v) >= 16)
	}
}

// option looks at a command-line option whose value is the next word:
// "--password VALUE", "-u user:VALUE". It returns where to go on, start for no match.
func (sc *scanner) option(start, end int) int {
	s := sc.src
	if start > 0 && !isSpace(s[start-1]) && s[start-1] != '"' || end >= len(s) || s[end] != ' ' {
		return start
	}
	name := s[start:end]
	at := end + 1
	quote := quoteAt(s, at)
	at += len(quote)
	stop := at
	for stop < len(s) && stop < at+maxBare && !endsValue(s[stop], false) {
		stop++
	}
	if stop == at || s[at] == '-' {
		return start
	}
	v := s[at:stop]
	whole := value{start: at, end: stop, cut: stop == at+maxBare}.whole
	switch {
	case name == "-u" || name == "--user":
		user, pass, ok := strings.Cut(v, ":")
		if !ok || user == "" || pass == "" || lookUp(pass) || !isASCIIName(user) || isNumber(pass) {
			return start
		}
		return sc.replace(at+len(user)+1, whole(s, false), KindPassword, true)
	case strings.HasPrefix(name, "--"):
		fam := familyOf(strings.TrimLeft(name, "-"))
		if fam == famNone || fam == famQuery || fam == famHeader || lookUp(v) || plainPath(v) {
			return start
		}
		if fam == famPassword && len(v) >= 3 || len(v) >= 8 && random(v) {
			return sc.replace(at, whole(s, false), fam.kind(), true)
		}
	}
	return start
}

func isASCIIName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '.' && s[i] != '@' {
			return false
		}
	}
	return true
}

// isNumber is true of a group id as in "docker run -u 1000:1000".
func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}
