package conversation

import (
	"cmp"
	"slices"
	"strings"
)

// Parse reads a request body, or a bare array of messages, in one of the native
// formats. It keeps src and returns substrings of it; nothing is re-encoded.
// Errors are of type [*Error] and carry the byte offset and the path.
func Parse(format Format, src string, limits Limits) (*Conversation, error) {
	return Reading{Limits: limits}.Parse(format, src)
}

// Reading is a way to parse. The zero value is that of [Parse].
type Reading struct {
	Limits Limits
	// Outline leaves long texts of messages as the JSON has them, see
	// [Block.Escaped]. To decode them is most of the work, and who sets marks looks at
	// few of them.
	Outline bool
	// ValidUTF8 says that the source is known to be valid UTF-8, as strings of
	// protobuf messages are. It is then not checked.
	ValidUTF8 bool
}

// Parse is [Parse] in this way.
func (r Reading) Parse(format Format, src string) (*Conversation, error) {
	limits := r.Limits.withDefaults()
	if !r.ValidUTF8 {
		if at := invalidUTF8(src); at >= 0 {
			return nil, &Error{Offset: at, Message: -1, Reason: "invalid UTF-8"}
		}
	}
	p := &parser{
		scanner: newScanner(src, limits.MaxDepth),
		c:       &Conversation{Format: format, Source: src},
		budget:  limits.MaxBlocks,
		limit:   limits.MaxBlocks,
		outline: r.Outline,
	}
	if err := p.document(); err != nil {
		return nil, err
	}
	return p.c, nil
}

// parser reads the parts of a request that the domain model knows and skips the
// rest, all in one pass of its scanner.
type parser struct {
	*scanner
	c      *Conversation
	budget int // messages, blocks and tools that may still be read
	limit  int
	strays []*Mark // found since the last takeStrays
	blocks []Block // of the content lists being read, inner ones last
	// open are the objects being read, of which there are nested: what is needed for one
	// is used again for the next.
	open   []*field
	nested int
	// slab is room for blocks that stay.
	slab []Block
	// outline says to leave long texts as they are.
	outline bool
}

func (p *parser) document() error {
	var err *Error
	switch p.peek() {
	case '[':
		p.c.Bare = true
		if err = p.messages(); err != nil {
			err = err.under("messages")
		}
	case '{':
		err = p.body()
	default:
		err = p.unexpected("a request body or an array of messages")
	}
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return err
	}
	p.warnSurrogate(-1)
	return nil
}

func (p *parser) body() *Error {
	found, functions := false, false
	err := p.fields(func(key string, f *field) *Error {
		switch {
		case key == "messages":
			found = true
			return p.messages()
		case key == "model":
			return f.text(&p.c.Model)
		case key == "cache_control":
			return f.mark(&p.c.AutoMark)
		case key == "tools":
			if functions && p.peek() == '[' {
				p.c.Tools = nil
			}
			return p.tools()
		case key == "functions" && p.c.Format == FormatOpenAIChat && p.c.toolList == Span{}:
			functions = true // the older name of tools, which wins when both are there
			return p.tools()
		case key == "tool_choice", key == "function_call" && p.c.Format == FormatOpenAIChat && p.c.ToolChoice == ToolChoice{}:
			return p.toolChoice(f)
		case key == "system" && p.c.Format == FormatAnthropicMessages:
			return p.system()
		case key == "thinking" && p.c.Format == FormatAnthropicMessages:
			return p.thinkingParam()
		default:
			_, err := p.skip()
			return err
		}
	})
	if err != nil {
		return err
	}
	if !found {
		return &Error{Offset: -1, Path: "messages", Message: -1, Reason: "the request body has no messages"}
	}
	return nil
}

