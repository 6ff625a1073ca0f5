package compressor

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/conversation"
)

// stubMaxChars is the longest line that takes the place of a result. A line is
// never longer than the smallest result that is replaced, so a second pass finds
// nothing to do.
const stubMaxChars = DefaultPruneOverChars

// stubKind is how the line of a tool is built.
type stubKind int

const (
	stubOther stubKind = iota
	stubTerminal
	stubCode
	stubRead
	stubWrite
	stubSearch
	stubPatch
	stubWebSearch
	stubFetch
	stubQuoted
)

// stubRule says which line a tool gets and which arguments it shows.
type stubRule struct {
	kind stubKind
	keys []string // the argument shown, by the first key that is there
}

// ruleFor finds the line of a tool. Names are compared without case; what is not
// listed gets the general line with its first arguments.
func ruleFor(tool string) stubRule {
	switch strings.ToLower(tool) {
	case "terminal", "bash", "shell", "exec", "exec_command", "execute_bash", "execute_command", "run_command", "run_shell_command", "run_terminal_cmd", "local_shell":
		return stubRule{stubTerminal, []string{"command", "cmd", "script"}}
	case "execute_code", "python", "run_python", "code_interpreter", "ipython":
		return stubRule{stubCode, []string{"code", "source"}}
	case "read_file", "read", "view", "view_file", "open_file", "cat":
		return stubRule{stubRead, []string{"path", "file_path", "filename", "file", "absolute_path", "target_file"}}
	case "write_file", "write", "create_file", "save_file":
		return stubRule{stubWrite, []string{"path", "file_path", "filename", "file"}}
	case "search_files", "grep", "search", "ripgrep", "grep_search", "search_file_content", "glob":
		return stubRule{stubSearch, []string{"pattern", "query", "regex"}}
	case "patch", "edit", "edit_file", "str_replace", "apply_patch", "multiedit", "str_replace_editor", "replace":
		return stubRule{stubPatch, []string{"path", "file_path", "file"}}
	case "web_search", "websearch", "google_web_search":
		return stubRule{stubWebSearch, []string{"query", "q"}}
	case "web_extract", "web_fetch", "webfetch", "fetch", "browser_navigate":
		return stubRule{stubFetch, []string{"urls", "url", "link"}}
	case "delegate_task", "task":
		return stubRule{stubQuoted, []string{"goal", "description", "task", "prompt"}}
	case "vision_analyze":
		return stubRule{stubQuoted, []string{"question"}}
	default:
		return stubRule{}
	}
}

// toolName is the tool's name as far as it is known.
func toolName(call, result *conversation.Block) string {
	switch {
	case call != nil && call.Name != "":
		return call.Name
	case result.Name != "":
		return result.Name
	default:
		return "unknown"
	}
}

// isStub recognizes a line that stubLine made for the tool.
func isStub(text, tool string) bool {
	return strings.HasPrefix(text, "["+clip(oneLine(tool), 60)+"]") &&
		!strings.Contains(text, "\n") && utf8.RuneCountInString(text) <= stubMaxChars
}

// stubLine says in one line what a tool result was: tool, arguments, size, exit
// status, and for a failed command the first line that names an error. It never
// fails, whatever the arguments hold.
func stubLine(call, result *conversation.Block, text string, chars int) string {
	tool := toolName(call, result)
	var args []conversation.Member
	if call != nil {
		args, _ = conversation.Members(call.Input)
	}
	rule := ruleFor(tool)
	size := " (" + thousands(chars) + " chars result)"
	head := "[" + clip(oneLine(tool), 60) + "]"
	shown := argument(args, rule.keys)
	lines := thousands(countLines(text))
	var middle, tail string
	switch rule.kind {
	case stubTerminal:
		exit := exitStatus(text)
		middle, tail = " ran `"+ellipsis(shown, 80)+"`", " -> exit "+exit+", "+lines+" lines output"
		if exit != "0" || result.IsError {
			tail += errorNote(text)
		}
	case stubCode:
		middle, tail = " `"+ellipsis(shown, 60)+"`", " ("+lines+" lines output)"
	case stubRead:
		middle, tail = " read "+shown+" from line "+orDefault(argument(args, []string{"offset", "start_line", "line"}), "1"), " ("+thousands(chars)+" chars)"
	case stubWrite:
		written := "?"
		if content := argumentText(args, []string{"content", "text", "file_text"}); content != "" {
			written = thousands(countLines(content))
		}
		middle, tail = " wrote to "+shown, " ("+written+" lines)"
	case stubSearch:
		middle = " " + orDefault(argument(args, []string{"target"}), "content") + " search for '" + ellipsis(shown, 80) + "' in " + orDefault(argument(args, []string{"path", "dir"}), ".")
		tail = " -> " + matchCount(text) + " matches"
	case stubPatch:
		middle, tail = " "+orDefault(argument(args, []string{"mode", "command"}), "replace")+" in "+shown, size
	case stubWebSearch:
		middle, tail = " query='"+shown+"'", size
	case stubFetch:
		middle, tail = " "+fetched(args, rule.keys), " ("+thousands(chars)+" chars)"
	case stubQuoted:
		middle, tail = " '"+ellipsis(shown, 60)+"'", size
	default:
		for _, a := range args[:min(len(args), 2)] {
			middle += " " + clip(oneLine(a.Key), 40) + "=" + ellipsis(oneLine(valueText(a)), 40)
		}
		tail = size
		if result.IsError {
			tail += errorNote(text)
		}
	}
	return fitLine(head, middle, tail)
}

