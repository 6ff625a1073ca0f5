package llm

import "strings"

// reasoningTags hold a model's thinking where a server puts it into the text.
func reasoningTags() []string {
	return []string{"think", "thinking", "thought", "reasoning", "reasoning_scratchpad", "scratchpad"}
}

// callTags hold tool calls that a model wrote as text.
func callTags() []string {
	return []string{"tool_call", "tool_calls", "function_call", "function_calls", "function", "invoke", "tool_use"}
}

// The channels of the harmony format, which some servers leave in the text.
const (
	finalChannel = "<|channel|>final<|message|>"
	anyChannel   = "<|channel|>"
)

// withoutReasoning cuts thinking out of a text. A tag in quotes or backticks is
// text about tags. One without an end reaches to the end of the text where it
// begins a line, and an end without a beginning, which the server swallowed, to
// the start, unless a section began before it.
func withoutReasoning(text string) string {
	if at := strings.LastIndex(text, finalChannel); at >= 0 {
		text = text[at+len(finalChannel):]
	}
	if strings.HasPrefix(text, anyChannel) {
		return "" // a channel that is not the final one
	}
	return cutTags(text, reasoningTags(), true)
}

// answerIn is an answer without its reasoning. Some models draft in a tag of their
// own, which in a conversation may be anything.
func answerIn(text string) string {
	return cutTags(withoutReasoning(text), []string{"analysis"}, true)
}

// withoutCallMarkup cuts tool calls that are written as text out of what the
// assistant said.
func withoutCallMarkup(text string) string { return cutTags(text, callTags(), false) }

// cutTags removes <tag ...>...</tag>, in any case. toEnd says what an unpaired tag
// means: with it the rest of the text belongs to the tag, without it the text
// stays.
func cutTags(text string, tags []string, toEnd bool) string {
	if strings.IndexByte(text, '<') < 0 {
		return text
	}
	lower := asciiLower(text)
	unclosed := make(map[string]bool) // no end of the tag is left in the text
	begun := false                    // the answer proper has begun
	var out strings.Builder
	kept := 0
	for i := 0; i < len(text); {
		at := strings.IndexByte(lower[i:], '<')
		if at < 0 {
			break
		}
		i += at
		tag, width := tagAt(lower[i:], tags)
		if width == 0 || i > 0 && strings.IndexByte("`\"'", text[i-1]) >= 0 {
			i++
			continue
		}
		if lower[i+1] == '/' { // an end without its beginning
			if toEnd && out.Len() == 0 && !begun && (beginsLine(text, i) || endsLine(text, i+width)) {
				if begun = strings.HasPrefix(text[kept:i], "## ") || strings.Contains(text[kept:i], "\n## "); !begun {
					kept = i + width
				}
			}
			i += width
			continue
		}
		end := -1
		if !unclosed[tag] {
			end = strings.Index(lower[i+width:], "</"+tag+">")
			unclosed[tag] = end < 0
		}
		switch {
		case end >= 0:
			out.WriteString(text[kept:i])
			i += width + end + len(tag) + 3
			kept = i
		case toEnd && beginsLine(text, i):
			out.WriteString(text[kept:i])
			return out.String()
		default:
			i += width
		}
	}
	out.WriteString(text[kept:])
	return out.String()
}

// tagAt reads the opening or closing tag of the list that s begins with; width is
// 0 when there is none.
func tagAt(s string, tags []string) (tag string, width int) {
	name := strings.TrimPrefix(s[1:min(len(s), 160)], "/")
	skipped := 1
	if len(s) > 1 && s[1] == '/' {
		skipped = 2
	}
	for _, tag := range tags {
		rest, ok := strings.CutPrefix(name, tag)
		if !ok || rest == "" || strings.IndexByte("> =", rest[0]) < 0 {
			continue
		}
		end := strings.IndexByte(rest, '>')
		if end < 0 || strings.IndexByte(rest[:end], '\n') >= 0 {
			continue
		}
		return tag, skipped + len(tag) + end + 1
	}
	return "", 0
}

// endsLine reports whether nothing stands after i on its line.
func endsLine(text string, i int) bool { return i == len(text) || text[i] == '\n' || text[i] == '\r' }

// beginsLine reports whether nothing but a little space stands before i on its
// line.
func beginsLine(text string, i int) bool {
	before := strings.TrimRight(text[max(0, i-64):i], " \t")
	return before == "" && i <= 64 || strings.HasSuffix(before, "\n")
}

// asciiLower lowers without changing the length, unlike strings.ToLower.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