// toolChoice reads a word, or an object that names a mode or a tool. What is neither says nothing.
func (p *parser) toolChoice(f *field) *Error {
	var choice ToolChoice
	word := ""
	var err *Error
	if p.peek() != '{' {
		err = f.text(&word)
	} else {
		err = p.fields(func(key string, f *field) *Error {
			switch {
			case key == "type":
				return f.text(&word)
			case key == "name":
				return f.text(&choice.Name)
			case key == "function" && p.peek() == '{':
				return p.fields(func(key string, f *field) *Error {
					if key == "name" {
						return f.text(&choice.Name)
					}
					_, err := p.skip()
					return err
				})
			default:
				_, err := p.skip()
				return err
			}
		})
	}
	switch {
	case choice.Name != "":
		choice.Mode = ToolsForced
	case word == "auto" || word == "none" || word == "any":
		choice.Mode = ToolMode(word)
	case word == "required":
		choice.Mode = ToolsAny
	}
	p.c.ToolChoice = choice
	return err
}

// thinkingParam notes whether the request switches extended thinking on.
func (p *parser) thinkingParam() *Error {
	if p.peek() != '{' {
		_, err := p.skip()
		return err
	}
	return p.fields(func(key string, f *field) *Error {
		if key != "type" {
			_, err := p.skip()
			return err
		}
		var mode string
		if err := f.text(&mode); err != nil {
			return err
		}
		p.c.ThinkingOn = mode == "enabled" || mode == "adaptive"
		return nil
	})
}

func (p *parser) messages() *Error {
	p.warnSurrogate(-1)
	start := p.pos
	err := p.elements(func(i int) *Error {
		m, err := p.message()
		if err != nil {
			return err
		}
		p.warnSurrogate(i)
		if i == cap(p.c.Messages) {
			p.c.Messages = slices.Grow(p.c.Messages, p.expected(i, start))
		}
		p.c.Messages = append(p.c.Messages, m)
		return nil
	})
	if err != nil && err.Path != "" {
		err.Message = len(p.c.Messages)
	}
	p.c.list = Span{start, p.pos}
	return err
}

// expected guesses how many elements of a list are to come, if those so far, which began
// at start, are like the others.
func (p *parser) expected(n, start int) int {
	const least = 16
	return least + n*(len(p.src)-p.pos)/(p.pos-start+1)
}

// elements visits the elements of an array that count towards the limit, and puts
// an element's index in front of the path of an error that its visit returns.
func (p *parser) elements(visit func(i int) *Error) *Error {
	return p.array(func(i int) *Error {
		err := p.spend()
		if err == nil {
			err = visit(i)
		}
		if err != nil {
			return err.under("[" + itoa(i) + "]")
		}
		return nil
	})
}

// warnSurrogate reports a lone surrogate met since the last call: in a message,
// or with -1 in another part of the request.
func (p *parser) warnSurrogate(message int) {
	if p.surrogate < 0 {
		return
	}
	p.c.Warnings = append(p.c.Warnings, Warning{
		Code: WarnLoneSurrogate, Message: message,
		Detail: "half of a surrogate pair at byte " + itoa(p.surrogate) + "; kept as it is, some providers refuse it",
	})
	p.surrogate = -1
}

// spend takes one element from the budget.
func (p *parser) spend() *Error {
	p.budget--
	if p.budget < 0 {
		return p.fail(p.pos, "more than "+itoa(p.limit)+" messages, blocks and tools")
	}
	return nil
}

func (p *parser) tools() *Error {
	if p.peek() == 'n' {
		_, err := p.skip()
		return err
	}
	start := p.pos
	err := p.elements(func(int) *Error {
		t, err := p.tool()
		if err == nil {
			p.c.Tools = append(p.c.Tools, t)
		}
		return err
	})
	p.c.toolList = Span{start, p.pos}
	return err
}

