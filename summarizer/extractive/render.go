package extractive

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// label begins a line of chosen units: who says it, and where.
func (f *filler) label(passage int32) string {
	p := &f.script.passages[passage]
	return "- [" + strconv.Itoa(p.index) + "] " + p.source + ": "
}

// quote is a unit as it stands in a line. What a person or the assistant said
// stands in quotes; so does text of a tool or a document that speaks to an
// assistant, marked as what its source says.
func (f *filler) quote(u int32) string {
	un := &f.units[u]
	text := tidy(un.text)
	switch v := f.script.passages[un.passage].voice; {
	case v == voiceUser || v == voiceAssistant:
		return `"` + text + `"`
	case f.cues.Has(text, facts.CueDirective) || roleMarker(text):
		return `says "` + text + `"`
	}
	return text
}

// roleMarker reports whether a line imitates a turn of a conversation or a
// heading of this summary.
func roleMarker(text string) bool {
	head := strings.ToLower(strings.TrimLeft(text[:min(len(text), 32)], "[<#*|- "))
	for _, word := range [...]string{"system", "user", "human", "assistant", "developer"} {
		if rest, ok := strings.CutPrefix(head, word); ok && rest != "" && (rest[0] == ':' || rest[0] == '>' || rest[0] == ']') {
			return true
		}
	}
	return strings.HasPrefix(text, "#")
}

// render writes the sections in order, each in the order of the conversation,
// lines of earlier rounds first.
func (f *filler) render() string {
	var sections [sectionCount][]*note
	for s := range sections {
		for _, n := range f.carried[s] {
			if n.taken {
				sections[s] = append(sections[s], n)
			}
		}
		for _, n := range f.notes[s] {
			if n.taken {
				sections[s] = append(sections[s], n)
			}
		}
	}
	for _, n := range f.script.media {
		if n.taken {
			sections[sectionCritical] = append(sections[sectionCritical], n)
		}
	}
	sections[sectionCritical] = append(sections[sectionCritical], f.groupNotes()...)

	var sb strings.Builder
	progress := false
	for s := range sectionCount {
		notes := sections[s]
		if len(notes) == 0 {
			continue
		}
		slices.SortStableFunc(notes, inOrder)
		if sb.Len() > 0 {
			sb.WriteString("\n")
			if !s.progress() || !progress {
				sb.WriteString("\n")
			}
		}
		if s.progress() && !progress {
			progress = true
			sb.WriteString("## Progress\n")
		}
		sb.WriteString(s.heading())
		for _, n := range notes {
			sb.WriteByte('\n')
			sb.WriteString(n.line())
		}
	}
	return sb.String()
}

// inOrder sorts carried lines before new ones, the oldest first.
func inOrder(a, b *note) int {
	switch {
	case a.age != b.age:
		return cmp.Compare(b.age, a.age)
	case a.age > 0:
		return cmp.Compare(a.seq, b.seq)
	case a.turn != b.turn:
		return cmp.Compare(a.turn, b.turn)
	}
	return cmp.Compare(a.seq, b.seq)
}

// groupNotes joins the chosen units of each passage into lines.
func (f *filler) groupNotes() []*note {
	var out []*note
	for _, g := range f.groups {
		if len(g.units) == 0 {
			continue
		}
		slices.Sort(g.units)
		p := &f.script.passages[g.passage]
		var sb strings.Builder
		flush := func() {
			if sb.Len() > 0 {
				out = append(out, &note{section: sectionCritical, index: p.index, turn: p.turn, seq: int(g.units[0]), text: p.source + ": " + sb.String()})
				sb.Reset()
			}
		}
		for i, u := range g.units {
			text := f.quotes[u]
			switch {
			case sb.Len() > 0 && sb.Len()+len(text) > maxGroupLine:
				flush()
			case i > 0 && g.units[i-1] == u-1 && f.units[u-1].flags&flagMore != 0:
				sb.WriteByte(' ')
			case sb.Len() > 0:
				sb.WriteString(" | ")
			}
			sb.WriteString(text)
		}
		flush()
	}
	return out
}
