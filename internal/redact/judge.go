package redact

import "strings"

// lookUp reports whether a value is no secret but says where one comes from, or
// stands for one: a variable, a template, a call, an address in a secret store, a
// word in the place of a secret.
func lookUp(v string) bool {
	v = strings.TrimSpace(v)
	if v == "" {
		return true
	}
	if strings.Contains(v, "----BEGIN") {
		return true // a key block is found by its form, and is longer than its first line
	}
	rest := v[1:]
	switch v[0] {
	case '$':
		name := span(rest, len(rest), func(c byte) bool { return isUpper(c) || c == '_' })
		if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "(") || all(rest, isNameByte) ||
			name >= 3 && strings.HasPrefix(rest[name:], "/") && all(rest, isPathByte) {
			return true
		}
	case '{':
		if strings.Contains(v, "}") || strings.HasPrefix(v, "{{") {
			return true
		}
	case '<':
		if strings.Contains(v, ">") || rest == "" || isAlnum(rest[0]) && all(rest, isWord) {
			return true
		}
	case '%':
		if strings.HasSuffix(v, "%") || strings.HasPrefix(rest, "(") || len(v) <= 3 {
			return true
		}
	case '[':
		if strings.Contains(v, "]") {
			return true
		}
	case '(':
		if strings.Contains(v, ")") {
			return true
		}
	case '@':
		if all(rest, isPathByte) && strings.ContainsAny(rest, "./") || rest == "" {
			return true
		}
	}
	if all(v, func(c byte) bool { return c == v[0] }) && !isDigit(v[0]) {
		return true // ***, xxxx, ......
	}
	lower := strings.ToLower(v[:min(len(v), 40)])
	for _, prefix := range [...]string{
		"os.", "process.env", "env.", "env[", "getenv", "system.getenv", "config.", "settings.", "self.", "this.", "import.meta",
		"vault:", "op://", "arn:", "ssm:", "secretsmanager", "secrets.", "file:", "redacted", "xxx", "your-", "your_", "your ", "yourpass", "...", "example",
		"changeme", "change-me", "change_me", "changeit", "placeholder", "replace-me", "replace_me", "insert-", "insert_", "dummy", "todo", "***", "•",
	} {
		if strings.HasPrefix(lower, prefix) {
			return true
		}
	}
	switch lower {
	case "true", "false", "null", "none", "nil", "undefined", "string", "str", "text", "bytes", "int", "bool", "any",
		"optional", "required", "object", "unknown", "empty", "missing", "invalid", "expired", "bearer", "basic", "yes", "no", "n/a", "changed",
		"unchanged", "hidden", "masked", "password", "passwd", "secret", "token", "pass", "number", "boolean", "varchar", "char", "default", "disabled",
		"enabled", "prompt", "file", "the", "a", "an":
		return true
	}
	return false
}

func isPathByte(c byte) bool { return isWord(c) || c == '.' || c == '/' || c == '~' }

// secretValue judges a value by the family of its name and by how it stands.
func secretValue(n name, v string, at value) bool {
	word := !strings.ContainsAny(v, " \t\n") && !strings.Contains(v, `\n`)
	switch n.fam {
	case famSSN:
		return len(v) == 11 && v[3] == '-' && v[6] == '-' && allDigits(v[:3]) && allDigits(v[4:6]) && allDigits(v[7:]) || len(v) == 9 && allDigits(v)
	case famMnemonic:
		return at.quoted && strings.Count(v, " ") >= 11 && strings.Count(v, " ") <= 23
	case famPrivateKey:
		if strings.HasSuffix(strings.ToLower(n.text), "data") {
			return len(v) >= 40 && all(v, isBase64)
		}
		if strings.Contains(v, "PRIVATE KEY") || strings.Contains(v, "PUBLIC KEY") || strings.Contains(v, "CERTIFICATE") {
			return false // a block is found by its form, and the rest is no secret
		}
	}
	if strings.Contains(v, `":`) || !at.quoted && strings.HasPrefix(v, "0x") && len(v) <= 18 && isHex(v[2:]) {
		return false // a document of its own; a number in code
	}
	if strings.EqualFold(n.text, "pass") && (len(v) < 6 || !hasDigit(v) || !word || strings.Trim(v, "0123456789./%,") == "") {
		return false
	}
	if strings.HasSuffix(strings.ToLower(n.text), "pwd") && plainPath(v) {
		return false // the working directory
	}
	switch {
	case at.quoted && n.fam == famPassword:
		return word && len(v) >= 3 || strings.Count(v, " ") < 6 && (hasDigit(v) || hasSign(v)) && !sentence(v) || passphrase(n.text)
	case at.quoted && n.fam == famSecret:
		return word && len(v) >= 6 && !plainPath(v) && (random(v) || hasSign(v) || !all(v, isNameByte) || len(v) >= 8 && !reference(v))
	case at.quoted && n.fam == famCredential:
		return word && len(v) >= 8 && random(v) && !plainPath(v) && !wordy(v)
	case at.quoted:
		return word && len(v) >= 6 && !plainPath(v) && (random(v) && (!reference(v) || digitCount(v) > 2) || len(v) >= 20 && !reference(v) && !all(v, isNameByteOrLower))
	case at.next == '(' || at.next == '[' || at.next == '{':
		if !(n.line && allCaps(n.text) && at.sep == '=') {
			return false // code: a call, an index, a literal
		}
		return !all(v, isNameByte) || hasDigit(v)
	}
	if n.fam != famPassword && plainPath(v) {
		return false
	}
	if allCaps(n.text) && at.sep == '=' && !at.spaced { // KEY=value
		return len(v) >= 4 && (!reference(v) || digitCount(v) > 2) && !plainPath(v)
	}
	if n.fam == famPassword {
		return barePassword(n, v, at)
	}
	if n.line && at.toEOL && len(v) >= 8 && (random(v) || hasSign(v)) && !reference(v) && !isCode(v) && !wordy(v) {
		return true
	}
	return len(v) >= 10 && hasDigit(v) && !reference(v) && !isCode(v) && !wordy(v)
}