func (p *parser) tool() (Tool, *Error) {
	var t, function Tool
	start := p.pos
	if p.peek() != '{' {
		return t, p.unexpected("a tool definition")
	}
	err := p.fields(func(key string, f *field) *Error {
		switch {
		case key == "type":
			return f.text(&t.Type)
		case key == "defer_loading":
			return f.isTrue(&t.Deferred)
		case (key == "function" || key == "custom") && p.peek() == '{':
			return p.fields(func(key string, f *field) *Error { return p.definition(&function, key, f) })
		default:
			return p.definition(&t, key, f)
		}
	})
	if err != nil {
		return t, err
	}
	t.Name = cmp.Or(function.Name, t.Name)
	t.Description = cmp.Or(function.Description, t.Description)
	t.Schema = cmp.Or(function.Schema, t.Schema)
	t.Mark = p.oneMark(t.Mark, function.Mark)
	t.Strays = p.takeStrays()
	t.Span = Span{start, p.pos}
	t.Raw = p.c.Raw(t.Span)
	return t, nil
}

// definition reads what may stand in the tool itself (Anthropic) or in its
// function object (OpenAI).
func (p *parser) definition(t *Tool, key string, f *field) *Error {
	switch key {
	case "name":
		return f.text(&t.Name)
	case "description":
		return f.text(&t.Description)
	case "parameters", "input_schema":
		return f.raw(&t.Schema)
	case "cache_control":
		return f.mark(&t.Mark)
	case "default_config": // of a toolset
		return p.strayIn()
	case "configs":
		if p.peek() == '{' {
			return p.fields(func(string, *field) *Error { return p.strayIn() })
		}
	}
	_, err := p.skip()
	return err
}

// system reads Anthropic's top-level system prompt: a string or a list of blocks.
func (p *parser) system() *Error {
	m := Message{Role: RoleSystem, RawRole: "system"}
	var err *Error
	if m.Shape, m.Content, m.Blocks, err = p.content(); err != nil {
		return err
	}
	m.Strays = p.takeStrays()
	m.Span = m.Content
	decodeTexts(m.Blocks)
	if m.Shape != ShapeNull {
		p.c.System = &m
	}
	return nil
}

// field gives a visitor access to the member at the cursor.
type field struct {
	p       *parser
	key     int // offset of the key's quote
	prevEnd int // end of the member before, -1 for the first
	// stays is set once there was a member that is no mark, and so is never cut.
	stays bool
	// marked is set when the member being visited is a mark.
	marked bool
	// cut is the mark whose member ends where the next key begins.
	cut *Mark
}

// blockMark reads one of the two marks that a block may carry. The first counts, a
// second one is a stray.
func (f *field) blockMark(dst **Mark, wire MarkWire) *Error {
	var m *Mark
	err := f.mark(&m)
	if m != nil {
		m.Wire = wire
		*dst = f.p.oneMark(*dst, m)
	}
	return err
}

// text decodes a string value; null and other kinds leave dst as it is.
func (f *field) text(dst *string) *Error {
	if f.p.peek() != '"' {
		_, err := f.p.skip()
		return err
	}
	_, text, err := f.p.scanner.text()
	if err == nil {
		*dst = text
	}
	return err
}

// textAt reads a string value that may be long and notes where it stands.
func (f *field) textAt(dst *sideText) *Error {
	if f.p.peek() != '"' {
		_, err := f.p.skip()
		return err
	}
	var err *Error
	*dst, err = f.p.longText()
	return err
}

// raw takes the value's JSON text; null leaves dst as it is.
func (f *field) raw(dst *string) *Error {
	null := f.p.peek() == 'n'
	span, err := f.p.skip()
	if err == nil && !null {
		*dst = f.p.c.Raw(span)
	}
	return err
}

func (f *field) isTrue(dst *bool) *Error {
	*dst = f.p.peek() == 't'
	_, err := f.p.skip()
	return err
}

