package fidelity

import (
	"strconv"
	"strings"
)

// Heading begins the section of the summary in which facts are kept verbatim.
const Heading = "## Facts kept verbatim"

// Bounds of the section that is read back, in bytes and lines.
const (
	maxCarriedBytes = 64 << 10
	maxCarriedLines = 256
)

// Split takes the section of facts, or several, off a summary. body is what a
// summarizer may see of it, section what [Request.Carried] wants.
func Split(summary string) (body, section string) {
	if !strings.Contains(summary, Heading) {
		return summary, ""
	}
	var keep, cut strings.Builder
	inside := false
	for rest := summary; rest != ""; {
		line := rest
		if at := strings.IndexByte(rest, '\n'); at >= 0 {
			line = rest[:at+1]
		}
		rest = rest[len(line):]
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == Heading:
			inside = true
			continue
		case inside && (strings.HasPrefix(trimmed, "# ") || strings.HasPrefix(trimmed, "## ")):
			inside = false
		}
		if inside {
			cut.WriteString(line)
		} else {
			keep.WriteString(line)
		}
	}
	return strings.TrimSpace(keep.String()), strings.TrimSpace(cut.String())
}

// withoutHeading keeps a summarizer from writing the derived section itself: its
// lines stay, as any others.
func withoutHeading(summary string) string {
	if !strings.Contains(summary, Heading) {
		return summary
	}
	var sb strings.Builder
	for line := range strings.Lines(summary) {
		if strings.TrimSpace(line) != Heading {
			sb.WriteString(line)
		}
	}
	return strings.TrimSpace(sb.String())
}

// carriedLine is one line of the section: - [TAG] KIND (SOURCE): "TEXT".
type carriedLine struct {
	tag, source, text string
	kind              kind
	age               int
	line              string // as it stands
}

// readCarried reads the section of the earlier summary. Lines that are not of its
// form are dropped, and tasks.
func readCarried(section string, round int) []carriedLine {
	section = section[:min(len(section), maxCarriedBytes)]
	var out []carriedLine
	for line := range strings.SplitSeq(section, "\n") {
		if c, ok := parseLine(strings.TrimSpace(line), round); ok && len(out) < maxCarriedLines {
			out = append(out, c)
		}
	}
	return out
}

func parseLine(line string, round int) (carriedLine, bool) {
	rest, ok := strings.CutPrefix(line, "- [")
	if !ok || len(line) > maxLine {
		return carriedLine{}, false
	}
	tag, rest, ok := strings.Cut(rest, "] ")
	if !ok {
		return carriedLine{}, false
	}
	word, rest, ok := strings.Cut(rest, " (")
	if !ok {
		return carriedLine{}, false
	}
	source, text, ok := strings.Cut(rest, `): "`)
	if !ok || !strings.HasSuffix(text, `"`) || source == "" || len(source) > maxSource {
		return carriedLine{}, false
	}
	c := carriedLine{source: source, text: text[:len(text)-1]}
	for k := kindConstraint; k < kindCount; k++ {
		if kindNames[k] == word && k != kindTodo {
			c.kind = k
		}
	}
	written, index, both := strings.Cut(strings.TrimPrefix(tag, "r"), ":")
	n, err := strconv.Atoi(written)
	if c.kind == kindNone || err != nil || n < 0 {
		return carriedLine{}, false
	}
	switch {
	case tag[0] != 'r' && !both: // written in the round before this one
		c.tag, c.age = "r"+strconv.Itoa(max(round-1, 0))+":"+strconv.Itoa(n), 1
	case tag[0] == 'r' && n < max(round, 1):
		if i, err := strconv.Atoi(index); both && (err != nil || i < 0) {
			return carriedLine{}, false
		}
		c.tag, c.age = tag, max(round-n, 1)
	default:
		return carriedLine{}, false
	}
	c.line = formatLine(c.tag, c.kind, c.source, c.text)
	return c, true
}

// formatLine writes one line of the section.
func formatLine(tag string, k kind, source, text string) string {
	return "- [" + tag + "] " + k.String() + " (" + source + `): "` + text + `"`
}