func barePassword(n name, v string, at value) bool {
	telling := hasDigit(v) || hasSign(v)
	switch {
	case reference(v) || isCode(v):
		return false
	case len(v) < 3 || at.next == ',' && !telling:
		return false
	case at.sep == '=' && !at.spaced: // password=x in a command or an address
		return true
	case at.sep == '=':
		return n.line && at.toEOL && (telling || len(v) >= 6)
	case n.quoted || !at.spaced:
		return telling
	}
	return n.line && at.toEOL && strings.IndexByte(v, '=') < 0 || telling && len(v) >= 6
}

// isCode reports whether a bare value is an expression: a member of a member, or
// a name with a type of its own.
func isCode(v string) bool {
	if strings.HasPrefix(v, "&") || strings.HasPrefix(v, "!") && !hasDigit(v) {
		return true
	}
	return strings.Contains(v, "::") || strings.Contains(v, "->") || strings.Count(v, ".") >= 1 && identifiers(v)
}

// identifiers reports whether v consists of names with dots between them, as
// cfg.Auth2.key does.
func identifiers(v string) bool {
	start := true
	length, digits := 0, 0
	for i := range len(v) {
		c := v[i]
		switch {
		case c == '.':
			if start {
				return false
			}
			start, length, digits = true, 0, 0
			continue
		case start && isDigit(c), !isAlnum(c) && c != '_':
			return false
		}
		length++
		if isDigit(c) {
			digits++
		}
		if length > 24 || digits > 2 {
			return false
		}
		start = false
	}
	return !start
}

// sentence reports whether v is a line of prose such as "Please enter your
// password, 8 or more characters".
func sentence(v string) bool {
	words := strings.Fields(v)
	plain := 0
	for _, w := range words {
		if all(strings.TrimRight(w, ".,:;!?…"), func(c byte) bool { return c >= 'a' && c <= 'z' || isUpper(c) }) {
			plain++
		}
	}
	return plain >= 2
}

// concatenated reports whether what looks like a value in quotes stands between two
// strings of code: "password=" + user + "&x=".
func concatenated(v string) bool {
	t := strings.TrimLeft(v, " ")
	if t == "" {
		return false
	}
	switch t[0] {
	case '+', ',', ')', '.', '%':
		return t != v || !random(v)
	}
	return false
}

func passphrase(name string) bool {
	var buf [maxName]byte
	w, _ := lastWord(name, buf[:])
	return string(w) == "passphrase"
}

func digitCount(s string) int {
	n := 0
	for i := range len(s) {
		if isDigit(s[i]) {
			n++
		}
	}
	return n
}

func isNameByteOrLower(c byte) bool { return isNameByte(c) && !isDigit(c) }

// reference reports whether v is an identifier of code or another name of a
// secret: config.password, new_password, getToken, testRSA2048PrivateKey.
func reference(v string) bool {
	for range 2 { // token2 is a name too
		if v != "" && isDigit(v[len(v)-1]) {
			v = v[:len(v)-1]
		}
	}
	if len(v) <= 48 && all(v, isNameByte) {
		lower := strings.ToLower(v)
		for _, w := range [...]string{"privatekey", "publickey", "encryptionkey", "decryptionkey", "apikey", "secret", "token", "password", "creds", "credential"} {
			if strings.Contains(lower, w) {
				return true
			}
		}
	}
	for i := range len(v) {
		if !isWord(v[i]) && v[i] != '.' && v[i] != ':' || isDigit(v[i]) {
			return false
		}
	}
	return strings.IndexByte(v, '.') > 0 || familyOf(v) != famNone
}

// plainPath reports whether v is a path or an address without credentials. Base64
// may begin with a '/' too.
func plainPath(v string) bool {
	if v[0] == '~' || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://") {
		return true
	}
	if v[0] != '/' || strings.Count(v, "/") < 2 || strings.HasSuffix(v, "=") || strings.Contains(v, "+") {
		return false
	}
	for part := range strings.SplitSeq(v, "/") {
		if len(part) >= 12 && mixed(part) && !wordy(part) && strings.IndexByte(part, '.') < 0 {
			return false
		}
	}
	return true
}
