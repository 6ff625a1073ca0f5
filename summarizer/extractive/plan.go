package extractive

import (
	"strings"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// task is one entry of a todo list.
type task struct {
	text   string
	status section // sectionDone, sectionInProgress, sectionNext or sectionBlocked
}

// taskSections are the sections of the states of a task. It is never written to.
var taskSections = [...]section{
	facts.TaskOpen: sectionNext, facts.TaskInProgress: sectionInProgress, facts.TaskBlocked: sectionBlocked, facts.TaskDone: sectionDone,
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
	return facts.TodoTool(c.name)
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
			for _, t := range facts.ParseTasks(value) {
				tasks = append(tasks, task{text: t.Text, status: taskSections[t.State]})
			}
			if len(tasks) > 0 {
				return tasks, c.index, c.turn
			}
		}
	}
	return nil, 0, -1
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
