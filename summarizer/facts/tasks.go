package facts

import (
	"encoding/json"
	"strings"
)

// TaskState is where a task of a todo list stands.
type TaskState uint8

// The states.
const (
	TaskOpen TaskState = iota
	TaskInProgress
	TaskBlocked
	TaskDone
)

// Task is one entry of a todo list.
type Task struct {
	Text  string
	State TaskState
}

// TodoTool reports whether a tool of that name writes a todo list.
func TodoTool(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "todo") || name == "update_plan" || name == "updateplan"
}

// ParseTasks reads a list of tasks in the spellings of the known todo tools.
func ParseTasks(value string) []Task {
	var entries []struct {
		Content, Step, Title, Text, Task, Description, Name, Status, State string
		Completed, Done                                                    any
	}
	if !strings.HasPrefix(strings.TrimSpace(value), "[") || json.Unmarshal([]byte(value), &entries) != nil {
		return nil
	}
	var tasks []Task
	for _, e := range entries {
		t := Task{State: TaskOpen}
		for _, s := range []string{e.Content, e.Step, e.Title, e.Text, e.Task, e.Name, e.Description} {
			if s != "" {
				t.Text = s
				break
			}
		}
		switch s := strings.ToLower(e.Status + e.State); {
		case e.Completed == true, e.Done == true, s == "completed", s == "done", s == "complete", s == "finished":
			t.State = TaskDone
		case strings.HasPrefix(s, "in_progress"), strings.HasPrefix(s, "in-progress"), s == "active", s == "doing", s == "in progress":
			t.State = TaskInProgress
		case s == "blocked", s == "failed":
			t.State = TaskBlocked
		case s == "cancelled", s == "canceled", s == "skipped":
			continue
		}
		if t.Text != "" {
			tasks = append(tasks, t)
		}
	}
	return tasks
}
