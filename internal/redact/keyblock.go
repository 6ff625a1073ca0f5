package redact

import (
	"encoding/base64"
	"strings"
)

// Bounds of a private key block, in bytes.
const (
	maxLabel = 100
	maxBlock = 64 << 10
)

// armour replaces a private key block whose opening line begins at start, after
// dashes that end the run at end or go on in it. Public keys and certificates are
// no secret. It returns where to go on, start for no match.
func (sc *scanner) armour(start, end int) int {
	s := sc.src
	at := start
	for at < end && s[at] == '-' {
		at++
	}
	if at-start < 4 {
		return start
	}
	line := s[at:min(len(s), at+maxLabel)]
	line = strings.TrimPrefix(line, " ")
	if !strings.HasPrefix(line, "BEGIN ") {
		return start
	}
	label, _, ok := strings.Cut(line, "----")
	if !ok || !strings.Contains(label, "PRIVATE KEY") || strings.ContainsAny(label, "\n\"'\\") {
		return start
	}
	body := at + strings.Index(s[at:], "----")
	for body < len(s) && s[body] == '-' {
		body++
	}
	stop, closed := sc.keyBody(body)
	if stop-body < 10 && !closed {
		return start // the line is only spoken of
	}
	return sc.replace(start, stop, KindPrivateKey, false)
}

// keyBody returns where the block ends whose first line ended at i, and whether
// it has a closing line. The body goes on over everything a key is made of,
// also where it is quoted, numbered, escaped, or put together from strings.
func (sc *scanner) keyBody(i int) (stop int, closed bool) {
	s := sc.src
	limit := min(len(s), i+maxBlock)
	stop = i
	blank := false
	for at := i; at < limit; {
		if strings.HasPrefix(s[at:], "----") {
			dashes := at
			for at < limit && s[at] == '-' {
				at++
			}
			if !strings.HasPrefix(strings.TrimPrefix(s[at:min(len(s), at+8)], " "), "END ") {
				sc.work += at - i
				return stop, false
			}
			tail := s[at:min(len(s), at+maxLabel)]
			if n := strings.Index(tail, "----"); n >= 0 && strings.IndexByte(tail[:n], '\n') < 0 {
				at += n
				for at < len(s) && s[at] == '-' {
					at++
				}
				sc.work += at - i
				return at, true
			}
			sc.work += at - i
			return dashes, false
		}
		// One line, up to a line break or an escaped one.
		lineEnd := at
		for lineEnd < limit && s[lineEnd] != '\n' && !strings.HasPrefix(s[lineEnd:], `\n`) && !strings.HasPrefix(s[lineEnd:], "----") {
			lineEnd++
		}
		line := s[at:lineEnd]
		full := span(line, len(line), isBase64)
		if !keyLine(line) || blank && stop > i && full < 16 && line[:full] == strings.TrimSpace(line) {
			// Not a line of a key: what was taken so far is all of it, and the
			// characters of a key that the line begins with.
			if full >= 16 {
				stop = max(stop, at+full)
			}
			break
		}
		blank = strings.TrimSpace(line) == ""
		if !blank {
			stop = lineEnd
		}
		at = lineEnd
		switch {
		case strings.HasPrefix(s[at:limit], "\n"):
			at++
		case strings.HasPrefix(s[at:limit], `\n`):
			at += 2
		}
	}
	sc.work += stop - i
	return stop, false
}

// keyLine reports whether a line can stand inside a key block: base64 with
// nothing but marks of quoting around it, a header of the armour, or nothing.
func keyLine(line string) bool {
	if len(line) > 200 && !all(line[:200], isBase64) {
		// A key on one line, its line breaks lost: words of 64 characters.
		return strings.Count(line[:200], " ") <= 5 && span(line, 40, isBase64OrSpace) == 40
	}
	core := strings.Trim(line, " \t\r>|*#+\"'`\\,;&0123456789:.→")
	if core == "" {
		return true
	}
	if all(core, isBase64) {
		return len(core) >= 16 || random(core) || strings.HasSuffix(core, "=") || len(core) <= 6
	}
	for _, h := range [...]string{"Proc-Type", "DEK-Info", "Version", "Comment", "Hash", "Subject", "x-", "Charset", "MessageID"} {
		if strings.HasPrefix(core, h) {
			return true
		}
	}
	return false
}

func isBase64OrSpace(c byte) bool { return isBase64(c) || c == ' ' }

// encodedKey reports a private key block in base64 that begins at i, as in the
// client-key-data of a kubeconfig.
func (sc *scanner) encodedKey(i int) (kind string, stop int) {
	s := sc.src
	head := s[i:min(len(s), i+64)]
	n := span(head, len(head), isBase64) / 4 * 4
	plain, err := base64.StdEncoding.DecodeString(head[:n])
	if err != nil || !strings.Contains(string(plain), "-----BEGIN ") || !strings.Contains(string(plain), "PRIVATE KEY") {
		return "", 0
	}
	stop = i
	for stop < len(s) && isBase64(s[stop]) {
		stop++
	}
	return kindKubeconfigToken, sc.base64Lines(i, stop)
}

// base64Lines extends base64 over the lines it was wrapped to.
func (sc *scanner) base64Lines(start, end int) int {
	s := sc.src
	for {
		at := end + lineBreak(s, end)
		if at == end {
			return end
		}
		for at < len(s) && at < end+24 && s[at] == ' ' {
			at++
		}
		stop := at
		for stop < len(s) && isBase64(s[stop]) {
			stop++
		}
		sc.work += stop - at
		if end-start < 60 || stop-at < 16 || stop < len(s) && !isSpace(s[stop]) && s[stop] != '"' && s[stop] != '\\' {
			return end
		}
		start, end = at, stop
	}
}
