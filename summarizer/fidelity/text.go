package fidelity

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// runeStart is the largest offset of at most n bytes at which s may be cut.
func runeStart(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return max(n, 0)
}

// oneLine folds white space and drops what steers a terminal or the direction of
// writing, so that a text fits on one line.
func oneLine(s string) string {
	var sb strings.Builder
	sb.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = sb.Len() > 0
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0xFEFF:
		default:
			if space {
				sb.WriteByte(' ')
				space = false
			}
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

// plainSigns writes the hyphens and spaces that models put inside of names as the
// ASCII signs that stood there.
func plainSigns(s string) string {
	if strings.IndexByte(s, 0xe2) < 0 && strings.IndexByte(s, 0xc2) < 0 {
		return s
	}
	var sb strings.Builder
	done := 0
	for i := 0; i+1 < len(s); i++ {
		put, n := "", 3
		switch {
		case s[i] == 0xc2 && s[i+1] == 0xa0: // no-break space
			put, n = " ", 2
		case s[i] != 0xe2 || i+2 >= len(s):
			continue
		case s[i+1] == 0x80 && (s[i+2] == 0x90 || s[i+2] == 0x91): // hyphens U+2010, U+2011
			put = "-"
		case s[i+1] == 0x80 && s[i+2] == 0xaf: // narrow no-break space
			put = " "
		case s[i+1] == 0x80 && s[i+2] == 0x8b, s[i+1] == 0x81 && s[i+2] == 0xa0: // zero width space, word joiner
		default:
			continue
		}
		sb.WriteString(s[done:i])
		sb.WriteString(put)
		i += n - 1
		done = i + 1
	}
	if done == 0 {
		return s
	}
	sb.WriteString(s[done:])
	return sb.String()
}

// withoutEscapes drops the backslashes that Markdown or JSON put before a sign.
func withoutEscapes(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var sb strings.Builder
	sb.Grow(len(s))
	for i := range len(s) {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] < utf8.RuneSelf && s[i+1] != '\\' && unicode.In(rune(s[i+1]), unicode.P, unicode.S) {
			continue
		}
		sb.WriteByte(s[i])
	}
	return sb.String()
}

// eachSentence calls yield with the borders of every sentence of running text:
// lines, parted where a sentence ends. Fenced code is left out.
func eachSentence(text string, yield func(start, end int)) {
	fence := false
	for start := 0; start < len(text); {
		end := len(text)
		if at := strings.IndexByte(text[start:], '\n'); at >= 0 {
			end = start + at
		}
		line := strings.TrimSpace(text[start:end])
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence = !fence
		case !fence:
			sentencesOf(text, start, end, yield)
		}
		start = end + 1
	}
}

// sentencesOf parts one line.
func sentencesOf(text string, start, end int, yield func(start, end int)) {
	from := start
	for i := start; i < end; {
		r, n := utf8.DecodeRuneInString(text[i:end])
		i += n
		switch r {
		case '.', '!', '?':
			if i < end && text[i] != ' ' || i-from < 10 {
				continue
			}
		case '。', '！', '？':
		default:
			continue
		}
		yield(from, i)
		from = i
	}
	if from < end {
		yield(from, end)
	}
}
