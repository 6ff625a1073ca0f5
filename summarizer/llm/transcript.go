package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
)

// limit is how much of a text is shown, in characters: beyond max, the first head
// and the last tail.
type limit struct{ max, head, tail int }

// The limits of a prompt. Those of content and arguments are the published ones
// (Hermes Agent); they hold for each block of a message.
func contentLimit() limit   { return limit{6_000, 4_000, 1_500} }
func argumentsLimit() limit { return limit{1_500, 1_200, 0} }
func requestLimit() limit   { return limit{4_000, 2_500, 1_000} }
func focusLimit() limit     { return limit{700, 700, 0} }

// maxName is how much of a tool's name a label shows, in characters.
const maxName = 64

// entry is one block of a message as a prompt shows it.
type entry struct {
	label  string // "#12 user"; the boundary stands in front of it
	text   string
	limit  limit
	tokens int
}

// material is everything of a request that goes into prompts, without secrets.
type material struct {
	entries                 []entry
	previous, latest, focus string
	language                string
	noUser                  bool
}

// gather reads a request. Secrets are replaced before anything is shortened, so
// that no half of one is left.
func gather(req *summarizer.Request, secrets *redact.Redactor) *material {
	m := &material{
		previous: strings.TrimSpace(req.Previous), latest: strings.TrimSpace(req.Latest), focus: strings.TrimSpace(req.Focus),
		language: languageOf(userText(req)), noUser: !anyRequest(req),
	}
	for _, turn := range req.Turns {
		if turn.Message != nil {
			m.message(req, turn)
		}
	}
	m.redact(secrets)
	for i := range m.entries {
		e := &m.entries[i]
		e.label = plainLabel(e.label)
		e.text = e.limit.cut(plainText(e.text))
	}
	m.previous = plainText(m.previous)
	m.latest = requestLimit().cut(plainText(m.latest))
	m.focus = focusLimit().cut(plainText(m.focus))
	return m
}

// redact replaces the secrets of all texts. A secret may be recognized only in a
// later text, by the name it has there: then all are gone over once more.
func (m *material) redact(secrets *redact.Redactor) {
	all := []*string{&m.previous, &m.latest, &m.focus}
	for i := range m.entries {
		all = append(all, &m.entries[i].label, &m.entries[i].text)
	}
	for _, text := range all {
		*text = strings.ToValidUTF8(*text, "\uFFFD")
		secrets.Reserve(*text)
	}
	for pass := 0; pass < 2 && (pass == 0 || len(secrets.Counts()) > 0); pass++ {
		for _, text := range all {
			*text = secrets.Text(*text)
		}
	}
}

func (m *material) add(label, text string, l limit) {
	m.entries = append(m.entries, entry{label: label, text: text, limit: l})
}

// message adds the blocks of a message. Reasoning is never shown.
func (m *material) message(req *summarizer.Request, turn summarizer.Turn) {
	number := fmt.Sprintf("#%d ", turn.Index)
	role := turn.Message.Role.String()
	for i := range turn.Message.Blocks {
		b := &turn.Message.Blocks[i]
		switch b.Kind {
		case conversation.KindThinking, conversation.KindRedactedThinking:
		case conversation.KindText, conversation.KindRefusal:
			text := b.Text
			if turn.Message.Role == conversation.RoleAssistant {
				text = withoutCallMarkup(withoutReasoning(text))
			}
			if !conversation.Blank(text) {
				m.add(number+role, text, contentLimit())
			}
		case conversation.KindCompaction:
			if !conversation.Blank(b.Text) {
				m.add(number+"earlier compaction", b.Text, contentLimit())
			}
		case conversation.KindToolUse, conversation.KindServerToolUse:
			m.add(number+role+" calls "+nameOf(b), cmp.Or(b.Input, "(no arguments)"), argumentsLimit())
		case conversation.KindToolResult:
			m.result(req, number, b, conversation.Ref{Message: turn.Index, Block: i})
		case conversation.KindServerToolResult:
			m.add(number+"result of "+cmp.Or(b.Type, "a server tool"), foundText(b), contentLimit())
		case conversation.KindMedia:
			m.add(number+role, mediaText(b), contentLimit())
		default:
			m.add(number+role, unknownText(b), contentLimit())
		}
	}
}

// result adds a tool result under the name of the tool that was called.
func (m *material) result(req *summarizer.Request, number string, b *conversation.Block, ref conversation.Ref) {
	name := b.Name
	if req.Calls != nil {
		if call := req.Calls(ref); call != nil && call.Name != "" {
			name = call.Name
		}
	}
	label := number + "result of " + cmp.Or(name, "a tool")
	if b.IsError {
		label += " (failed)"
	}
	var parts []string
	for i := range b.Result {
		switch part := &b.Result[i]; part.Kind {
		case conversation.KindText:
			if !conversation.Blank(part.Text) {
				parts = append(parts, part.Text)
			}
		case conversation.KindMedia:
			parts = append(parts, mediaText(part))
		default:
			parts = append(parts, unknownText(part))
		}
	}
	m.add(label, cmp.Or(strings.Join(parts, "\n"), "(empty)"), contentLimit())
}

