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
	switch {
	case run == "--password-stdin", (run == "-S" || run == "-kS" || run == "-Sk" || run == "--stdin") && sc.commandBefore(start, "sudo", "passwd"):
		return max(start, sc.piped(start, end))
	case len(run) < 8 && run[1:] != "" && strings.IndexByte(run, 'b') > 0 && sc.commandBefore(start, "htpasswd"):
		return max(start, sc.htpasswd(end))
	}
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

// piped replaces the password that a command with an option at start reads from
// another: "echo VALUE | sudo -S". It returns end, or 0 for no match.
func (sc *scanner) piped(start, end int) int {
	from := max(sc.copied, start-maxBare)
	line := sc.src[from:start]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	sc.work += start - from
	bar := strings.LastIndexByte(line, '|')
	if bar < 0 {
		return 0
	}
	said := strings.LastIndex(line[:bar], "echo ")
	if said < 0 {
		said = strings.LastIndex(line[:bar], "printf ")
	}
	if said < 0 {
		return 0
	}
	// The last argument. An unquoted one holds no sign of the shell.
	words := strings.TrimRight(line[said:bar], " ")
	v := strings.TrimRight(words, "\"'\\")
	if mark := words[len(v):]; mark != "" {
		v = v[strings.LastIndexByte(v, mark[len(mark)-1])+1:]
	} else {
		v = v[strings.LastIndexByte(v, ' ')+1:]
		if strings.ContainsAny(v, ";&()<>") || strings.Contains(words, "; ") || strings.Contains(words, "& ") {
			return 0
		}
	}
	if len(v) < 3 || lookUp(v) || withoutPlaceholders(v) != v {
		return 0
	}
	at := start - len(line) + said + strings.LastIndex(words, v)
	sc.replace(at, at+len(v), KindPassword, true)
	return end
}

// htpasswd replaces the password after the option of htpasswd that ends at end, and
// after a file, unless the option says that there is none, and a user. It returns
// where to go on, 0 for no match.
func (sc *scanner) htpasswd(end int) int {
	s := sc.src
	words := 2
	if strings.IndexByte(s[max(0, end-8):end], 'n') >= 0 {
		words = 1
	}
	at := end
	for range 6 {
		if at >= len(s) || s[at] != ' ' || words == 0 {
			break
		}
		at++
		if at < len(s) && s[at] != '-' {
			words--
		}
		at += span(s[at:], maxBare, func(c byte) bool { return !endsValue(c) })
	}
	if words > 0 || at >= len(s) || s[at] != ' ' {
		return 0
	}
	v := valueAfter(s, at+1, false)
	sc.work += v.end - end
	if v.end-v.start < 3 {
		return 0
	}
	text := s[v.start:v.end]
	if lookUp(text) || withoutPlaceholders(text) != text {
		return 0
	}
	return sc.replace(v.start, v.whole(s, v.ends(name{})), KindPassword, true)
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