// mark reads a cache_control value and works out how to cut the member.
func (f *field) mark(dst **Mark) *Error {
	f.p.space()
	m := &Mark{}
	start := f.p.pos
	switch f.p.peek() {
	case 'n': // null means no mark; [Conversation.setMember] writes over it
		_, err := f.p.skip()
		return err
	case '{':
		err := f.p.fields(func(key string, g *field) *Error {
			if key == "ttl" {
				if f.p.peek() == '"' {
					return g.text(&m.TTL)
				}
				return g.raw(&m.TTL)
			}
			_, err := f.p.skip()
			return err
		})
		if err != nil {
			return err
		}
	default:
		if _, err := f.p.skip(); err != nil {
			return err
		}
	}
	m.Value = Span{start, f.p.pos}
	f.marked = true
	if f.stays {
		m.Member = Span{f.prevEnd, f.p.pos}
	} else {
		m.Member = Span{f.key, f.p.pos}
		f.cut = m
	}
	*dst = m
	return nil
}

// oneMark chooses between the marks of a definition and of the object inside it,
// either of which may be nil: the first counts, the second is a stray.
func (p *parser) oneMark(outer, inner *Mark) *Mark {
	switch {
	case outer == nil:
		return inner
	case inner == nil:
		return outer
	case inner.Value.Start < outer.Value.Start:
		outer, inner = inner, outer
	}
	p.strays = append(p.strays, inner)
	return outer
}

// takeStrays hands over the strays found since it was last called, in the order
// of their places.
func (p *parser) takeStrays() []*Mark {
	found := p.strays
	p.strays = nil
	slices.SortFunc(found, func(a, b *Mark) int { return a.Value.Start - b.Value.Start })
	return found
}

// stray notes the marks of blocks that the model does not keep.
func (p *parser) stray(blocks []Block) {
	for i := range blocks {
		if blocks[i].Mark != nil {
			p.strays = append(p.strays, blocks[i].Mark)
		}
	}
}

// strayIn reads a value that is of no interest but for a mark on it.
func (p *parser) strayIn() *Error {
	p.space()
	if p.peek() != '{' {
		_, err := p.skip()
		return err
	}
	var mark *Mark
	err := p.fields(func(key string, f *field) *Error {
		if key == "cache_control" {
			return f.mark(&mark)
		}
		_, err := p.skip()
		return err
	})
	if mark != nil {
		p.strays = append(p.strays, mark)
	}
	return err
}

// fields visits the members of an object that the domain model interprets, and
// puts a member's key in front of the path of an error that its visit returns. A
// key that occurs twice is refused: readers disagree on which of the two counts.
func (p *parser) fields(visit func(key string, f *field) *Error) *Error {
	var seen keySet
	if p.nested == len(p.open) {
		p.open = append(p.open, new(field))
	}
	f := p.open[p.nested]
	*f = field{p: p, prevEnd: -1}
	p.nested++
	defer func() { p.nested-- }()
	return p.object(func(key string, at int) *Error {
		if !seen.add(key) {
			return p.fail(at, "duplicate key "+Quote(clip(key, 40)))
		}
		if f.cut != nil {
			f.cut.Member.End = at
			f.cut = nil
		}
		f.key, f.marked = at, false
		if err := visit(key, f); err != nil {
			return err.under(clip(key, 40))
		}
		f.stays = f.stays || !f.marked
		f.prevEnd = p.pos
		return nil
	})
}

// clip shortens s to at most n bytes on a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// keySet finds repeated keys without quadratic cost on objects with many keys.
type keySet struct {
	few  [12]string
	n    int
	many map[string]struct{}
}

func (k *keySet) add(key string) bool {
	if k.many != nil {
		if _, dup := k.many[key]; dup {
			return false
		}
		k.many[key] = struct{}{}
		return true
	}
	for _, have := range k.few[:k.n] {
		if have == key {
			return false
		}
	}
	if k.n < len(k.few) {
		k.few[k.n] = key
		k.n++
		return true
	}
	k.many = make(map[string]struct{}, 4*len(k.few))
	for _, have := range k.few {
		k.many[have] = struct{}{}
	}
	k.many[key] = struct{}{}
	return true
}
