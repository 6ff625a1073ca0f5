package compressor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
)

// The frame that marks a summary inside a conversation. It is recognized by its
// first words only, at the start of a whole message. Its first line ends with the
// trace of what was kept after it, which tells a later pass whether anything was
// added since (trace.go).
const (
	summaryOpen  = "[ELBOWROOM CONTEXT SUMMARY, round "
	traceOpen    = ", trace "
	summaryClose = "[END OF CONTEXT SUMMARY]"
	// summaryLead says what the notes are. It claims nothing about what was kept.
	summaryLead = "Notes on earlier messages of this conversation, which they replace. " +
		"They are reference, not instructions; messages outside these notes are newer and take precedence."
	// frameTokens is more than the frame costs by any known tokenizer.
	frameTokens = 96
)

// systemNote is appended to the system prompt at the first compression.
const systemNote = "\n\n[Note: earlier messages of this conversation may have been condensed into a context summary. " +
	"It reports work already done; build on it and do not redo it.]"

// noteTokens is more than the note costs by any known tokenizer.
const noteTokens = 72

// hermesOpenings begin the summaries of Hermes Agent, current and older ones.
// Conversations that it compressed are taken over.
var hermesOpenings = []string{
	"[CONTEXT COMPACTION — REFERENCE ONLY]",
	"[CONTEXT COMPACTION]",
	"[CONTEXT SUMMARY]:",
}

const hermesClose = "--- END OF CONTEXT SUMMARY"

// frameSummary wraps a body for the conversation.
func frameSummary(body string, round int, trace string) string {
	return summaryOpen + strconv.Itoa(round) + traceOpen + trace + "] " + summaryLead + "\n\n" + strings.TrimSpace(body) + "\n\n" + summaryClose
}

// unframed rewrites the marks of a frame that a body quotes: a summary has one
// beginning and one end, and a forged one would end it early for whoever reads it.
func unframed(body string) string {
	if !strings.Contains(body, summaryOpen) && !strings.Contains(body, summaryClose) {
		return body // which the replacer takes long to find out
	}
	return strings.NewReplacer(
		summaryOpen, "("+summaryOpen[1:],
		summaryClose, "("+summaryClose[1:len(summaryClose)-1]+")",
	).Replace(body)
}

// isSummary reports whether a whole message is a summary, ours or Hermes'.
func isSummary(m *conversation.Message) bool {
	_, ok := readSummary(m)
	return ok
}

// foundSummary is a summary read back.
type foundSummary struct {
	body  string
	round int
	trace string // empty for other systems' summaries
}

// readSummary reads a summary message. A message with anything after the
// summary's end is not one: its rest may be somebody's words.
func readSummary(m *conversation.Message) (foundSummary, bool) {
	if m.Role != conversation.RoleUser && m.Role != conversation.RoleAssistant {
		return foundSummary{}, false
	}
	if len(m.Blocks) != 1 || m.Blocks[0].Kind != conversation.KindText {
		return foundSummary{}, false
	}
	text := m.Blocks[0].Text
	if rest, found := strings.CutPrefix(text, summaryOpen); found {
		return readOwn(rest)
	}
	for _, opening := range hermesOpenings {
		if rest, found := strings.CutPrefix(text, opening); found {
			return readHermes(rest)
		}
	}
	return foundSummary{}, false
}

func readOwn(rest string) (foundSummary, bool) {
	line, rest, found := strings.Cut(rest, "]")
	number, trace, _ := strings.Cut(line, traceOpen)
	round, err := strconv.Atoi(number)
	if !found || err != nil || round < 1 {
		return foundSummary{}, false
	}
	body, found := strings.CutSuffix(strings.TrimSpace(rest), summaryClose)
	if !found {
		return foundSummary{}, false
	}
	body = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(body), summaryLead))
	return foundSummary{body, round, trace}, true
}

// readHermes cuts the instructions in front of the first heading and the end
// marker.
func readHermes(rest string) (foundSummary, bool) {
	if at := strings.Index(rest, hermesClose); at >= 0 {
		_, after, _ := strings.Cut(rest[at:], "\n")
		if strings.TrimSpace(after) != "" {
			return foundSummary{}, false
		}
		rest = rest[:at]
	}
	if at := strings.Index(rest, "## "); at == 0 || at > 0 && rest[at-1] == '\n' {
		rest = rest[at:]
	}
	return foundSummary{body: strings.TrimSpace(rest), round: 1}, true
}

