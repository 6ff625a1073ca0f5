package extractive

import (
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/parallel"
	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// voice is who says a text. It decides how much the text counts and how it is
// attributed: what a tool returned is never put in the user's mouth.
type voice uint8

const (
	voiceUser voice = iota
	voiceAssistant
	voiceTool // what a tool returned
	voiceCall // what the assistant wrote into a tool's arguments
	voiceNote // context a harness injected, an earlier summary found in the middle
)

// weight is the role weight of the evaluation page; notes count like tools.
func (v voice) weight() float64 {
	switch v {
	case voiceUser:
		return 4
	case voiceAssistant:
		return 3
	case voiceCall:
		return 1.5
	default:
		return 1
	}
}

// passage is one text of one message, without secrets.
type passage struct {
	index  int // the message's position in the caller's list
	turn   int // its position in the middle
	voice  voice
	source string // who is named as its source in the summary
	text   string
	call   int // the call it answers or belongs to, -1 for none
	// first and last bound its units; facts counts the facts in them.
	first, last int
	facts       int
	ending      ending // of a tool's text, known when it is cut
}

// call is one tool call and what came of it.
type call struct {
	index, turn int
	name        string
	args        []conversation.Member // nil when the arguments are no JSON object
	input       string
	result      int // its result's passage, -1 for none yet
	failed      bool
	media       bool // its result is not text alone
	outcome     outcome
	what        string // its key arguments
	file        bool   // it works on a named file
}

// script is the middle as the rules see it.
type script struct {
	passages []passage
	calls    []call
	media    []*note // markers of what is not text
	turns    int
	bytes    int
}

// reader turns messages into passages.
type reader struct {
	latest  string // the newest request, which is not in the summary
	req     *summarizer.Request
	secret  *redact.Redactor
	out     *script
	byID    map[string]int // open calls by id, for requests without Calls
	byBlock map[*conversation.Block]int
	index   int
	turn    int
	ready   *readied // of the turn
}

// read splits the middle into texts by voice. Reasoning, system text, encoded
// data and cache marks are left out; media leave a marker.
func read(req *summarizer.Request, secret *redact.Redactor) *script {
	r := &reader{req: req, latest: strings.TrimSpace(req.Latest), secret: secret, out: &script{turns: len(req.Turns)}, byID: make(map[string]int), byBlock: make(map[*conversation.Block]int)}
	turns := ready(req.Turns)
	var texts []string
	for t := range turns {
		texts = append(texts, turns[t].texts...)
	}
	secret.Ahead(texts, req.Memo)
	for t := range req.Turns {
		m := req.Turns[t].Message
		if m == nil {
			continue
		}
		r.index, r.turn, r.ready = req.Turns[t].Index, t, &turns[t]
		for b := range m.Blocks {
			r.block(m, &m.Blocks[b], conversation.Ref{Message: r.index, Block: b})
		}
	}
	return r.out
}

// readied is what can be said of one turn without the turns before it. Results and args
// stand in the order of the turn's blocks.
type readied struct {
	texts   []string // nearly all that secrets are looked for in
	results []string // the texts of tool results, less what a harness put in
	args    [][]conversation.Member
}

// ready prepares the turns, on as many processors as there are.
func ready(turns []summarizer.Turn) []readied {
	out := make([]readied, len(turns))
	parallel.Each(len(turns), func(t int) {
		if m := turns[t].Message; m != nil {
			for b := range m.Blocks {
				out[t].add(m.Role, &m.Blocks[b])
			}
		}
	})
	return out
}

func (r *readied) add(role conversation.Role, b *conversation.Block) {
	switch b.Kind {
	case conversation.KindText:
		text := b.Text
		switch {
		case role == conversation.RoleAssistant:
			text = facts.WithoutReasoning(text)
		case role == conversation.RoleUser && !facts.HarnessText(text):
			said, injected := facts.SplitInjected(text)
			text = said
			for _, in := range injected {
				r.texts = append(r.texts, in.Text)
			}
		}
		r.texts = append(r.texts, text)
	case conversation.KindToolUse:
		args, _ := conversation.Members(b.Input)
		r.args = append(r.args, args)
		r.texts = append(r.texts, b.Input)
		for i := range args {
			if longArgument(&args[i]) {
				r.texts = append(r.texts, args[i].Text)
			}
		}
	case conversation.KindToolResult:
		text := facts.WithoutInjected(b.ResultText())
		r.results, r.texts = append(r.results, text), append(r.texts, text)
	}
}

// takeResult and takeArgs hand out what add left for the next block of the kind.
func (r *readied) takeResult() string {
	text := r.results[0]
	r.results = r.results[1:]
	return text
}

func (r *readied) takeArgs() []conversation.Member {
	args := r.args[0]
	r.args = r.args[1:]
	return args
}

// longArgument reports whether an argument is text like any other.
func longArgument(a *conversation.Member) bool {
	return a.IsString && len(a.Text) > maxKeyArg && !pathKey(a.Key)
}

func (r *reader) block(m *conversation.Message, b *conversation.Block, ref conversation.Ref) {
	switch b.Kind {
	case conversation.KindText, conversation.KindRefusal:
		switch m.Role {
		case conversation.RoleUser:
			r.userText(b.Text)
		case conversation.RoleAssistant:
			r.add(voiceAssistant, "assistant", facts.WithoutReasoning(b.Text), -1)
		default:
			r.add(voiceTool, toolName(m.Name, m.RawRole), b.Text, -1)
		}
	case conversation.KindCompaction:
		r.add(voiceNote, "earlier compaction", b.Text, -1)
	case conversation.KindToolUse:
		args := r.ready.takeArgs()
		input := r.secret.Text(b.Input)
		if input != b.Input {
			args, _ = conversation.Members(input)
		}
		r.call(b, input, args)
	case conversation.KindToolResult:
		r.result(b, ref)
	case conversation.KindServerToolUse:
		input := r.secret.Text(b.Input)
		args, _ := conversation.Members(input)
		r.call(b, input, args)
	case conversation.KindServerToolResult:
		r.serverResult(b)
	case conversation.KindMedia:
		r.marker(m.Role.String(), b)
		if b.Text != "" {
			r.add(voiceNote, "document", b.Text, -1)
		}
	case conversation.KindOpaque:
		r.opaque(m.Role.String(), b)
	}
}

// add keeps a text that is not blank, its secrets replaced.
func (r *reader) add(v voice, source, text string, call int) int {
	if conversation.Blank(text) {
		return -1
	}
	text = r.secret.Text(text)
	r.out.bytes += len(text)
	r.out.passages = append(r.out.passages, passage{index: r.index, turn: r.turn, voice: v, source: source, text: text, call: call})
	return len(r.out.passages) - 1
}

// userText parts what a user said from what a harness put around it.
func (r *reader) userText(text string) {
	if strings.TrimSpace(text) == r.latest {
		return // it is kept in the conversation itself
	}
	if facts.HarnessText(text) {
		r.add(voiceNote, "harness", text, -1)
		return
	}
	said, injected := facts.SplitInjected(text)
	if conversation.Blank(said) && len(injected) > 0 {
		for _, in := range injected {
			r.add(voiceNote, in.Tag, in.Text, -1)
		}
		return
	}
	r.add(voiceUser, "user", said, -1)
	for _, in := range injected {
		r.add(voiceNote, in.Tag, in.Text, -1)
	}
}

func (r *reader) call(b *conversation.Block, input string, args []conversation.Member) {
	n := len(r.out.calls)
	r.out.calls = append(r.out.calls, call{index: r.index, turn: r.turn, name: toolName(r.secret.Text(b.Name), "tool"), args: args, input: input, result: -1})
	r.byBlock[b] = n
	r.byID[b.ID] = n
	if b.AltID != "" {
		r.byID[b.AltID] = n
	}
	// Long arguments are text like any other; short ones show in the list of actions.
	for i := range args {
		if a := &args[i]; longArgument(a) {
			r.add(voiceCall, r.out.calls[n].name+" "+a.Key, a.Text, n)
		}
	}
	if args == nil && len(input) > maxKeyArg {
		r.add(voiceCall, r.out.calls[n].name, input, n)
	}
}

// result keeps a tool result with the name of the tool that was called.
func (r *reader) result(b *conversation.Block, ref conversation.Ref) {
	text := r.ready.takeResult()
	n, known := r.answered(b, ref)
	name := b.Name
	if known {
		name = r.out.calls[n].name
	} else {
		n = -1
		if r.req.Calls != nil {
			if c := r.req.Calls(ref); c != nil {
				name = c.Name
			}
		}
	}
	name = toolName(r.secret.Text(name), "tool")
	for i := range b.Result {
		switch part := &b.Result[i]; part.Kind {
		case conversation.KindMedia:
			r.marker(name, part)
			if known {
				r.out.calls[n].media = true
			}
		case conversation.KindOpaque:
			r.opaque(name, part)
		}
	}
	p := r.add(voiceTool, name, text, n)
	if !known {
		return
	}
	c := &r.out.calls[n]
	c.result = p
	if p < 0 {
		c.result = noText
	}
	c.failed = b.IsError
}

// noText marks the result of a call that was answered with nothing.
const noText = -2

// answered finds the call of a result, by the caller's pairing or else by id.
func (r *reader) answered(b *conversation.Block, ref conversation.Ref) (int, bool) {
	id := b.ID
	var call *conversation.Block
	if r.req.Calls != nil {
		if call = r.req.Calls(ref); call == nil {
			return 0, false
		}
		if n, ok := r.byBlock[call]; ok {
			return n, true
		}
		id = call.ID
	}
	n, ok := r.byID[id]
	if ok && call != nil && r.out.calls[n].name != toolName(call.Name, "tool") {
		return 0, false // an id used again: the call is outside of the middle
	}
	if !ok || r.out.calls[n].result != -1 {
		return 0, false
	}
	return n, true
}

// serverResult reads what a provider's own tool found: its text values, without
// the encrypted ones.
func (r *reader) serverResult(b *conversation.Block) {
	n, known := r.byID[b.ID]
	name := "tool"
	if known {
		name = r.out.calls[n].name
	} else {
		n = -1
	}
	lits, _ := conversation.StringValues(b.Raw)
	var sb strings.Builder
	for _, l := range lits {
		if dataRun(l.Text) == 0 && l.Text != b.ID && !strings.HasSuffix(l.Text, "_result") {
			sb.WriteString(l.Text)
			sb.WriteByte('\n')
		}
	}
	p := r.add(voiceTool, name, sb.String(), n)
	if known && p >= 0 {
		r.out.calls[n].result = p
	}
}

// marker notes a media block: what it was, and how large.
func (r *reader) marker(source string, b *conversation.Block) {
	m := b.Media
	if m == nil {
		return
	}
	var about []string
	for _, s := range []string{m.Filename, m.MIMEType} {
		if s != "" {
			about = append(about, s)
		}
	}
	if strings.HasPrefix(m.URI, "http://") || strings.HasPrefix(m.URI, "https://") {
		about = append(about, m.URI)
	}
	if m.Width > 0 && m.Height > 0 {
		about = append(about, strconv.Itoa(m.Width)+"x"+strconv.Itoa(m.Height)+" px")
	}
	if size := len(m.Bytes) + len(m.Data)/4*3; size > 0 {
		about = append(about, strconv.Itoa((size+1023)/1024)+" KB")
	}
	text := source + ": [" + mediaWord(m.Kind)
	if len(about) > 0 {
		text += ": " + strings.Join(about, ", ")
	}
	r.mark(text + "]")
}

func mediaWord(k conversation.MediaKind) string {
	switch k {
	case conversation.MediaImage:
		return "image"
	case conversation.MediaDocument:
		return "document"
	case conversation.MediaAudio:
		return "audio"
	case conversation.MediaVideo:
		return "video"
	default:
		return "file"
	}
}

// opaque notes a block nobody here can read.
func (r *reader) opaque(source string, b *conversation.Block) {
	word := b.Type
	if word == "" {
		word = "block"
	}
	r.mark(source + ": [" + clip(tidy(word), 40) + ": " + strconv.Itoa(len(b.Raw)) + " bytes not read]")
}

func (r *reader) mark(text string) {
	r.out.media = append(r.out.media, &note{section: sectionCritical, index: r.index, turn: r.turn, text: tidy(r.secret.Text(text)), voice: voiceNote})
}

// toolName is the name of a tool as it may stand in one line.
func toolName(name, otherwise string) string {
	if name == "" {
		name = otherwise
	}
	return clip(tidy(name), 64)
}