func nameOf(b *conversation.Block) string { return cmp.Or(b.Name, "a tool") }

// mediaText is the marker of what is not text, and the text of a document.
func mediaText(b *conversation.Block) string {
	words := []string{"attachment"}
	if m := b.Media; m != nil {
		words[0] = m.Kind.Word()
		if m.Filename != "" {
			words = append(words, m.Filename)
		}
		if m.MIMEType != "" {
			words = append(words, m.MIMEType)
		}
		if strings.HasPrefix(m.URI, "http://") || strings.HasPrefix(m.URI, "https://") {
			words = append(words, m.URI)
		}
	}
	marker := "[" + strings.Join(words, ", ") + "]"
	if conversation.Blank(b.Text) {
		return marker
	}
	return marker + "\n" + b.Text
}

// unknownText is the marker of a block that nobody here can read.
func unknownText(b *conversation.Block) string { return "[" + cmp.Or(b.Type, "attachment") + "]" }

// maxWord is the length in bytes from which a value without a space is taken for
// encoded data.
const maxWord = 200

// foundText is what a provider's own tool found: its text values, without encoded
// ones.
func foundText(b *conversation.Block) string {
	values, _ := conversation.StringValues(b.Raw)
	var parts []string
	for _, v := range values {
		if v.Text != b.ID && v.Text != b.Type && (len(v.Text) < maxWord || strings.ContainsAny(v.Text, " \n")) {
			parts = append(parts, v.Text)
		}
	}
	return cmp.Or(strings.Join(parts, "\n"), unknownText(b))
}

// cut shortens a text to the limit, at character boundaries.
func (l limit) cut(text string) string { return clip(text, l.max, l.head, l.tail) }

// clip shows the first head and the last tail characters of a text that has more
// than most, and how many it leaves out.
func clip(text string, most, head, tail int) string {
	if len(text) <= most {
		return text
	}
	runes := utf8.RuneCountInString(text)
	if runes <= most {
		return text
	}
	start := 0
	for range head {
		_, size := utf8.DecodeRuneInString(text[start:])
		start += size
	}
	end := len(text)
	for range tail {
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	out := fmt.Sprintf("%s\n[... %d characters left out ...]", text[:start], runes-head-tail)
	if tail > 0 {
		out += "\n" + text[end:]
	}
	return out
}

// plainLabel makes one short line of a label: names of tools are data too.
func plainLabel(label string) string {
	label = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), strings.ContainsRune(" #_-.:/()", c):
			return c
		default:
			return '_'
		}
	}, label)
	return clipName(label)
}

func clipName(label string) string {
	const most = maxName + len("#1234567 assistant calls ")
	if utf8.RuneCountInString(label) <= most {
		return label
	}
	return string([]rune(label[:min(len(label), most*utf8.UTFMax)])[:most])
}

// plainText breaks up the tokens of chat templates: some local servers read them
// as such wherever they stand.
func plainText(text string) string {
	for _, token := range [...]string{"[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<start_of_turn>", "<end_of_turn>"} {
		if strings.Contains(text, token) {
			text = strings.ReplaceAll(text, token, token[:1]+" "+token[1:])
		}
	}
	for _, open := range [...]string{"<|", "<｜"} {
		text = breakTokens(text, open, strings.Replace(open, "<", "", 1)+">")
	}
	return strings.TrimSpace(text)
}

// maxToken is the longest name of such a token, in bytes.
const maxToken = 48

func breakTokens(text, open, closing string) string {
	at := strings.Index(text, open)
	if at < 0 {
		return text
	}
	var out strings.Builder
	for at >= 0 {
		rest := text[at+len(open):]
		end := strings.Index(rest[:min(len(rest), maxToken)], closing)
		if end > 0 && !strings.ContainsAny(rest[:end], " \n\t<") {
			out.WriteString(text[:at] + "< " + open[1:])
		} else {
			out.WriteString(text[:at+len(open)])
		}
		text = rest
		at = strings.Index(text, open)
	}
	out.WriteString(text)
	return out.String()
}

// userText is what users said, newest last, for the language.
func userText(req *summarizer.Request) []string {
	var said []string
	for _, turn := range slices.Backward(req.Turns) {
		if m := turn.Message; m != nil && m.Role == conversation.RoleUser {
			for i := range m.Blocks {
				if m.Blocks[i].HasText() {
					said = append(said, m.Blocks[i].Text)
				}
			}
		}
		if len(said) >= maxSamples {
			break
		}
	}
	slices.Reverse(said)
	return append(said, req.Latest)
}

func anyRequest(req *summarizer.Request) bool {
	return slices.ContainsFunc(req.Turns, func(turn summarizer.Turn) bool { return turn.Message != nil && turn.Message.IsRequest() })
}
