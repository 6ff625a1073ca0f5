package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/summarizer"
)

// outline is the set of sections that an answer may have, in order.
type outline struct {
	sections []section
	byTitle  map[string]int
	// plain says that the prompt asks for no sections.
	plain bool
}

type section struct {
	title string
	// under is the index of the section that holds it, -1 for none.
	under int
}

// catchAll is where text goes whose heading nobody knows.
const catchAll = summarizer.SectionCriticalContext

// newOutline knows the sections of every summary and the headings that the prompt
// shows.
func newOutline(prompt string) *outline {
	o := &outline{byTitle: make(map[string]int), plain: true}
	for _, title := range [...]string{
		summarizer.SectionGoal, summarizer.SectionConstraints, summarizer.SectionProgress, summarizer.SectionDone,
		summarizer.SectionInProgress, summarizer.SectionBlocked, summarizer.SectionDecisions, summarizer.SectionQuestions,
		summarizer.SectionFiles, summarizer.SectionErrors, summarizer.SectionNextSteps, summarizer.SectionCriticalContext,
	} {
		s := section{title: title, under: -1}
		switch title {
		case summarizer.SectionDone, summarizer.SectionInProgress, summarizer.SectionBlocked:
			s.under = o.byTitle[plainTitle(summarizer.SectionProgress)]
		}
		o.add(s)
	}
	for line := range strings.SplitSeq(prompt, "\n") {
		h, ok := markdownHeading(line)
		if !ok || h.level < 2 || h.level > 3 {
			continue
		}
		o.plain = false
		if _, known := o.find(h.title); !known {
			o.add(section{title: h.title, under: -1})
		}
	}
	return o
}

func (o *outline) add(s section) {
	o.byTitle[plainTitle(s.title)] = len(o.sections)
	o.sections = append(o.sections, s)
}

// find maps a heading to the section that is obviously meant.
func (o *outline) find(title string) (int, bool) {
	title = plainTitle(title)
	if i, ok := o.byTitle[title]; ok {
		return i, true
	}
	i, ok := o.byTitle[plainTitle(meant(title))]
	return i, ok
}

// meant is the section that the headings of other summaries stand for: Hermes
// Agent's old and new ones, and those of coding assistants.
func meant(title string) string {
	switch title {
	case "goals", "active task", "task snapshot", "task", "current task", "objective", "primary request and intent":
		return summarizer.SectionGoal
	case "constraints & preferences", "constraints and preferences", "preferences", "user preferences":
		return summarizer.SectionConstraints
	case "completed", "completed actions", "completed work", "accomplished":
		return summarizer.SectionDone
	case "in-progress", "in-progress state", "in progress state", "current work":
		return summarizer.SectionInProgress
	case "blockers":
		return summarizer.SectionBlocked
	case "decisions", "key technical decisions", "decisions and reasons":
		return summarizer.SectionDecisions
	case "answered questions":
		return summarizer.SectionQuestions
	case "files", "files and code sections", "files modified", "modified files":
		return summarizer.SectionFiles
	case "errors & fixes", "errors":
		return summarizer.SectionErrors
	case "next step", "remaining work", "pending user asks", "pending tasks", "open tasks", "todo":
		return summarizer.SectionNextSteps
	case "context", "active state":
		return summarizer.SectionCriticalContext
	default:
		return ""
	}
}

// plainTitle is a heading without case, numbers, decoration and remarks in
// brackets.
func plainTitle(title string) string {
	title = strings.ToLower(title)
	if base, _, ok := strings.Cut(title, " ("); ok {
		title = base
	}
	title = strings.TrimFunc(title, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) })
	return strings.TrimPrefix(title, "historical ")
}

type heading struct {
	title string
	// level counts the signs in front; a line in bold is below all of them.
	level int
}

const (
	maxTitle  = 80 // bytes; what is longer is a sentence
	boldLevel = 7
)

// headingOf reads a heading: Markdown's, a whole line in bold, or a section's name
// and a colon alone on a line.
func (o *outline) headingOf(line string) (heading, bool) {
	line = strings.TrimSpace(line)
	if h, ok := markdownHeading(line); ok {
		return h, true
	}
	if len(line) > maxTitle {
		return heading{}, false
	}
	if rest, ok := strings.CutPrefix(line, "**"); ok {
		rest = strings.TrimSuffix(rest, ":")
		if title, ok := strings.CutSuffix(rest, "**"); ok && !strings.Contains(title, "**") && !blankTitle(title) {
			return heading{oneLine(title), boldLevel}, true
		}
	}
	if title, ok := strings.CutSuffix(line, ":"); ok && startsUpper(line) {
		if _, known := o.byTitle[strings.ToLower(title)]; known {
			return heading{title, 2}, true
		}
	}
	return heading{}, false
}

func markdownHeading(line string) (heading, bool) {
	line = strings.TrimSpace(line)
	rest := strings.TrimLeft(line, "#")
	level := len(line) - len(rest)
	if level == 0 || level > 6 || rest == "" || rest[0] != ' ' || len(rest) > maxTitle {
		return heading{}, false
	}
	title := strings.Trim(oneLine(strings.ReplaceAll(rest, "**", "")), " :*#")
	return heading{title, level}, !blankTitle(title)
}

func oneLine(title string) string { return strings.Join(strings.Fields(title), " ") }

func startsUpper(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return unicode.IsUpper(first)
}

func blankTitle(title string) bool { return plainTitle(title) == "" }
