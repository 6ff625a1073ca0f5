package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// ellipsis marks where a line was cut.
const ellipsis = "…"

// clip shortens s to at most n bytes, the ellipsis included, on the border of a
// grapheme: no letter loses its accent, no emoji its half.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := border(s, max(n-len(ellipsis), 0))
	// A cut between words reads better than one inside.
	if at := strings.LastIndexByte(s[:end], ' '); at > end*3/4 {
		end = at
	}
	return strings.TrimRight(s[:end], " ,;:") + ellipsis
}

// clipMiddle shortens s to about n bytes and keeps its beginning and its end.
func clipMiddle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head := border(s, n*2/3)
	tail := len(s) - (n - n*2/3) + len(ellipsis)
	if tail >= len(s) || tail <= head {
		return clip(s, n)
	}
	tail = head + border(s[head:], tail-head)
	return strings.TrimRight(s[:head], " ") + " " + ellipsis + " " + strings.TrimLeft(s[tail:], " ")
}

// border is the largest offset of at most n bytes at which s may be cut. Only
// the neighbourhood of n is looked at, so cutting a long text is cheap.
func border(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	if n <= 0 {
		return 0
	}
	if s[n] < utf8.RuneSelf && s[n-1] < utf8.RuneSelf && s[n] != '\n' {
		return n
	}
	// Back to a place where two ASCII characters meet: certainly a border.
	start := n
	for start > 0 && n-start < 256 && !(s[start] < utf8.RuneSelf && s[start-1] < utf8.RuneSelf) {
		start--
	}
	for start > 0 && !utf8.RuneStart(s[start]) {
		start--
	}
	window := s[start:min(len(s), n+256)]
	last := start
	it := graphemes.FromString(window)
	for it.Next() {
		if start+it.End() > n {
			break
		}
		last = start + it.End()
	}
	if last == start && start > 0 && n-start >= 256 {
		// One cluster of hundreds of bytes is no writing: keep whole characters.
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		return n
	}
	return last
}

// tidy makes text fit for one line: white space is folded, control characters
// and terminal colours go, invalid UTF-8 becomes U+FFFD, runs of encoded data
// are left out.
func tidy(s string) string {
	if isTidy(s) {
		return s
	}
	var sb strings.Builder
	sb.Grow(len(s))
	space := false
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escapeLen(s[i:])
			continue
		}
		if n := dataRun(s[i:]); n > 0 {
			if space && sb.Len() > 0 {
				sb.WriteByte(' ')
			}
			space = false
			sb.WriteString("[encoded data]")
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsSpace(r):
			space = true
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0xFEFF:
		default:
			if space && sb.Len() > 0 {
				sb.WriteByte(' ')
			}
			space = false
			if facts.Letter(s[i]) || facts.Digit(s[i]) {
				// Copy the run at once: it was looked at by dataRun.
				end := i + runLen(s[i:])
				sb.WriteString(s[i:end])
				i = end
				continue
			}
			sb.WriteRune(r)
		}
		i += n
	}
	return sb.String()
}

// isTidy reports quickly that nothing has to change.
func isTidy(s string) bool {
	run := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf, c < ' ', c == 0x7f:
			return false
		case c == ' ':
			if i == 0 || i == len(s)-1 || s[i-1] == ' ' {
				return false
			}
			run = 0
		default:
			if run++; run >= minData {
				return false
			}
		}
	}
	return true
}

// runLen is the length of the run of base64 characters s begins with.
func runLen(s string) int {
	n := 0
	for n < len(s) && (facts.Letter(s[n]) || facts.Digit(s[n]) || s[n] == '_' ||
		s[n] == '+' || s[n] == '/' || s[n] == '=' || s[n] == '-') {
		n++
	}
	return n
}

// minData is the length in bytes from which a run that looks encoded is data:
// lines of armoured keys and mail attachments have 60 and more.
const minData = 40

// dataRun is the length of the encoded data s begins with, 0 for none. Anything
// longer than the longest name, without a sign that paths and words have, is data.
func dataRun(s string) int {
	switch n := runLen(s); {
	case n > facts.MaxName, n >= minData && facts.LooksEncoded(s[:n]):
		return n
	default:
		return 0
	}
}

// escapeLen is the length of the terminal escape sequence s begins with.
func escapeLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	i := 2
	for i < len(s) && i < 32 && (s[i] < '@' || s[i] > '~') {
		i++
	}
	return min(i+1, len(s))
}
