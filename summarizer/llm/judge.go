package llm

import (
	"encoding/json"
	"strings"
	"unicode"
)

// toolMarkup reports whether a text holds a tool call written as text, or tokens
// of a chat template. Code and quotes are text about such things.
func toolMarkup(text string) bool {
	for _, line := range fenced(text) {
		if line.code {
			continue
		}
		bare := asciiLower(strings.TrimLeft(line.text, " \t-*"))
		for _, opening := range [...]string{
			"<tool_call", "</tool_call", "<function=", "<function_call", "</function_call", "<invoke ", "<tool_use", "[tool_calls]", "<｜tool", "functools[",
		} {
			if rest, ok := strings.CutPrefix(bare, opening); ok && callFollows(rest) {
				return true
			}
		}
		if strings.Contains(bare, "<|") && templateToken(unquoted(bare)) {
			return true
		}
	}
	return false
}

// callFollows tells a call from a sentence about one: behind the opening comes the
// call's name or arguments, or nothing.
func callFollows(rest string) bool {
	if _, after, ok := strings.Cut(rest, ">"); ok {
		rest = after
	}
	rest = strings.TrimSpace(rest)
	return rest == "" || strings.IndexByte("{<[", rest[0]) >= 0
}

// templateToken finds tokens such as <|im_start|>.
func templateToken(line string) bool {
	for {
		_, rest, ok := strings.Cut(line, "<|")
		if !ok {
			return false
		}
		end := strings.Index(rest[:min(len(rest), maxToken)], "|>")
		if end > 0 && !strings.ContainsAny(rest[:end], " \t<") {
			return true
		}
		line = rest
	}
}

// errorText reports whether a text is the error message of a server or a proxy
// that answered as if all were well.
func errorText(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return false
	}
	if (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text)) {
		return strings.Contains(asciiLower(text[:min(len(text), 400)]), `"error`) ||
			strings.Contains(text[:min(len(text), 400)], `"message"`)
	}
	head := asciiLower(strings.TrimLeft(text[:min(len(text), 120)], " \t-*\"'`"))
	for _, opening := range [...]string{
		"<!doctype html", "<html", "<?xml", "error:", "error code", "error 4", "error 5", "api error", "apierror", "http error", "http/1", "http 4", "http 5",
		"internal server error", "bad gateway", "service unavailable", "gateway time", "too many requests", "rate limit", "ratelimit",
		"upstream connect error", "upstream request timeout", "request timed out", "connection refused", "connection error", "traceback (most recent call last)",
		"400 bad request", "401 unauthorized", "403 forbidden", "404 not found", "408 request", "413 ", "429 ", "500 internal", "502 bad", "503 service", "504 gateway",
		"an error occurred", "no healthy upstream", "context length exceeded",
	} {
		if strings.HasPrefix(head, opening) {
			return true
		}
	}
	return false
}

// directiveLine reports whether a line speaks to the model that will read it
// instead of reporting. What stands in quotes, in code or behind a quote sign is
// somebody's words. rules says that the line may hold rules of the user.
func directiveLine(line string, rules bool) bool {
	line = strings.TrimLeft(line, " \t-*+•0123456789.)#")
	if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "|") {
		return false
	}
	lower := asciiLower(line)
	for _, marker := range [...]string{"[system]", "[system message", "[system prompt", "[system:", "[inst]", "<system>", "<<sys>>", "[developer]", "[admin]"} {
		if strings.HasPrefix(lower, marker) {
			return true
		}
	}
	for _, sentence := range sentences(unquoted(lower)) {
		if overrides(sentence) || !rules && commands(sentence) {
			return true
		}
	}
	return false
}

// overrides reports whether a sentence orders to ignore what was said before.
func overrides(sentence string) bool {
	for _, opening := range [...]string{
		"忽略之前", "忽略以上", "忽略上述", "无视之前", "ignora las instrucciones anteriores", "ignora todas las instrucciones", "ignorez les instructions",
		"ignorez toutes les instructions", "ignoriere alle vorherigen", "ignoriere die vorherigen", "ignore as instruções anteriores", "ignore todas as instruções",
		"игнорируй предыдущие", "игнорируйте предыдущие",
	} {
		if strings.HasPrefix(sentence, opening) {
			return true
		}
	}
	words := wordsOf(sentence)
	if len(words) > 0 && (words[0] == "please" || words[0] == "now") {
		words = words[1:]
	}
	if len(words) < 3 {
		return false
	}
	switch words[0] {
	case "ignore", "disregard", "forget", "override":
	default:
		return false
	}
	earlier := false
	for i, word := range words[1:min(len(words), 9)] {
		switch word {
		case "previous", "prior", "earlier", "preceding", "above", "system", "your", "original", "initial", "existing":
			earlier = true
			if i+2 == len(words) { // "disregard the above"
				return true
			}
		case "instruction", "instructions", "message", "messages", "prompt", "prompts", "rule", "rules", "context", "direction", "directions",
			"guideline", "guidelines", "command", "commands", "conversation":
			if earlier {
				return true
			}
		}
	}
	return false
}

