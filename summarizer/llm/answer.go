package llm

import (
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer"
)

// read turns an answer into the text of a summary, or says why it is none. The
// text of an answer that was cut off comes with its rejection.
func (t *Template) read(c summarizer.Completion, boundary string) (string, *summarizer.RejectedError) {
	reject := func(code, detail string) (string, *summarizer.RejectedError) {
		return "", &summarizer.RejectedError{Code: code, Detail: detail}
	}
	raw := visible(strings.ToValidUTF8(c.Text, "\uFFFD"))
	text := withoutEndTokens(answerIn(raw))
	switch {
	case c.Finish == summarizer.FinishRefusal:
		return reject(summarizer.RejectRefusal, "the finish reason says so")
	case c.Finish == summarizer.FinishLength:
		return text, &summarizer.RejectedError{Code: summarizer.RejectCutOff, Detail: "the answer ended at its length limit"}
	case conversation.Blank(raw) && c.Finish == summarizer.FinishToolCalls:
		return reject(summarizer.RejectToolCalls, "the answer calls a tool that it was not given")
	case conversation.Blank(raw):
		return reject(summarizer.RejectEmpty, "")
	case conversation.Blank(text):
		return reject(summarizer.RejectThinking, "")
	case toolMarkup(text):
		return reject(summarizer.RejectMarkup, "")
	case withoutEndTokens(answerIn(text)) != text:
		return reject(summarizer.RejectMarkup, "reasoning tags inside of each other")
	}
	text = withoutFrames(text, boundary)
	d := t.outline.parse(text)
	if !d.known {
		if code := noSummary(text); code != "" {
			return reject(code, "")
		}
		if !t.outline.plain {
			return reject(summarizer.RejectNoSections, "no heading of a section")
		}
		d = t.outline.parse("## " + catchAll + "\n" + text)
	}
	switch first, lone := d.first(); {
	case d.empty():
		return reject(summarizer.RejectEmpty, "no section says anything")
	case refusal(first):
		return reject(summarizer.RejectRefusal, "the first section is a refusal")
	case lone && errorText(first):
		return reject(summarizer.RejectErrorText, "")
	case d.declined():
		return reject(summarizer.RejectRefusal, "the notes are a refusal")
	case d.directive():
		return reject(summarizer.RejectDirective, "")
	}
	d.record()
	return d.render(), nil
}

// noSummary is the reason why a text without sections is none, "" for plain text.
func noSummary(text string) string {
	switch {
	case errorText(text):
		return summarizer.RejectErrorText
	case refusal(text):
		return summarizer.RejectRefusal
	case transcript(text):
		return summarizer.RejectDirective
	default:
		for _, line := range fenced(text) {
			if !line.code && directiveLine(line.text, false) {
				return summarizer.RejectDirective
			}
		}
		return ""
	}
}

// first is the first line of an answer; lone says that it is the only one and that
// it does not stand where errors are reported.
func (d *draft) first() (line string, lone bool) {
	count := 0
	for i, lines := range d.lines {
		for _, l := range lines {
			if l.text == "" {
				continue
			}
			if count++; count == 1 {
				line = l.text
				title := d.outline.sections[i].title
				lone = title != summarizer.SectionBlocked && title != summarizer.SectionErrors
			}
		}
	}
	return line, lone && count == 1
}

// directive reports whether a line gives orders to whoever reads the summary, or
// goes on with the conversation. The user's rules may be stern: they are what
// Constraints is for.
func (d *draft) directive() bool {
	for i, lines := range d.lines {
		rules := d.outline.sections[i].title == summarizer.SectionConstraints
		speakers := speakers{}
		for _, line := range lines {
			if line.code {
				continue
			}
			if directiveLine(line.text, rules) || speakers.add(line.text) {
				return true
			}
		}
		if continues(lines) {
			return true
		}
	}
	return false
}

// The first words of frames that mark a summary inside a conversation, ours
// and Hermes Agent's. A model that saw one may write it again.
func frameOpenings() []string {
	return []string{
		"[ELBOWROOM CONTEXT SUMMARY", "[END OF CONTEXT SUMMARY]", "[CONTEXT COMPACTION", "[CONTEXT SUMMARY]",
		"[PRIOR CONTEXT", "[END OF PRIOR CONTEXT", "--- END OF CONTEXT SUMMARY",
	}
}

// withoutFrames drops lines that frame a summary or a piece of the prompt, and the
// boundary where the answer repeats it.
func withoutFrames(text, boundary string) string {
	var out []string
lines:
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch trimmed {
		case "<summary>", "</summary>", "<notes>", "</notes>":
			continue
		}
		for _, opening := range frameOpenings() {
			if strings.HasPrefix(trimmed, opening) {
				continue lines
			}
		}
		if boundary != "" && strings.Contains(line, boundary) {
			if strings.HasPrefix(trimmed, "=====") {
				continue
			}
			line = strings.ReplaceAll(strings.ReplaceAll(line, boundary+" ", ""), boundary, "")
			if strings.Contains(line, boundary) {
				continue
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// withoutEndTokens cuts the tokens that end a turn, which some local servers leave
// in the text.
func withoutEndTokens(text string) string {
	for {
		text = strings.TrimSpace(text)
		cut := text
		for _, token := range [...]string{
			"<|im_end|>", "<|endoftext|>", "<|end|>", "<|return|>", "<|eot_id|>", "<|end_of_text|>", "<end_of_turn>", "</s>", "<｜end▁of▁sentence｜>",
		} {
			cut = strings.TrimSuffix(cut, token)
		}
		if cut == text {
			return text
		}
		text = cut
	}
}
