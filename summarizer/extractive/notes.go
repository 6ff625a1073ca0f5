package extractive

import (
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// section is the place of a note in the summary, in the order of the page.
type section uint8

const (
	sectionGoal section = iota
	sectionConstraints
	sectionDone
	sectionInProgress
	sectionBlocked
	sectionDecisions
	sectionFiles
	sectionNext
	sectionCritical
	sectionCount
)

// heading is the Markdown heading of a section.
func (s section) heading() string {
	switch s {
	case sectionGoal:
		return "## " + summarizer.SectionGoal
	case sectionConstraints:
		return "## " + summarizer.SectionConstraints
	case sectionDone:
		return "### " + summarizer.SectionDone
	case sectionInProgress:
		return "### " + summarizer.SectionInProgress
	case sectionBlocked:
		return "### " + summarizer.SectionBlocked
	case sectionDecisions:
		return "## " + summarizer.SectionDecisions
	case sectionFiles:
		return "## " + summarizer.SectionFiles
	case sectionNext:
		return "## " + summarizer.SectionNextSteps
	default:
		return "## " + summarizer.SectionCriticalContext
	}
}

// progress reports whether the section stands under the Progress heading.
func (s section) progress() bool {
	return s == sectionDone || s == sectionInProgress || s == sectionBlocked
}

// note is one line that may go into the summary.
type note struct {
	section section
	// tag is the tag of a carried line, "" for a line of this round.
	tag   string
	age   int // rounds since the line was written, 0 for this one
	index int // message index of a line of this round
	turn  int // position in the middle, -1 for carried lines
	seq   int // order among the notes of one message
	voice voice
	text  string // what stands after the tag
	key   string // lines with one key tell of one thing
	refs  []int32
	score float64
	taken bool
}

// line is the note as it stands in the summary.
func (n *note) line() string {
	tag := n.tag
	if tag == "" {
		tag = strconv.Itoa(n.index)
	}
	return "- [" + tag + "] " + n.text
}

// quoted attributes words to who said them.
func quoted(source, text string) string { return source + `: "` + text + `"` }

// sameText is the form in which two lines are compared: letters and digits, in
// small letters.
func sameText(s string) string {
	var sb strings.Builder
	sb.Grow(len(s))
	space := false
	for _, r := range strings.ToLower(s) {
		if r < 0x80 && !facts.Letter(byte(r)) && !facts.Digit(byte(r)) {
			space = sb.Len() > 0
			continue
		}
		if space {
			sb.WriteByte(' ')
			space = false
		}
		sb.WriteRune(r)
	}
	return sb.String()
}
