package extractive

import (
	"encoding/json"
	"strings"
)

// task is one entry of a todo list.
type task struct {
	text   string
	status section // sectionDone, sectionInProgress, sectionNext or sectionBlocked
}

// planNotes tells the last state of the todo list: of a todo tool, or of a
// checklist in the assistant's text, whichever is newer.
func (d *draft) planNotes() {
	tasks, index, turn := d.toolPlan()
	if list, i, t := d.checklist(); t > turn {
		tasks, index, turn = list, i, t
	}
	for _, k := range tasks {
		d.add(note{section: k.status, index: index, turn: turn, voice: voiceAssistant, text: "todo: " + clip(tidy(k.text), maxItemLine), key: sameText(k.text), score: 1.5})
	}
}

// isTodo reports whether a call writes a todo list.
func isTodo(c *call) bool {
	name := strings.ToLower(c.name)
	return strings.Contains(name, "todo") || name == "update_plan" || name == "updateplan"
}

func (d *draft) toolPlan() (tasks []task, index, turn int) {
	for i := len(d.script.calls) - 1; i >= 0; i-- {
		c := &d.script.calls[i]
		if !isTodo(c) {
			continue
		}
		for _, a := range c.args {
			value := a.Value
			if a.IsString {
				value = a.Text
			}
			if tasks = parseTasks(value); len(tasks) > 0 {
				return tasks, c.index, c.turn
			}
		}
	}
	return nil, 0, -1
}

// parseTasks reads a list of tasks in the spellings of the known todo tools.
func parseTasks(value string) []task {
	var entries []struct {
		Content, Step, Title, Text, Task, Description, Name, Status, State string
		Completed, Done                                                    any
	}
	if !strings.HasPrefix(strings.TrimSpace(value), "[") || json.Unmarshal([]byte(value), &entries) != nil {
		return nil
	}
	var tasks []task
	for _, e := range entries {
		t := task{status: sectionNext}
		for _, s := range []string{e.Content, e.Step, e.Title, e.Text, e.Task, e.Name, e.Description} {
			if s != "" {
				t.text = s
				break
			}
		}
		switch s := strings.ToLower(e.Status + e.State); {
		case e.Completed == true, e.Done == true, s == "completed", s == "done", s == "complete", s == "finished":
			t.status = sectionDone
		case strings.HasPrefix(s, "in_progress"), strings.HasPrefix(s, "in-progress"), s == "active", s == "doing", s == "in progress":
			t.status = sectionInProgress
		case s == "blocked", s == "failed":
			t.status = sectionBlocked
		case s == "cancelled", s == "canceled", s == "skipped":
			continue
		}
		if t.text != "" {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// checklist finds the newest message of the assistant with two boxes or more.
func (d *draft) checklist() (tasks []task, index, turn int) {
	for i := len(d.script.passages) - 1; i >= 0; i-- {
		p := &d.script.passages[i]
		if p.voice != voiceAssistant {
			continue
		}
		for u := p.first; u < p.last; u++ {
			un := &d.units[u]
			if un.flags&(flagOpen|flagChecked) == 0 || un.flags&flagCode != 0 {
				continue
			}
			t := task{status: sectionNext, text: strings.TrimLeft(un.text, "-*+0123456789. [xX])")}
			if un.flags&flagChecked != 0 {
				t.status = sectionDone
			}
			tasks = append(tasks, t)
		}
		if len(tasks) >= 2 {
			return tasks, p.index, p.turn
		}
		tasks = nil
	}
	return nil, 0, -1
}