// earlierSummary is what an earlier compression left.
type earlierSummary struct {
	found      bool
	row, count int // the rows of the summaries
	round      int // of the newest of them
	body       string
	// told is the body without its section of facts, which is derived anew each time;
	// facts is that section.
	told, facts string
	// trace is the last one's, firstTrace the first one's.
	trace, firstTrace string
	tokens            int
	messages          map[int]bool // their indices in the caller's list
}

// findEarlier looks for summaries directly after the head, joins stacked ones,
// and checks the caller's state against them. Anywhere else a summary's opening
// words are just text.
func (j *job) findEarlier() {
	e := earlierSummary{messages: make(map[int]bool)}
	limit := min(j.headEnd()+1, len(j.rows)-1)
	for r := j.systemRows(); r <= limit; r++ {
		if !j.summaryRow(r) {
			continue
		}
		e.found, e.row = true, r
		var bodies []string
		for ; r < len(j.rows) && j.summaryRow(r); r++ {
			one, _ := readSummary(&j.repaired[r])
			bodies = append(bodies, one.body)
			if e.round, e.trace = max(e.round, one.round), one.trace; e.count == 0 {
				e.firstTrace = one.trace
			}
			e.tokens += j.rows[r].cost
			e.count++
			e.messages[j.rows[r].index] = true
			if j.rows[r].pinned {
				j.report.Warnings = append(j.report.Warnings, conversation.Warning{
					Code: "PINNED_SUMMARY", Message: j.rows[r].index, Detail: "a summary cannot be pinned: it is updated",
				})
			}
		}
		e.body = strings.Join(bodies, "\n\n")
		break
	}
	j.state, j.report.State = j.engine.states.open(j.req.Tenant, j.req.State)
	switch {
	case e.found && j.state.matches(e.body):
		e.round = j.state.Round
	case e.found && j.state.Round > 0:
		j.report.State = "ignored: it belongs to another summary than the one in the conversation"
	}
	if j.req.PreviousSummary != "" {
		e.body, e.round = joinSummaries(j.req.PreviousSummary, e.body), max(e.round, 1)
	}
	e.told, e.facts = fidelity.Split(e.body)
	j.earlier = e
}

// summaryRow looks at the repaired message, as a second pass does.
func (j *job) summaryRow(r int) bool { return j.rows[r].index >= 0 && isSummary(&j.repaired[r]) }

// joinSummaries puts the caller's summary before the conversation's own, once.
func joinSummaries(given, found string) string {
	m := conversation.Message{Role: conversation.RoleUser, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: given}}}
	if one, ok := readSummary(&m); ok {
		given = one.body
	}
	given = strings.TrimSpace(given)
	if found == "" || strings.Contains(found, given) {
		return cmp.Or(found, given)
	}
	return given + "\n\n" + found
}

// round is the number of the compression that is being made.
func (j *job) round() int { return j.earlier.round + 1 }

// addsNote reports whether this compression appends the note to the system
// prompt: the first one, in a request body that has system text.
func (j *job) addsNote() bool {
	if j.rules.systemNote != SystemNoteAppend || j.c.Bare || j.earlier.found || j.earlier.body != "" {
		return false
	}
	if j.c.System == nil && slices.Contains(j.req.Pinned, 0) {
		return false // the system prompt is pinned
	}
	sys := j.systemText()
	return sys != nil && !strings.Contains(sys.Text(), strings.TrimSpace(systemNote))
}

// systemText is the system prompt the note goes to, nil when there is no system
// text.
func (j *job) systemText() *conversation.Message {
	sys := j.c.System
	if sys == nil && len(j.c.Messages) > 0 && j.c.Messages[0].Role == conversation.RoleSystem {
		sys = &j.c.Messages[0]
	}
	if sys == nil || conversation.Blank(sys.Text()) {
		return nil
	}
	return sys
}

func plural(n int, word string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
