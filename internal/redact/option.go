package redact

import "strings"

// option looks at a command-line option whose value is the next word, or goes on
// in the same: "--password VALUE", "-u user:VALUE", "mysql -pVALUE". It returns
// where to go on, start for no match.
func (sc *scanner) option(start, end int) int {
	s := sc.src
	if start > 0 && !isSpace(s[start-1]) && s[start-1] != '"' && s[start-1] != '\'' && s[start-1] != '`' && s[start-1] != '[' {
		return start
	}
	run := s[start:end]
	if strings.HasPrefix(run, "-p") && len(run) > 4 && sc.commandBefore(start, "mysql", "mariadb") {
		stop := start + 2
		for stop < len(s) && stop < start+maxBare && !endsValue(s[stop]) {
			stop++
		}
		switch pass := s[start+2 : stop]; {
		case pass == "", pass == "assword", pass == "ort", pass == "rotocol", pass == "ager", lookUp(pass), withoutPlaceholders(pass) != pass:
			return start
		default:
			return sc.replace(start+2, stop, KindPassword, true)
		}
	}
	// The separator: a space, or the quotes and comma of an argument list.
	at := end
	for at < len(s) && at < end+24 && (s[at] == ' ' || s[at] == '"' || s[at] == '\'' || s[at] == ',' || s[at] == '\\') {
		at++
	}
	if at == end || at > end+1 && strings.IndexByte(s[end:at], ' ') < 0 && strings.IndexByte(s[end:at], ',') < 0 {
		return start
	}
	if at >= len(s) || s[at] == '-' {
		return start
	}
	stop := at
	for stop < len(s) && stop < at+maxBare && !endsValue(s[stop]) {
		stop++
	}
	sc.work += stop - end
	if stop == at {
		return start
	}
	v := s[at:stop]
	if withoutPlaceholders(v) != v {
		return start
	}
	whole := value{start: at, end: stop}.whole(s, endsValue)
	switch {
	case run == "-u" || run == "--user" || run == "--proxy-user" || run == "-U":
		user, pass, ok := strings.Cut(v, ":")
		if !ok || user == "" || pass == "" || lookUp(pass) || !all(user, isUserByte) || allDigits(pass) && allDigits(user) || strings.HasPrefix(pass, "//") {
			return start
		}
		return sc.replace(at+len(user)+1, whole, KindPassword, true)
	case run == "-p" && sc.commandBefore(start, "sshpass", "docker login", "podman login"),
		run == "-a" && sc.commandBefore(start, "redis-cli"):
		if lookUp(v) || len(v) < 3 {
			return start
		}
		return sc.replace(at, whole, KindPassword, true)
	case strings.HasPrefix(run, "--") || len(run) > 5:
		fam := familyOf(strings.TrimLeft(run, "-"))
		switch fam {
		case famPassword:
			if len(v) < 3 || reference(v) || !hasDigit(v) && !hasSign(v) && sc.prose(start) {
				return start
			}
		case famSecret, famToken, famAPIKey, famPrivateKey, famCredential:
			if len(v) < 8 || !random(v) {
				return start
			}
		default:
			return start
		}
		if lookUp(v) || plainPath(v) {
			return start
		}
		return sc.named(at, whole, kindOf(fam, strings.TrimLeft(run, "-")))
	}
	return start
}

// prose reports whether an option is spoken of rather than used: it stands in
// backquotes or at the beginning of a line of help.
func (sc *scanner) prose(start int) bool {
	return start == 0 || sc.src[start-1] == '`' || startsLine(sc.src, start)
}

// commandBefore reports whether one of the commands stands shortly before i on the
// same line.
func (sc *scanner) commandBefore(i int, commands ...string) bool {
	s := sc.src[max(0, i-120):i]
	if n := strings.LastIndexByte(s, '\n'); n >= 0 {
		s = s[n+1:]
	}
	sc.work += len(s)
	for _, c := range commands {
		if strings.Contains(s, c) {
			return true
		}
	}
	return false
}

func isUserByte(c byte) bool { return isWord(c) || c == '.' || c == '@' || c == '+' }
