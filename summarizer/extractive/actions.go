package extractive

import (
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// Sizes of the parts of an action line, in bytes.
const (
	maxKeyArg  = 200 // longer arguments are text, not a key
	maxAction  = 180
	maxOutcome = 140
)

// action is one or several like calls.
type action struct {
	call     int // the newest call
	name     string
	what     string
	outcome  outcome
	times    int
	failures int
	file     bool // shows among the files as well
}

// actionNotes lists what was done: tool calls by name, key arguments and outcome,
// the newest in most detail, like ones folded. Calls that failed and were never
// repeated with success are what blocks.
func (d *draft) actionNotes() {
	byKey := make(map[string]int)
	var actions []action
	for i := range d.script.calls {
		c := &d.script.calls[i]
		a := action{call: i, name: c.name, what: c.what, outcome: c.outcome, times: 1, file: c.file}
		if isTodo(c) {
			continue
		}
		if a.outcome.failed {
			a.failures = 1
		}
		key := a.name + "\x00" + a.what
		if n, ok := byKey[key]; ok {
			a.times += actions[n].times
			a.failures += actions[n].failures
			actions[n].times = 0 // told by the newer one
		}
		byKey[key] = len(actions)
		actions = append(actions, a)
	}
	recent := len(d.script.calls) - max(12, len(d.script.calls)/5)
	for n := len(actions) - 1; n >= 0; n-- {
		a := &actions[n]
		if a.times == 0 {
			continue
		}
		c := &d.script.calls[a.call]
		line := note{section: sectionDone, index: c.index, turn: c.turn, voice: voiceCall, text: a.line(), key: a.name + " " + a.what}
		switch {
		case a.outcome.pending:
			line.section = sectionInProgress
		case a.outcome.failed && a.call >= recent:
			line.section = sectionBlocked
		case a.outcome.failed: // long past, but never to be read as achieved
			line.text = "tried and failed: " + line.text
		case a.file && !a.outcome.failed && a.outcome.text == "":
			continue // the list of files says as much
		}
		d.add(line)
	}
}

// line tells an action: "bash: go test ./... → exit 1: FAIL (×3)".
func (a *action) line() string {
	var sb strings.Builder
	sb.WriteString(a.name)
	if a.what != "" {
		sb.WriteString(": ")
		sb.WriteString(a.what)
	}
	switch {
	case a.outcome.pending:
		sb.WriteString(" → no result yet")
	case a.outcome.text != "":
		sb.WriteString(" → ")
		sb.WriteString(a.outcome.text)
	case a.outcome.failed:
		sb.WriteString(" → failed")
	default:
		sb.WriteString(" → ok")
	}
	if a.times > 1 {
		sb.WriteString(" (×" + strconv.Itoa(a.times))
		if a.failures > 0 && !a.outcome.failed {
			sb.WriteString(", failed " + strconv.Itoa(a.failures))
		}
		sb.WriteString(")")
	}
	return sb.String()
}

// keyArguments tells what a call was about: a command as it stands, else the
// short arguments, paths without their keys.
func keyArguments(c *call) string {
	if c.args == nil {
		return clipMiddle(tidy(c.input[:border(c.input, min(len(c.input), 4*maxAction))]), maxAction)
	}
	if cmd := commandOf(c); cmd != "" {
		return clipMiddle(tidy(cmd[:border(cmd, min(len(cmd), 4*maxAction))]), maxAction)
	}
	var sb strings.Builder
	for _, a := range c.args {
		v := a.Value
		if a.IsString {
			v = a.Text
		}
		switch {
		case v == "" || v == "null" || v == "false" || len(v) > maxKeyArg && !pathKey(a.Key):
			continue
		case strings.EqualFold(a.Key, "description") && len(c.args) > 1, bulkKey(a.Key):
			continue
		}
		if sb.Len() > 0 {
			sb.WriteString(", ")
		}
		if !pathKey(a.Key) && !strings.EqualFold(a.Key, "query") && !strings.EqualFold(a.Key, "url") {
			sb.WriteString(a.Key)
			sb.WriteString(": ")
		}
		sb.WriteString(v)
		if sb.Len() > 2*maxAction {
			break
		}
	}
	return clipMiddle(tidy(sb.String()), maxAction)
}

// commandOf is the shell command or code a call runs, "" for other calls.
func commandOf(c *call) string {
	for _, a := range c.args {
		switch strings.ToLower(a.Key) {
		case "command", "cmd", "script", "bash_command", "shell_command", "commands":
			// Some editors have an argument "command" that is a word of their own.
			if a.IsString && (strings.ContainsAny(a.Text, " ./|-") || len(c.args) == 1) {
				return a.Text
			}
			if !a.IsString && strings.HasPrefix(a.Value, "[") {
				lits, _ := conversation.StringValues(a.Value)
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

// bulkKey is true of arguments that hold text to be written or replaced.
func bulkKey(key string) bool {
	switch strings.ToLower(key) {
	case "content", "contents", "old_string", "new_string", "oldtext", "newtext", "old_str", "new_str", "file_text", "insert_text", "patch", "diff",
		"replace", "replacement", "text", "body", "todos", "edits", "thought", "plan":
		return true
	}
	return false
}
