package fidelity

import (
	"slices"
	"strings"
	"unicode"
)

// unverified stands for a name that was taken out.
const unverified = "[unverified]"

// removeSpans takes invented names out of a text. A list item that says little
// besides goes as a whole; elsewhere a mark takes the name's place. It lists the
// names, each once.
func removeSpans(text string, invented []suspect) (string, []string) {
	names := make([]string, 0, len(invented))
	seen := make(map[string]bool)
	for _, s := range invented {
		if name := text[s.start:s.end]; !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	out := rewriteLines(text, invented, true)
	if strings.TrimSpace(out) == "" {
		out = rewriteLines(text, invented, false)
	}
	return out, names
}

// line is one line of the rewritten text.
type line struct {
	text string
	gone bool
}

func rewriteLines(text string, invented []suspect, drop bool) string {
	var lines []line
	dropped := false
	at, next := 0, 0
	for raw := range strings.SplitSeq(text, "\n") {
		end := at + len(raw)
		first := next
		for next < len(invented) && invented[next].start < end {
			next++
		}
		l := line{text: raw}
		if next > first {
			l.text, l.gone = withoutSpans(text, at, end, invented[first:next])
			l.gone = l.gone && drop
			dropped = dropped || l.gone
		}
		lines = append(lines, l)
		at = end + 1
	}
	if dropped {
		dropEmptySections(lines)
	}
	lines = slices.DeleteFunc(lines, func(l line) bool { return l.gone })
	var sb strings.Builder
	for i := range lines {
		if i > 0 {
			sb.WriteByte('\n')
		}
		sb.WriteString(lines[i].text)
	}
	return strings.TrimSpace(sb.String())
}

// withoutSpans rewrites one line, text[start:end]. gone says that it is a list item
// in which little else is left.
func withoutSpans(text string, start, end int, spans []suspect) (out string, gone bool) {
	var sb, rest strings.Builder
	at, taken := start, 0
	for _, s := range spans {
		from, to, put := widen(text, start, end, s.start, s.end)
		from = max(from, at)
		sb.WriteString(text[at:from])
		rest.WriteString(text[at:from])
		sb.WriteString(put)
		taken += letters(text[s.start:s.end])
		at = max(to, at)
	}
	sb.WriteString(text[at:end])
	rest.WriteString(text[at:end])
	body := strings.TrimSpace(rest.String()) + " "
	item := false
	for _, marker := range [...]string{"- ", "* ", "+ ", "• "} {
		if b, ok := strings.CutPrefix(body, marker); ok {
			item, body = true, b
		}
	}
	if dot := strings.Index(body, ". "); dot > 0 && dot < 4 && digits(body[:dot]) == dot {
		item, body = true, body[dot+2:]
	}
	if shut := strings.Index(body, "] "); strings.HasPrefix(body, "[") && shut > 0 && shut < 24 {
		body = body[shut+2:]
	}
	left := letters(body)
	return sb.String(), item && (left < 12 || left < taken)
}

// widen takes the marks around a name with it: code marks, angle brackets, the
// rest of a link, a line number.
func widen(text string, lineStart, lineEnd, start, end int) (from, to int, put string) {
	if end < lineEnd && text[end] == ':' {
		n := end + 1
		for n < lineEnd && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n > end+1 {
			end = n
		}
	}
	for start > lineStart && end < lineEnd && (text[start-1] == '`' && text[end] == '`' || text[start-1] == '<' && text[end] == '>') {
		start, end = start-1, end+1
	}
	// [words](address) becomes the words.
	if start-2 >= lineStart && text[start-2:start] == "](" && end < lineEnd && text[end] == ')' {
		if open := strings.LastIndexByte(text[lineStart:start-2], '['); open >= 0 {
			open += lineStart
			return open, end + 1, text[open+1:start-2] + " " + unverified
		}
	}
	return start, end, unverified
}

func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// dropEmptySections drops headings that lost everything under them.
func dropEmptySections(lines []line) {
	var has, lost [8]bool // since the next heading of the level or above
	for i := len(lines) - 1; i >= 0; i-- {
		l := &lines[i]
		level := 0
		for level < len(l.text) && level < 7 && l.text[level] == '#' {
			level++
		}
		if level == 0 || level == 7 || level < len(l.text) && l.text[level] != ' ' {
			if l.gone {
				lost = [8]bool{true, true, true, true, true, true, true, true}
			} else if strings.TrimSpace(l.text) != "" {
				has = [8]bool{true, true, true, true, true, true, true, true}
			}
			continue
		}
		if !has[level] && lost[level] {
			l.gone = true
		} else {
			for k := range level {
				has[k] = true
			}
		}
		for k := level; k < len(has); k++ {
			has[k], lost[k] = false, false
		}
	}
}
