package fidelity

import (
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// statement is a fact that is no single name: a rule, a decision, an open task, a
// command with its exit code.
type statement struct {
	kind       kind
	text       string
	passage    int32 // -1 for commands and tasks
	index      int
	weight     float64
	summarized bool
}

// Bounds of the statements: of each kind the newest so many count.
const (
	maxConstraints = 128
	maxDecisions   = 64
	maxTasks       = 32
	maxCommands    = 64
	maxStatement   = 400
	// proseHead and proseTail are how much of a text is looked at for rules and
	// decisions, at its beginning and end.
	proseHead = 4 << 10
	proseTail = 1 << 10
)

// findStatements reads them from the newest message to the oldest.
func (x *index) findStatements() {
	room := [kindCount]int{kindConstraint: maxConstraints, kindDecision: maxDecisions, kindTodo: maxTasks, kindCommand: maxCommands}
	tasks := x.openTasks()
	for p := len(x.reader.passages) - 1; p >= 0; p-- {
		pa := &x.reader.passages[p]
		switch {
		case pa.kept:
		case pa.kind == kindConstraint || pa.kind == kindDecision || pa.kind == kindCommand:
			x.state(&room, statement{kind: pa.kind, text: pa.text, passage: int32(p), index: -1})
		case pa.kind == kindNone && (pa.voice == voiceUser || pa.voice == voiceAssistant):
			x.sentences(int32(p), pa, &room)
		}
	}
	for _, s := range tasks {
		x.state(&room, s)
	}
	for i := len(x.reader.calls) - 1; i >= 0; i-- {
		if c := x.reader.calls[i]; c.coded || c.failed {
			x.command(c, &room)
		}
	}
}

// state adds a statement with its weight, if there is room for its kind.
func (x *index) state(room *[kindCount]int, s statement) {
	if room[s.kind] == 0 {
		return
	}
	room[s.kind]--
	s.text = oneLine(s.text)
	w := kindWeights[s.kind]
	switch {
	case s.passage >= 0:
		w *= voiceWeights[x.reader.passages[s.passage].voice] * x.recency(s.passage)
	case s.kind == kindTodo:
		w *= voiceWeights[voiceAssistant]
	}
	s.weight += w
	x.statements = append(x.statements, s)
}

// sentences finds the rules of the user and the decisions of the assistant.
func (x *index) sentences(p int32, pa *passage, room *[kindCount]int) {
	want, k := facts.CueRule, kindConstraint
	if pa.voice == voiceAssistant {
		want, k = facts.CueDecision, kindDecision
	}
	if room[k] == 0 {
		return
	}
	eachSentence(pa.text, func(start, end int) {
		if start > proseHead && start < len(pa.text)-proseTail {
			return
		}
		s := strings.TrimSpace(pa.text[start:end])
		s = strings.TrimLeft(s, "#>*- ")
		if len(s) < 10 || len(s) > maxStatement || facts.Question(s) || facts.CodeLike(s) || x.cues.Scan(s)&want == 0 {
			return
		}
		x.state(room, statement{kind: k, text: s, passage: p, index: pa.index})
	})
}

// openTasks are the open entries of the newest todo list: of a todo tool, or the
// boxes in a message of the assistant, whichever is newer.
func (x *index) openTasks() []statement {
	var out []statement
	at := -1
	for i := len(x.reader.calls) - 1; i >= 0 && at < 0; i-- {
		c := x.reader.calls[i]
		if !facts.TodoTool(c.block.Name) {
			continue
		}
		args, _ := conversation.Members(x.reader.redacted(c.block.Input))
		for _, a := range args {
			value := a.Value
			if a.IsString {
				value = a.Text
			}
			for _, t := range facts.ParseTasks(value) {
				at = c.index
				if t.State != facts.TaskDone && len(t.Text) <= maxStatement {
					out = append(out, statement{kind: kindTodo, text: t.Text, passage: -1, index: c.index})
				}
			}
		}
	}
	for p := len(x.reader.passages) - 1; p >= 0; p-- {
		pa := &x.reader.passages[p]
		if pa.kept || pa.voice != voiceAssistant || pa.index <= at || !strings.Contains(pa.text, "- [") {
			continue
		}
		var boxes []statement
		found := 0
		for line := range strings.SplitSeq(pa.text, "\n") {
			line = strings.TrimSpace(line)
			if rest, ok := strings.CutPrefix(line, "- [ ] "); ok && len(rest) <= maxStatement {
				boxes = append(boxes, statement{kind: kindTodo, text: rest, passage: -1, index: pa.index})
				found++
			} else if strings.HasPrefix(line, "- [x] ") || strings.HasPrefix(line, "- [X] ") {
				found++
			}
		}
		if found >= 2 {
			return boxes
		}
	}
	return out
}

// command notes what a command came to.
func (x *index) command(c *call, room *[kindCount]int) {
	line := commandOf(c.block)
	if line == "" {
		return
	}
	line = oneLine(x.reader.redacted(line))
	if len(line) > maxStatement/2 {
		line = line[:runeStart(line, maxStatement/2)] + "…"
	}
	s := statement{kind: kindCommand, passage: -1, index: c.index}
	switch {
	case c.coded:
		s.text = line + " → exit " + strconv.Itoa(c.exit)
	default:
		s.text = line + " → failed"
	}
	if !c.failed {
		s.weight = -kindWeights[kindCommand] / 2
	}
	x.state(room, s)
}

// commandOf is the shell command a call runs, "" for other calls.
func commandOf(b *conversation.Block) string {
	if len(b.Input) > 16<<10 || !strings.Contains(b.Input, `"c`) && !strings.Contains(b.Input, `"script`) {
		return ""
	}
	args, _ := conversation.Members(b.Input)
	for _, a := range args {
		switch a.Key {
		case "command", "cmd", "script":
			if a.IsString && (strings.ContainsAny(a.Text, " ./|-") || len(args) == 1) {
				return a.Text
			}
			if lits, ok := conversation.StringValues(a.Value); ok && !a.IsString {
				words := make([]string, len(lits))
				for i, l := range lits {
					words[i] = l.Text
				}
				return strings.Join(words, " ")
			}
		}
	}
	return ""
}
