package fidelity

import (
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/parallel"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// voice is who says a text.
type voice uint8

const (
	voiceTool    voice = iota // what a tool returned, long arguments, what a harness put in
	voiceEarlier              // an earlier summary
	voiceCall                 // short arguments of a call
	voiceAssistant
	voiceUser
	voiceCount
)

// voiceWeights are the role weights. It is never written to.
var voiceWeights = [...]float64{voiceTool: 1, voiceEarlier: 2, voiceCall: 2, voiceAssistant: 3, voiceUser: 4}

// Bounds of what is read, in bytes.
const (
	// maxToolText is how much of one text of a tool is read for facts: three quarters of
	// it from the beginning, the rest from the end.
	maxToolText = 8 << 10
	// maxSaidText is the same for what people and the assistant wrote.
	maxSaidText = 64 << 10
	// maxArgument is the longest argument that is a key rather than a text.
	maxArgument = 300
	// maxSource is the longest name of a source.
	maxSource = 64
)

// passage is one text of the source.
type passage struct {
	text   string
	source string
	voice  voice
	index  int    // message index, -1 outside the removed messages
	tag    string // of lines of earlier rounds, else ""
	age    int    // rounds since, 0 for this one
	line   string // the whole line, for those of the section
	kind   kind   // of a line of the section
	turn   int32
	kept   bool
	// most is how much of the text is read, in bytes, 0 for all of it; escaped says that
	// it may be JSON.
	most    int
	escaped bool
}

// reader turns the request into passages.
type reader struct {
	req      *Request
	passages []passage
	calls    []*call
	byID     map[string]*call
	byBlock  map[*conversation.Block]*call
	index    int
	turn     int32
	kept     bool
}

// call is a tool call with the outcome of its result.
type call struct {
	block         *conversation.Block
	index         int
	exit          int
	coded, failed bool
}

// readAll reads the removed messages, the earlier summary and the kept messages.
func (r *reader) readAll() {
	for _, c := range readCarried(r.req.Carried, r.req.Round) {
		v := voiceTool
		switch c.source {
		case "user":
			v = voiceUser
		case "assistant":
			v = voiceAssistant
		}
		r.passages = append(r.passages, passage{
			text: r.redacted(c.text), source: c.source, voice: v, index: -1, tag: c.tag, age: c.age, line: r.redacted(c.line), kind: c.kind, turn: -1,
		})
	}
	earlier := "r" + strconv.Itoa(max(r.req.Round-1, 0))
	if r.req.Previous != "" {
		r.passages = append(r.passages, passage{
			text: r.redacted(r.req.Previous), most: maxSaidText, source: "earlier summary", voice: voiceEarlier, index: -1, tag: earlier, age: 1, turn: -1,
		})
	}
	for i := range r.req.Turns {
		r.message(&r.req.Turns[i], int32(i))
	}
	r.kept = true
	for i := range r.req.Kept {
		r.message(&r.req.Kept[i], -2)
	}
	parallel.Each(len(r.passages), func(i int) { r.passages[i].clip() })
	if r.req.Redact == nil {
		return
	}
	// A secret may be recognized only in a later text, by the name it has there.
	for i := range r.passages {
		p := &r.passages[i]
		p.text, p.line = r.redacted(p.text), r.redacted(p.line)
	}
}

func (r *reader) message(t *summarizer.Turn, turn int32) {
	if t.Message == nil {
		return
	}
	r.index, r.turn = t.Index, turn
	for b := range t.Message.Blocks {
		r.block(t.Message, &t.Message.Blocks[b], conversation.Ref{Message: t.Index, Block: b})
	}
}

func (r *reader) block(m *conversation.Message, b *conversation.Block, ref conversation.Ref) {
	switch b.Kind {
	case conversation.KindText, conversation.KindRefusal:
		switch m.Role {
		case conversation.RoleUser:
			r.userText(b.Text)
		case conversation.RoleAssistant:
			r.add(voiceAssistant, "assistant", facts.WithoutReasoning(b.Text))
		default:
			r.add(voiceTool, sourceName(m.RawRole), b.Text)
		}
	case conversation.KindToolUse, conversation.KindServerToolUse:
		r.call(b)
	case conversation.KindToolResult:
		c, name := r.answered(b, ref)
		text := facts.WithoutInjected(b.ResultText())
		if c != nil {
			c.exit, c.coded = facts.ExitCode(text)
			c.failed = b.IsError || c.coded && c.exit != 0
		}
		r.add(voiceTool, sourceName(name), text)
	case conversation.KindServerToolResult:
		r.add(voiceTool, sourceName(b.Name), b.Raw)
	case conversation.KindCompaction, conversation.KindMedia:
		r.add(voiceTool, "document", b.Text)
	}
}

func (r *reader) userText(text string) {
	if facts.HarnessText(text) {
		r.add(voiceTool, "harness", text)
		return
	}
	said, injected := facts.SplitInjected(text)
	r.add(voiceUser, "user", said)
	for _, in := range injected {
		r.add(voiceTool, sourceName(in.Tag), in.Text)
	}
}

// call reads the arguments of a call. Long ones are text; the short ones are what
// the assistant works with.
func (r *reader) call(b *conversation.Block) {
	c := &call{block: b, index: r.index}
	if !r.kept {
		r.calls = append(r.calls, c)
		r.byBlock[b] = c
		r.byID[b.ID] = c
	}
	name := sourceName(b.Name)
	input := r.redacted(b.Input)
	if len(input) <= 2*maxArgument {
		r.addClean(voiceCall, name, input)
		return
	}
	args, ok := conversation.Members(input)
	if !ok {
		r.addClean(voiceTool, name, input)
		return
	}
	for _, a := range args {
		text := a.Value
		if a.IsString {
			text = a.Text
		}
		v := voiceCall
		if len(text) > maxArgument {
			v = voiceTool
		}
		r.addClean(v, name, text)
	}
}

// answered finds the call of a result and its tool's name.
func (r *reader) answered(b *conversation.Block, ref conversation.Ref) (*call, string) {
	if r.req.Calls != nil {
		block := r.req.Calls(ref)
		if block == nil {
			return nil, b.Name
		}
		return r.byBlock[block], block.Name
	}
	if c := r.byID[b.ID]; c != nil {
		return c, c.block.Name
	}
	return nil, b.Name
}

// add keeps a text, its secrets replaced.
func (r *reader) add(v voice, source, text string) { r.addClean(v, source, r.redacted(text)) }

// addClean keeps a text that is not blank. Its secrets are replaced already: a cut
// or a key less could hide one.
func (r *reader) addClean(v voice, source, text string) {
	if conversation.Blank(text) {
		return
	}
	most := maxToolText
	if v == voiceUser || v == voiceAssistant {
		most = maxSaidText
	}
	r.passages = append(r.passages, passage{
		text: text, most: most, escaped: true, source: source, voice: v, index: r.index, turn: r.turn, kept: r.kept,
	})
}

// clip cuts the text to what is read of it, and undoes its escapes.
func (p *passage) clip() {
	if p.most > 0 {
		p.text = clipText(p.text, p.most)
	}
	if p.escaped {
		p.text = unescaped(p.text)
	}
}

func (r *reader) redacted(text string) string {
	if r.req.Redact == nil {
		return text
	}
	return r.req.Redact(text)
}

// unescaped undoes the escapes of a text that is JSON.
func unescaped(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	t := strings.TrimSpace(text)
	if t[0] != '{' && t[0] != '[' && t[0] != '"' {
		return text
	}
	t = facts.Unescape(t)
	if strings.Contains(t, `\"`) || strings.Contains(t, `\/`) || strings.Contains(t, `\u`) { // JSON inside of JSON
		t = facts.Unescape(t)
	}
	return t
}

// clipText cuts the middle out of a long text, at ends of lines or words.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/4*3], text[len(text)-most/4:]
	if at := strings.LastIndexAny(head, "\n "); at > len(head)-400 {
		head = head[:at]
	}
	if at := strings.IndexAny(tail, "\n "); at >= 0 && at < 400 {
		tail = tail[at:]
	}
	return strings.ToValidUTF8(head+"\n…\n"+tail, "")
}

// sourceName is a name as it may stand in a line of the section.
func sourceName(name string) string {
	name = oneLine(name)
	name = strings.Map(func(r rune) rune {
		if r == '(' || r == ')' || r == '"' || r == ':' {
			return -1
		}
		return r
	}, name[:runeStart(name, min(len(name), maxSource-2))])
	switch name {
	case "":
		return "tool"
	case "user", "assistant", "earlier summary": // nobody takes their name
		return "tool " + name
	}
	return name
}