// fitLine joins the parts of a line and shortens the middle, then the tail, to
// keep it within stubMaxChars.
func fitLine(head, middle, tail string) string {
	room := stubMaxChars - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	if room < 0 {
		return clip(head+tail, stubMaxChars)
	}
	return head + ellipsis(middle, room) + tail
}

// argument is the value of the first of the keys that is there, on one line.
func argument(args []conversation.Member, keys []string) string {
	return oneLine(argumentText(args, keys))
}

func argumentText(args []conversation.Member, keys []string) string {
	for _, key := range keys {
		for _, a := range args {
			if a.Key == key {
				return valueText(a)
			}
		}
	}
	return ""
}

func valueText(m conversation.Member) string {
	if m.IsString {
		return m.Text
	}
	return m.Value
}

// fetched names the first address of a fetch and how many more there were.
func fetched(args []conversation.Member, keys []string) string {
	for _, key := range keys {
		for _, a := range args {
			if a.Key != key {
				continue
			}
			elements, ok := conversation.Elements(a.Value)
			if !ok || len(elements) == 0 {
				return ellipsis(oneLine(valueText(a)), 120)
			}
			first := valueText(elements[0])
			if fields, ok := conversation.Members(elements[0].Value); ok {
				first = argument(fields, []string{"url", "href"})
			}
			if more := len(elements) - 1; more > 0 {
				return ellipsis(oneLine(first), 120) + " (+" + strconv.Itoa(more) + " more)"
			}
			return ellipsis(oneLine(first), 120)
		}
	}
	return ""
}

// What an exit status or a number of matches looks like, from the word that names
// it on. RE2 is linear.
var (
	exitPattern  = regexp.MustCompile(`^(?:exit_?code|returncode|exit(?:ed)?(?: with)?(?: code| status)?)"?\s*[:=]?\s*(-?\d{1,5})\b`)
	totalPattern = regexp.MustCompile(`^(?:total_count|total|count)"\s*:\s*(\d{1,12})\b`)
)

const (
	// scanLimit bounds how much of a result is looked at, from each end, in bytes.
	scanLimit = 16 << 10
	// phraseLimit bounds one phrase, in bytes.
	phraseLimit = 48
)

// ends is the beginning and the end of a text.
func ends(text string) []string {
	if len(text) <= 2*scanLimit {
		return []string{text}
	}
	return []string{text[:scanLimit], text[len(text)-scanLimit:]}
}

// exitStatus finds the exit status a command's output names last, "?" when it
// names none.
func exitStatus(text string) string { return lastNumber(text, exitPattern, "exit", "returncode") }

// matchCount finds the number of matches a search names.
func matchCount(text string) string {
	return lastNumber(text, totalPattern, "total_count", "total", "count")
}

// lastNumber returns the number of the last phrase that begins with one of the
// words and meets the pattern.
func lastNumber(text string, pattern *regexp.Regexp, words ...string) string {
	var heads [256]bool // of the words
	for _, word := range words {
		heads[word[0]] = true
	}
	parts := ends(text)
	for i := len(parts) - 1; i >= 0; i-- {
		part := parts[i]
		for at := len(part) - 1; at >= 0; at-- {
			if !heads[part[at]|0x20] || !slices.ContainsFunc(words, func(word string) bool { return beginsWith(part[at:], word) }) {
				continue
			}
			phrase := strings.ToLower(part[at:min(len(part), at+phraseLimit)])
			if m := pattern.FindStringSubmatch(phrase); m != nil {
				return m[1]
			}
		}
	}
	return "?"
}

// beginsWith reports whether s begins with a word of ASCII letters, in any case.
func beginsWith(s, word string) bool {
	return len(s) >= len(word) && s[1]|0x20 == word[1] && strings.EqualFold(s[:len(word)], word)
}

// errorNote quotes the first line that names an error.
func errorNote(text string) string {
	for _, part := range ends(text) {
		if at := firstError(part); at >= 0 {
			line := part[strings.LastIndexByte(part[:at], '\n')+1:]
			if end := strings.IndexByte(line, '\n'); end >= 0 {
				line = line[:end+1]
			}
			return "; " + ellipsis(oneLine(line), 70)
		}
	}
	return ""
}

// firstError is where the first word that names an error stands, -1 for none.
func firstError(text string) int {
	for at := range len(text) {
		switch text[at] | 0x20 {
		case 'e':
			if beginsWith(text[at:], "error") || beginsWith(text[at:], "exception") {
				return at
			}
		case 'f':
			if beginsWith(text[at:], "failed") || beginsWith(text[at:], "fatal") {
				return at
			}
		case 'p':
			if beginsWith(text[at:], "panic") {
				return at
			}
		}
	}
	return -1
}

// countLines is newlines plus one, 0 for blank content.
func countLines(text string) int {
	if conversation.Blank(text) {
		return 0
	}
	return strings.Count(text, "\n") + 1
}

// ellipsis shortens s to at most n characters, the dots included.
func ellipsis(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 3 {
		return clip(s, max(n, 0))
	}
	return clip(s, n-3) + "..."
}

// oneLine puts text on one line.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r\t") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

func orDefault(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// thousands writes a count with separators.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
