package fidelity

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/internal/parallel"
)

// Bounds of the section.
const (
	// maxLines is how many lines it has, maxToolLines how many of them for what only
	// tools said.
	maxLines     = 64
	maxToolLines = 24
	// maxSameText is how many of the latter come from one text.
	maxSameText = 3
	// maxLine is the size of a line in bytes.
	maxLine = 600
	// around is how many bytes before and after a name go with it.
	around = 90
	// matters is the least weight of a fact that is added.
	matters = 0.6
	// maxMisses is how many lines in a row may not fit before the search ends.
	maxMisses = 20
)

// added is a line of the section.
type added struct {
	fact *fact
	line string
	cost int
	rank int // order of choice
}

// repair chooses lines for the facts that are missing and matter, and returns the
// section, "" when there is none. The section takes half of the budget at most.
func (x *index) repair(ctx context.Context, found []*fact, text string, tokens int) (string, error) {
	room := min(x.req.Budget-tokens, x.req.Budget/2)
	lines, err := x.choose(ctx, found, room)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	for len(lines) > 0 {
		section := render(lines)
		var n int
		var err error
		parallel.Both(func() { n, err = x.req.Count(ctx, join(text, section)) }, func() { x.settle(found, lines, section) })
		if err != nil {
			return "", err
		}
		if n <= x.req.Budget {
			return section, nil
		}
		// The last chosen matter least. As many go as are over by what they cost alone,
		// half of them at most, so that the whole is counted seldom.
		for over, least := n-x.req.Budget, len(lines)/2; over > 0 && len(lines) > least; {
			over -= lines[len(lines)-1].cost
			lines = lines[:len(lines)-1]
		}
	}
	for _, f := range found {
		f.repaired = false
	}
	return "", nil
}

// choose takes lines in the order of the facts' weight while there is room.
func (x *index) choose(ctx context.Context, found []*fact, room int) ([]added, error) {
	const smallest = 16 // tokens of a heading and a line
	if room < smallest {
		return nil, nil
	}
	head, err := x.req.Count(ctx, "\n\n"+Heading+"\n")
	if err != nil {
		return nil, err
	}
	room -= head
	var lines []added
	seen := make(map[string]bool)
	tools, misses := 0, 0
	sameText := make(map[int32]int)
	for _, f := range found {
		if f.weight < matters || len(lines) == maxLines || misses == maxMisses {
			break
		}
		if f.kept || f.name != nil && f.name.added {
			continue
		}
		toolOnly := f.name != nil && f.name.voices == 1<<voiceTool
		if toolOnly && (tools == maxToolLines || sameText[f.name.home] == maxSameText) {
			continue
		}
		line := x.line(f)
		if line == "" || seen[line] {
			continue
		}
		if len(line) > 12*room+64 { // no tokenizer packs so many bytes into a token
			misses++
			continue
		}
		cost, err := x.req.Count(ctx, line+"\n")
		if err != nil {
			return nil, err
		}
		if cost > room {
			misses++
			continue
		}
		misses = 0
		if toolOnly {
			tools++
			sameText[f.name.home]++
		}
		room -= cost
		seen[line] = true
		lines = append(lines, added{f, line, cost, len(lines)})
		for _, id := range x.namesIn(line) {
			x.names[id].added = true
		}
	}
	return lines, nil
}

// settle marks what the finished section holds.
func (x *index) settle(found []*fact, lines []added, section string) {
	for i := range x.names {
		x.names[i].added = false
	}
	for _, id := range x.namesIn(section) {
		x.names[id].added = true
	}
	for _, f := range found {
		f.repaired = !f.kept && f.name != nil && f.name.added
	}
	for i := range lines {
		lines[i].fact.repaired = true
	}
}

// render writes the section: grouped by kind, older lines first.
func render(lines []added) string {
	sorted := slices.Clone(lines)
	slices.SortFunc(sorted, func(a, b added) int {
		return cmp.Or(cmp.Compare(a.fact.kind, b.fact.kind), cmp.Compare(a.fact.index, b.fact.index), cmp.Compare(a.rank, b.rank))
	})
	var sb strings.Builder
	sb.WriteString(Heading)
	for i := range sorted {
		sb.WriteByte('\n')
		sb.WriteString(sorted[i].line)
	}
	return sb.String()
}

// line writes a fact with the words around it and where it comes from.
func (x *index) line(f *fact) string {
	if s := f.statement; s != nil {
		if s.passage < 0 {
			return formatLine(strconv.Itoa(s.index), s.kind, "assistant", withoutNumbers(s.text))
		}
		pa := &x.reader.passages[s.passage]
		if pa.line != "" {
			return pa.line
		}
		return formatLine(pa.tagged(), s.kind, pa.source, withoutNumbers(s.text))
	}
	pa := &x.reader.passages[f.name.home]
	if pa.line != "" {
		return pa.line
	}
	text := surroundings(pa.text, int(f.name.at), len(f.name.text))
	if pa.voice == voiceEarlier {
		if rest, ok := strings.CutPrefix(text, "- ["); ok {
			if _, body, ok := strings.Cut(rest, "] "); ok {
				text = body
			}
		}
	}
	return formatLine(pa.tagged(), f.kind, pa.source, withoutNumbers(oneLine(text)))
}

// tagged is the tag of lines from a passage.
func (p *passage) tagged() string {
	if p.tag != "" {
		return p.tag
	}
	return strconv.Itoa(p.index)
}

// surroundings is a name with the words around it, on its own line.
func surroundings(text string, at, size int) string {
	start, end := max(at-around, 0), min(at+size+around, len(text))
	before, after := text[runeStart(text, start):at], text[at+size:runeStart(text, end)]
	cutBefore, cutAfter := start > 0, end < len(text)
	if nl := strings.LastIndexByte(before, '\n'); nl >= 0 {
		before, cutBefore = before[nl+1:], false
	}
	if nl := strings.IndexByte(after, '\n'); nl >= 0 {
		after, cutAfter = after[:nl], false
	}
	if cutBefore {
		if sp := strings.IndexByte(before, ' '); sp >= 0 {
			before = before[sp+1:]
		}
		before = "… " + before
	}
	if cutAfter {
		if sp := strings.LastIndexByte(after, ' '); sp >= 0 {
			after = after[:sp]
		}
		after += " …"
	}
	return strings.TrimSpace(before + text[at:at+size] + after)
}

// withoutNumbers drops the numbers of the placeholders of secrets: they belong to
// one request, and the summary may have counted otherwise.
func withoutNumbers(s string) string {
	if !strings.Contains(s, secretHead) {
		return s
	}
	var sb strings.Builder
	for {
		at := strings.Index(s, secretHead)
		if at < 0 {
			break
		}
		at += len(secretHead)
		sb.WriteString(s[:at])
		s = s[at:]
		body, _, ok := strings.Cut(s[:min(len(s), 64)], "]")
		if kind, number, numbered := strings.Cut(body, "#"); ok && numbered && digits(number) == len(number) {
			sb.WriteString(kind)
			s = s[len(body):]
		}
	}
	sb.WriteString(s)
	return sb.String()
}
