package extractive

import (
	"path"
	"slices"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// touch is what was done to a file.
type touch uint8

const (
	touchSeen touch = 1 << iota
	touchRead
	touchEdited
	touchCreated
	touchDeleted
)

var touchWords = [...]struct {
	touch touch
	word  string
}{
	{touchCreated, "created"}, {touchEdited, "edited"}, {touchDeleted, "deleted"}, {touchRead, "read"}, {touchSeen, "in a command"},
}

func (t touch) String() string {
	var words []string
	for _, tw := range touchWords {
		if t&tw.touch != 0 && (tw.touch != touchSeen || t == touchSeen) {
			words = append(words, tw.word)
		}
	}
	return strings.Join(words, ", ")
}

// parseTouch reads the words back from a carried line.
func parseTouch(s string) touch {
	var t touch
	for _, tw := range touchWords {
		if strings.Contains(s, tw.word) {
			t |= tw.touch
		}
	}
	return t
}

// file is one entry of the artifact trail.
type file struct {
	path  string
	touch touch
	call  int // newest call that touched it
}

// fileNotes lists the files of the middle: what was changed first, the newest first.
func (d *draft) fileNotes() {
	numbers := make(map[string]int)
	var files []file
	note1 := func(p string, t touch, call int) {
		p = strings.TrimSuffix(tidy(p), "/")
		if len(p) < 3 || len(p) > facts.MaxName {
			return
		}
		n, ok := numbers[p]
		if !ok {
			n = len(files)
			numbers[p] = n
			files = append(files, file{path: p})
		}
		files[n].touch |= t
		files[n].call = call
	}
	for i := range d.script.calls {
		c := &d.script.calls[i]
		if c.outcome.failed {
			continue
		}
		if cmd := commandOf(c); cmd != "" {
			commandPaths(cmd, func(p string, t touch) { note1(p, t, i) })
		}
		t := touchOf(c)
		if t == 0 {
			continue
		}
		for _, a := range c.args {
			switch {
			case !pathKey(a.Key):
			case a.IsString:
				if t != touchRead || path.Ext(a.Text) != "" || !strings.Contains(a.Text, "*") {
					note1(a.Text, t, i)
				}
			default:
				lits, _ := conversation.StringValues(a.Value)
				for _, l := range lits {
					note1(l.Text, t, i)
				}
			}
		}
	}
	slices.SortStableFunc(files, func(a, b file) int {
		if ra, rb := a.touch.rank(), b.touch.rank(); ra != rb {
			return rb - ra
		}
		return b.call - a.call
	})
	for _, f := range files {
		c := &d.script.calls[f.call]
		d.add(note{section: sectionFiles, index: c.index, turn: c.turn, voice: voiceCall, text: f.path + ": " + f.touch.String(), key: f.path, score: float64(f.touch.rank())})
	}
}

func (t touch) rank() int {
	switch {
	case t&(touchCreated|touchEdited|touchDeleted) != 0:
		return 2
	case t&touchRead != 0:
		return 1
	}
	return 0
}

// pathKey reports whether an argument of this name holds paths.
func pathKey(key string) bool {
	switch strings.ToLower(key) {
	case "path", "paths", "file", "files", "file_path", "filepath", "filepaths", "file_paths", "filename", "file_name", "notebook_path", "target_file",
		"absolute_path", "relative_path", "relative_workspace_path", "output_path", "output_file", "input_file", "source_path",
		"old_path", "new_path", "uri":
		return true
	}
	return false
}

// fileTool reports whether a call works on a named file.
func fileTool(c *call) bool {
	if touchOf(c) == 0 {
		return false
	}
	for _, a := range c.args {
		if pathKey(a.Key) {
			return true
		}
	}
	return false
}

// touchOf judges a tool by the words of its name, or by the word in its argument
// "command" (editors that are one tool), or by its arguments.
func touchOf(c *call) touch {
	name := strings.ToLower(c.name)
	for _, a := range c.args {
		if a.IsString && strings.EqualFold(a.Key, "command") && len(a.Text) < 16 && strings.IndexByte(a.Text, ' ') < 0 {
			name = strings.ToLower(a.Text)
		}
	}
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(name, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("delete", "remove", "unlink"):
		return touchDeleted
	case has("edit", "replace", "insert", "patch", "modify", "update", "rename", "move"):
		return touchEdited
	case has("write", "create", "save"):
		return touchCreated
	case has("grep", "search", "find", "glob", "list", "ls"):
		return 0
	case has("read", "view", "open", "cat", "show", "load", "present", "fetch", "get", "lsp"):
		return touchRead
	}
	for _, a := range c.args {
		if bulkKey(a.Key) {
			return touchEdited
		}
	}
	return 0
}

// commandPaths finds the files a shell command names: a slash or an extension.
func commandPaths(cmd string, add func(string, touch)) {
	cmd = cmd[:border(cmd, min(len(cmd), 2000))]
	writes := strings.Contains(cmd, "sed -i") || strings.Contains(cmd, "apply_patch")
	n := 0
	for line := range strings.SplitSeq(cmd, "\n") {
		fields := strings.Fields(line)
		reads := len(fields) > 0 && readCommand(fields[0])
		for i, w := range fields {
			to := i > 0 && (fields[i-1] == ">" || fields[i-1] == ">>" || fields[i-1] == "tee")
			if rest := strings.TrimLeft(w, ">"); rest != w {
				to, w = rest != "", rest
			}
			w = strings.Trim(w, `"'();,&|`)
			if n >= 12 || !pathLike(w) {
				continue
			}
			n++
			switch {
			case to:
				add(w, touchCreated)
			case writes:
				add(w, touchEdited)
			case reads || strings.Contains(line, "| head"):
				add(w, touchRead)
			default:
				add(w, touchSeen)
			}
		}
		if strings.Contains(line, "<<") {
			return // what follows is the text of a file
		}
	}
}

func readCommand(w string) bool {
	switch w {
	case "cat", "head", "tail", "less", "sed", "nl", "bat", "view", "more", "wc", "grep", "rg", "awk", "jq":
		return true
	}
	return false
}

// pathLike reports whether a word of a command names a file.
func pathLike(w string) bool {
	if strings.IndexByte(w, '.') < 0 && strings.IndexByte(w, '/') < 0 {
		return false
	}
	if len(w) < 4 || len(w) > facts.MaxName || w[0] == '-' || w[0] == '$' || strings.ContainsAny(w, "*{}()<>|$`\\\"'=@,^[]!:;") || strings.Contains(w, "//") || strings.HasPrefix(w, "/dev/") {
		return false
	}
	ext := path.Ext(w)
	if len(ext) < 2 || len(ext) > 6 || !facts.Letter(ext[1]) {
		return strings.Count(w, "/") >= 2 && facts.Letter(w[len(w)-1]) && !strings.HasPrefix(w, "s/")
	}
	return facts.Letter(w[0]) || w[0] == '/' || w[0] == '.' || w[0] == '~' || w[0] == '_'
}
