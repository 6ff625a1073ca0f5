package redact

import "strings"

// maxHeader bounds a header line whose parts are looked at, in bytes.
const maxHeader = 2048

// header replaces the credential of an Authorization header and keeps its scheme.
// It returns where to go on, 0 for no match.
func (sc *scanner) header(v value) int {
	s := sc.src
	limit := v.end
	if !v.quoted {
		limit = sc.headerEnd(v.start)
	}
	at := v.start
	for at < limit && isWord(s[at]) {
		at++
	}
	scheme := s[v.start:at]
	if at >= limit || s[at] != ' ' || scheme == "" {
		at, scheme = v.start, ""
	}
	for at < limit && s[at] == ' ' {
		at++
	}
	end := at + span(s[at:limit], limit-at, isCredentialByte)
	sc.work += limit - v.start
	if scheme != "" && end < limit && s[end] == '=' || strings.HasSuffix(s[at:end], "=") && strings.Contains(s[end:limit], "=") || strings.HasPrefix(scheme, "AWS4") {
		// A scheme with parameters: Digest, OAuth, AWS4-HMAC-SHA256. The whole of it is
		// the credential.
		stop := limit
		for stop > at && isSpace(s[stop-1]) {
			stop--
		}
		if random(s[at:min(stop, at+maxBare)]) && withoutPlaceholders(s[at:stop]) == s[at:stop] {
			return sc.replace(at, stop, KindAuthorization, false)
		}
		return 0
	}
	if end-at < 6 || lookUp(s[at:end]) || !random(s[at:end]) && end-at < 16 || wordy(s[at:end]) && end-at < 12 && scheme == "" {
		return 0
	}
	return sc.named(at, end, KindAuthorization)
}

// headerEnd is the end of the header line whose value begins at i.
func (sc *scanner) headerEnd(i int) int {
	s := sc.src
	limit := i
	for limit < len(s) && s[limit] != '\n' && s[limit] != '\r' && !(s[limit] == '\\' && limit+1 < len(s) && (s[limit+1] == 'n' || s[limit+1] == 'r')) {
		// A quote that does not belong to a parameter ends the string the header is in.
		if (s[limit] == '"' || s[limit] == '\'' || s[limit] == '`' || s[limit] == '\\') && limit > i && s[limit-1] != '=' && s[limit-1] != '\\' && !opened(s[i:limit]) {
			break
		}
		if limit-i >= maxHeader {
			break
		}
		limit++
	}
	sc.work += limit - i
	return limit
}

// opened reports whether a parameter's quote stands open at the end of s: response="
// has no closing one yet. It looks back over one parameter.
func opened(s string) bool {
	for i := len(s) - 1; i >= max(0, len(s)-maxBare); i-- {
		if s[i] == '"' {
			return i > 0 && (s[i-1] == '=' || s[i-1] == '\\' && i > 1 && s[i-2] == '=')
		}
	}
	return false
}

func isCredentialByte(c byte) bool { return isWord(c) || strings.IndexByte("./+=~:!*^%", c) >= 0 }

// cookies replaces the values of a Cookie header, name by name. It returns where to
// go on, 0 for no match.
func (sc *scanner) cookies(v value) int {
	s := sc.src
	limit := v.end
	if !v.quoted {
		limit = v.start
		for limit < len(s) && limit < v.start+maxHeader && s[limit] != '\n' && s[limit] != '\r' && s[limit] != '"' && s[limit] != '\'' && s[limit] != '\\' {
			limit++
		}
	}
	sc.work += limit - v.start
	found := 0
	for at := v.start; at < limit; {
		for at < limit && (s[at] == ' ' || s[at] == ';') {
			at++
		}
		end := at
		eq := -1
		for end < limit && s[end] != ';' {
			if s[end] == '=' && eq < 0 {
				eq = end
			}
			end++
		}
		if eq > at && end > eq+1 && all(s[at:min(eq, at+maxName)], isNameByte) {
			val := s[eq+1 : end]
			if n := span(val, len(val), isCookieByte); n >= 8 && random(val[:n]) && !lookUp(val) && !cookieAttribute(s[at:eq]) {
				found = sc.replace(eq+1, eq+1+n, KindCookie, true)
			}
		}
		at = end + 1
	}
	return found
}

func isCookieByte(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("\"'\\;,[]<>", c) < 0 }

func cookieAttribute(name string) bool {
	switch strings.ToLower(name) {
	case "expires", "max-age", "path", "domain", "samesite":
		return true
	}
	return false
}

// lineBlock replaces the lines of base64 after "Private-Lines: 14", as PuTTY
// writes a key.
func (sc *scanner) lineBlock(v value) int {
	s := sc.src
	at := v.start + span(s[v.start:], 4, isDigit)
	if at == v.start {
		return 0
	}
	start := at + lineBreak(s, at)
	if start == at {
		return 0
	}
	end := start
	for end < len(s) && isBase64(s[end]) {
		end++
	}
	if end-start < 16 {
		return 0
	}
	return sc.replace(start, sc.base64Lines(start, end), KindPrivateKey, false)
}
