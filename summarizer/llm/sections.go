package llm

import (
	"slices"
	"strings"
)

// draft is an answer taken apart.
type draft struct {
	outline *outline
	lines   [][]draftLine // by section
	known   bool          // at least one heading is a section's
}

type draftLine struct {
	text string
	code bool // inside a fence
}

// parse takes an answer apart by its headings. What stands before the first one is
// chat and left out. Sections that come twice are joined.
func (o *outline) parse(text string) *draft {
	d := &draft{outline: o, lines: make([][]draftLine, len(o.sections))}
	spare := o.byTitle[plainTitle(catchAll)]
	where, level := -1, 0
	for _, line := range fenced(o.body(text)) {
		h, isHeading := o.headingOf(line.text)
		if line.code || !isHeading {
			if where >= 0 {
				d.lines[where] = append(d.lines[where], line)
			}
			continue
		}
		switch at, known := o.find(h.title); {
		case known:
			where, level, d.known = at, min(h.level, 3), true
			d.lines[at] = withoutBlankEnd(d.lines[at])
		case where >= 0 && h.level > level:
			d.lines[where] = append(d.lines[where], draftLine{text: "**" + h.title + "**"})
		default:
			if where >= 0 || !titleOnly(h.title) {
				where, level = spare, h.level
				d.lines[where] = append(d.lines[where], draftLine{text: "**" + h.title + "**"})
			}
		}
	}
	for i := range d.lines {
		d.lines[i] = tidy(d.lines[i])
	}
	return d
}

// titleOnly reports whether a heading is the answer's own title.
func titleOnly(title string) bool {
	title = plainTitle(title)
	return strings.Contains(title, "summary") || strings.Contains(title, "notes")
}

// body removes the fence around a whole answer: one that opens right before the
// first heading. Its end is then a fence without a beginning, see fenced.
func (o *outline) body(text string) string {
	fence, at := -1, 0 // of the last fence, while nothing but space came after it
	for line := range strings.SplitAfterSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		_, isHeading := o.headingOf(trimmed)
		switch {
		case isHeading && fence >= 0:
			_, rest, _ := strings.Cut(text[fence:], "\n")
			return rest
		case isHeading:
			return text
		case fenceSign(trimmed) != "":
			fence = at
		case trimmed != "":
			fence = -1
		}
		at += len(line)
	}
	return text
}

// fenced splits a text into lines and tells those in code fences. A fence that
// nothing closes is no fence: its line and all fence lines after it are dropped.
func fenced(text string) []draftLine {
	var out []draftLine
	sign, opened := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		trimmed := strings.TrimSpace(line)
		mark := fenceSign(trimmed)
		switch {
		case sign == "" && mark != "":
			sign, opened = mark, len(out)
			out = append(out, draftLine{line, true})
		case sign != "" && mark == sign && strings.Trim(trimmed, mark[:1]) == "":
			sign = ""
			out = append(out, draftLine{line, true})
		default:
			out = append(out, draftLine{line, sign != ""})
		}
	}
	if sign == "" {
		return out
	}
	kept := out[:opened]
	for _, line := range out[opened:] {
		if fenceSign(strings.TrimSpace(line.text)) == "" {
			kept = append(kept, draftLine{text: line.text})
		}
	}
	return kept
}

func fenceSign(trimmed string) string {
	for _, sign := range [...]string{"```", "~~~"} {
		if strings.HasPrefix(trimmed, sign) {
			return sign
		}
	}
	return ""
}

// tidy drops doubled blank lines, what a model adds when it is done, and a section
// that says only that there is nothing to say.
func tidy(lines []draftLine) []draftLine {
	out := lines[:0]
	for _, line := range lines {
		if line.blank() && (len(out) == 0 || out[len(out)-1].blank()) {
			continue
		}
		out = append(out, line)
	}
	for len(out) > 0 {
		last := &out[len(out)-1]
		if last.code {
			break
		}
		if bare := withoutEndTokens(last.text); bare != strings.TrimSpace(last.text) {
			last.text = bare
		}
		if !last.blank() && !farewell(last.text) {
			break
		}
		out = out[:len(out)-1]
	}
	if !slices.ContainsFunc(out, func(line draftLine) bool { return line.code || !nothing(line.text) }) {
		return nil
	}
	return out
}

func withoutBlankEnd(lines []draftLine) []draftLine {
	for len(lines) > 0 && lines[len(lines)-1].blank() {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func (l draftLine) blank() bool { return !l.code && l.text == "" }

// farewell reports whether a line is chat after the notes, or a rule under them.
func farewell(line string) bool {
	lower := asciiLower(strings.TrimSpace(line))
	for _, opening := range [...]string{"let me know", "please let me know", "i hope this", "hope this helps", "feel free to", "would you like me"} {
		if strings.HasPrefix(lower, opening) {
			return true
		}
	}
	return lower == "---" || lower == "***"
}

// empty reports whether no section says anything.
func (d *draft) empty() bool {
	for i := range d.lines {
		if len(d.lines[i]) > 0 {
			return false
		}
	}
	return true
}

// render writes the sections in order.
func (d *draft) render() string {
	var b strings.Builder
	under := -1 // the section whose heading was written last
	for i, s := range d.outline.sections {
		if len(d.lines[i]) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		switch {
		case s.under < 0:
			b.WriteString("## " + s.title)
			under = i
		default:
			if under != s.under {
				b.WriteString("## " + d.outline.sections[s.under].title + "\n")
				under = s.under
			}
			b.WriteString("### " + s.title)
		}
		for _, line := range d.lines[i] {
			b.WriteString("\n" + line.text)
		}
	}
	return b.String()
}