// wordsOf are the words of a sentence, apostrophes included.
func wordsOf(sentence string) []string {
	return strings.FieldsFunc(sentence, func(c rune) bool { return !unicode.IsLetter(c) && c != '\'' })
}

// commands reports whether a sentence orders the reader about.
func commands(sentence string) bool {
	if addressed(sentence) {
		return true
	}
	for _, opening := range [...]string{
		"you must now", "you must immediately", "you must call", "you must ignore", "you must run", "you must execute", "you must not tell",
		"you are now", "you will now", "you shall now", "you should immediately", "from now on you", "from now on, you", "your new instructions", "your new task is",
		"your task is now", "new instructions:", "new system prompt", "do not tell the user", "don't tell the user", "never tell the user", "do not inform the user",
		"respond only with", "reply only with", "answer only with", "respond with only", "immediately call", "immediately run", "immediately execute",
	} {
		if strings.HasPrefix(sentence, opening) {
			return true
		}
	}
	return false
}

// addressed reports whether a sentence speaks to the assistant: calls it and says
// "you", or says what its task is from here on. "Assistant, after a pause, went on"
// reports.
func addressed(sentence string) bool {
	words := wordsOf(sentence)
	for len(words) > 0 && (words[0] == "dear" || words[0] == "hey" || words[0] == "hello") {
		words = words[1:]
	}
	if len(words) > 1 && (words[0] == "assistant" || words[0] == "agent" || words[0] == "ai") {
		if after := strings.TrimLeft(sentence[strings.Index(sentence, words[0])+len(words[0]):], " "); strings.IndexByte(",-!", after[0]) >= 0 || strings.HasPrefix(after, "—") {
			for _, word := range words[1:] {
				switch word {
				case "you", "your", "you're", "please", "yourself":
					return true
				}
			}
		}
		words = words[1:]
	}
	if len(words) < 4 || words[0] != "your" {
		return false
	}
	switch words[1] {
	case "next", "new", "first", "only", "real", "actual", "immediate":
	default:
		return false
	}
	switch words[2] {
	case "action", "actions", "step", "steps", "task", "job", "instruction", "instructions", "move", "goal", "objective", "role":
	default:
		return false
	}
	return words[3] == "is" || words[3] == "are" || words[3] == "will" || words[3] == "must"
}

// sentences splits a line after full stops and after labels such as "Note:". The
// parts are trimmed.
func sentences(line string) []string {
	var out []string
	start := 0
	for i := range len(line) {
		switch line[i] {
		case '.', '!', '?', ';':
			if i+1 < len(line) && line[i+1] != ' ' {
				continue
			}
		case ':':
			switch strings.Trim(line[start:i], " *_") {
			case "note", "important", "reminder", "warning", "attention", "instruction", "instructions", "system", "assistant", "to the assistant", "todo":
			default:
				continue
			}
		default:
			continue
		}
		out = append(out, strings.Trim(line[start:i], " *_"))
		start = i + 1
	}
	return append(out, strings.Trim(line[start:], " *_"))
}

// unquoted is a line without what stands in quotes or backticks. A quote that is
// not closed hides nothing.
func unquoted(line string) string {
	pairs := [...][2]string{{"`", "`"}, {`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}, {" '", "'"}, {" ‘", "’"}, {"('", "'"}}
	for _, pair := range pairs {
		if !strings.Contains(line, pair[0]) {
			continue
		}
		var out strings.Builder
		for {
			before, rest, opened := strings.Cut(line, pair[0])
			_, after, closed := strings.Cut(rest, pair[1])
			if !opened || !closed {
				out.WriteString(line)
				break
			}
			out.WriteString(before + " quoted ")
			line = after
		}
		line = out.String()
	}
	return line
}

// speakers notes who speaks at the start of lines: an answer in which both sides
// do goes on with the conversation. Items of a list only report.
type speakers struct{ user, assistant bool }

func (s *speakers) add(line string) (both bool) {
	if strings.HasPrefix(line, "* ") {
		return false
	}
	line = asciiLower(strings.TrimLeft(line, "#*[ "))
	for _, name := range [...]string{"user:", "human:", "user]:", "user**:", "user]"} {
		s.user = s.user || strings.HasPrefix(line, name)
	}
	for _, name := range [...]string{"assistant:", "ai:", "assistant]:", "assistant**:", "assistant]"} {
		s.assistant = s.assistant || strings.HasPrefix(line, name)
	}
	return s.user && s.assistant
}

func transcript(text string) bool {
	var s speakers
	for line := range strings.SplitSeq(text, "\n") {
		if s.add(line) {
			return true
		}
	}
	return false
}
