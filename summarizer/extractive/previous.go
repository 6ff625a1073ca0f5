package extractive

import (
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// maxPrevious bounds how much of an earlier summary is read, in bytes.
const maxPrevious = 256 << 10

// maxCarriedLine is the size to which a line of a foreign summary is cut, in bytes.
const maxCarriedLine = 400

// readPrevious takes an earlier summary apart into lines by section. Ours keep
// their tags, with the round in front once; lines of other formats get the round
// alone. Its text is quoted data: nothing in it becomes an open task.
func readPrevious(text string, round int, secret *redact.Redactor, cues *facts.Lookout) [sectionCount][]*note {
	var out [sectionCount][]*note
	secret.Reserve(text)
	text = secret.Text(text[:border(text, min(len(text), maxPrevious))])
	where := sectionCritical
	demoted := false
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if title, ok := headingOf(line); ok {
			where, demoted = sectionOf(title)
			continue
		}
		n, ok := carriedLine(line, round, cues)
		if !ok {
			continue
		}
		n.section = where
		switch {
		case where == sectionNext, demoted:
			// Derived each time anew; the old ones are only what was planned then.
			n.section = sectionCritical
			if !strings.HasPrefix(n.text, plannedThen) {
				n.text = plannedThen + n.text
			}
		}
		if same := strconv.Itoa(int(n.section)) + sameText(n.text); !seen[same] {
			seen[same] = true
			n.seq = len(out[n.section])
			out[n.section] = append(out[n.section], &n)
		}
	}
	return out
}

// plannedThen begins a line that was a next step when it was written.
const plannedThen = "planned then: "

// headingOf reads a Markdown heading, or a line in bold that stands for one.
func headingOf(line string) (string, bool) {
	if rest := strings.TrimLeft(line, "#"); rest != line {
		return strings.TrimSpace(rest), len(rest) > 0 && rest[0] == ' '
	}
	if rest, ok := strings.CutPrefix(line, "**"); ok && len(line) < 60 {
		if title, ok := strings.CutSuffix(strings.TrimSuffix(rest, ":"), "**"); ok {
			return strings.Trim(title, ": "), true
		}
	}
	return "", false
}

// sectionOf maps the headings of the known summary formats (ours, Hermes Agent's
// old and new ones, those of coding assistants) to our sections. Headings nobody
// knows lead to Critical context. demoted is set for lists of open work, which
// is not open any more just because an old text says so.
func sectionOf(title string) (s section, demoted bool) {
	title = strings.ToLower(strings.Trim(title, " :*#0123456789."))
	if base, _, ok := strings.Cut(title, " ("); ok {
		title = base
	}
	title = strings.TrimPrefix(title, "historical ")
	switch title {
	case strings.ToLower(summarizer.SectionGoal), "active task", "task snapshot", "task", "goals", "objective", "primary request and intent", "user request", "user requests",
		"user messages", "all user messages", "current task", "overview", "task overview":
		return sectionGoal, false
	case strings.ToLower(summarizer.SectionConstraints), "constraints & preferences", "constraints and preferences", "preferences", "user preferences", "rules":
		return sectionConstraints, false
	case strings.ToLower(summarizer.SectionDone), "progress", "completed actions", "completed", "completed work", "accomplished", "what was done", "work completed", "detailed session log":
		return sectionDone, false
	case strings.ToLower(summarizer.SectionInProgress), "in-progress state", "current work", "in progress state":
		return sectionInProgress, false
	case strings.ToLower(summarizer.SectionBlocked), "blockers", "errors & fixes", "errors and fixes", "problems", "open problems":
		return sectionBlocked, false
	case strings.ToLower(summarizer.SectionDecisions), "decisions", "key technical decisions", "design decisions":
		return sectionDecisions, false
	case strings.ToLower(summarizer.SectionFiles), "files", "files and code sections", "files modified", "modified files", "artifacts":
		return sectionFiles, false
	case strings.ToLower(summarizer.SectionNextSteps):
		return sectionNext, true
	case "remaining work", "pending user asks", "pending tasks", "pending", "optional next step", "next step", "todo", "open questions", "open tasks":
		return sectionCritical, true
	}
	return sectionCritical, false
}

// carriedLine reads one line of an earlier summary. It reports false for lines
// that say nothing.
func carriedLine(line string, round int, cues *facts.Lookout) (note, bool) {
	rest, item := strings.CutPrefix(line, "- ")
	if !item {
		rest, item = strings.CutPrefix(line, "* ")
	}
	n := note{turn: -1, voice: voiceNote, age: 1}
	prefix := "r" + strconv.Itoa(max(round-1, 0))
	if tag, body, ok := ownTag(rest); item && ok {
		n.text = tidy(body)
		if tag[0] == 'r' {
			n.tag = tag
			written, _, _ := strings.Cut(tag[1:], ":")
			if r, err := strconv.Atoi(written); err == nil {
				n.age = max(round-r, 1)
			}
		} else {
			n.tag = prefix + ":" + tag
		}
	} else {
		if !item {
			rest = line
		}
		n.tag = prefix
		n.text = clip(tidy(rest), maxCarriedLine)
		if cues.Has(n.text, facts.CueDirective) {
			n.text = quoted("earlier summary", n.text)
		}
	}
	n.text = strings.TrimSpace(n.text)
	if strings.HasPrefix(n.text, "[CONTEXT ") || strings.HasPrefix(n.text, "[PRIOR CONTEXT") || strings.HasPrefix(n.text, "--- END OF") {
		return n, false // the frame of a summary, not its text
	}
	switch strings.ToLower(strings.Trim(n.text, ". -_*()[]")) {
	case "", "none", "n/a", "nothing", "none.":
		return n, false
	}
	switch {
	case strings.HasPrefix(n.text, `user: "`):
		n.voice = voiceUser
	case strings.HasPrefix(n.text, `assistant: "`):
		n.voice = voiceAssistant
	}
	return n, true
}

// ownTag splits "[r1:12] text" and "[12] text".
func ownTag(s string) (tag, body string, ok bool) {
	if len(s) < 4 || s[0] != '[' {
		return "", "", false
	}
	end := strings.IndexByte(s[:min(len(s), 32)], ']')
	if end < 2 || len(s) < end+3 || s[end+1] != ' ' {
		return "", "", false
	}
	tag = s[1:end]
	digits := strings.TrimPrefix(tag, "r")
	round, index, both := strings.Cut(digits, ":")
	if !number(round) || both && !number(index) || both && digits == tag {
		return "", "", false
	}
	return tag, s[end+2:], true
}

func number(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) > 0 && len(s) < 10
}
