package conversation

import "cmp"

// message reads one element of the messages list into m, which is zero.
func (p *parser) message(m *Message) *Error {
	p.space()
	start := p.pos
	if p.peek() != '{' {
		return p.unexpected("a message object")
	}
	var parts messageParts
	f, err := p.openObject()
	for err == nil {
		var key string
		var more bool
		if key, more, err = f.next(); err != nil {
			return err
		}
		if !more {
			break
		}
		if err = p.messageField(m, &parts, key, f); err != nil {
			return err.under(clip(key, 40))
		}
	}
	if err != nil {
		return err
	}
	m.Span = Span{start, p.pos}
	m.Strays = p.takeStrays()
	if !parts.hasRole {
		return &Error{Offset: start, Path: "role", Message: -1, Reason: "a message without a role"}
	}
	if m.Role = roleOf(m.RawRole); m.Role == RoleSystem {
		decodeTexts(m.Blocks)
	}
	if p.c.Format == FormatOpenAIChat {
		parts.assembleOpenAI(m)
	}
	return nil
}

// messageParts holds the fields of an OpenAI message that stand beside its
// content until all of them are known.
type messageParts struct {
	hasRole    bool
	toolCallID string
	// reasoning and reasoningAlias hold at most one block each: reasoning_content,
	// and its alias reasoning, which counts only without it.
	reasoning, reasoningAlias []Block
	refusal                   []Block
	calls                     []Block
	audio                     []Block
}

func roleOf(word string) Role {
	switch word {
	case "system", "developer":
		return RoleSystem
	case "user":
		return RoleUser
	case "assistant":
		return RoleAssistant
	case "tool", "function":
		return RoleTool
	default:
		return RoleOther
	}
}

func (p *parser) messageField(m *Message, parts *messageParts, key string, f *field) *Error {
	switch key {
	case "role":
		if p.peek() != '"' {
			return p.unexpected("a role string")
		}
		parts.hasRole = true
		return f.text(&m.RawRole)
	case "content":
		var err *Error
		m.Shape, m.Content, m.Blocks, err = p.content()
		return err
	case "cache_control":
		return f.mark(&m.Mark)
	}
	if p.c.Format != FormatOpenAIChat {
		_, err := p.skip()
		return err
	}
	switch key {
	case "name":
		return f.text(&m.Name)
	case "tool_call_id":
		return f.text(&parts.toolCallID)
	case "tool_calls":
		return p.toolCalls(parts)
	case "function_call":
		if p.peek() == '{' {
			call := Block{Kind: KindToolUse, Site: SiteFunctionCall}
			err := p.call(&call)
			call.Type = "function_call"
			parts.calls = append(parts.calls, call)
			return err
		}
	case "refusal":
		return p.sideBlock(&parts.refusal, Block{Kind: KindRefusal, Site: SiteRefusal}, f)
	case "reasoning_content":
		return p.sideBlock(&parts.reasoning, Block{Kind: KindThinking, Site: SiteReasoning}, f)
	case "reasoning":
		return p.sideBlock(&parts.reasoningAlias, Block{Kind: KindThinking, Site: SiteReasoning}, f)
	case "audio":
		if p.peek() == '{' {
			return p.audio(parts)
		}
	}
	_, err := p.skip()
	return err
}

// sideBlock reads a text field that stands beside the content.
func (p *parser) sideBlock(dst *[]Block, b Block, f *field) *Error {
	var text sideText
	if err := f.textAt(&text); err != nil {
		return err
	}
	text.settle(&b)
	b.Span = b.TextSpan
	if b.TextSpan != (Span{}) && b.Text != "" {
		*dst = []Block{b}
	}
	return nil
}

func (p *parser) toolCalls(parts *messageParts) *Error {
	if p.peek() == 'n' {
		_, err := p.skip()
		return err
	}
	return p.elements(func(int) *Error {
		call := Block{Kind: KindToolUse, Site: SiteToolCalls}
		var err *Error
		if p.peek() == '{' {
			err = p.call(&call)
		} else {
			call.Kind = KindOpaque
			call.Span, err = p.skip()
			call.Raw = p.c.Raw(call.Span)
		}
		parts.calls = append(parts.calls, call)
		return err
	})
}

// call reads one OpenAI tool call or legacy function call.
func (p *parser) call(b *Block) *Error {
	start := p.pos
	var function Block
	err := p.fields(func(key string, f *field) *Error {
		switch {
		case key == "id":
			return f.text(&b.ID)
		case key == "call_id":
			return f.text(&b.AltID)
		case key == "type":
			return f.text(&b.Type)
		case (key == "function" || key == "custom") && p.peek() == '{':
			return p.fields(func(key string, f *field) *Error { return p.function(&function, key, f) })
		default:
			return p.function(b, key, f)
		}
	})
	b.Span = Span{start, p.pos}
	b.Name = cmp.Or(function.Name, b.Name)
	if function.InputShape != ShapeAbsent {
		b.Input, b.InputSpan, b.InputShape = function.Input, function.InputSpan, function.InputShape
		b.Escaped, b.Uncommon = function.Escaped, function.Uncommon
	}
	b.Mark = p.oneMark(b.Mark, function.Mark)
	return err
}

// function reads what stands in a call's function object, or in the call itself
// (the legacy form).
func (p *parser) function(b *Block, key string, f *field) *Error {
	switch key {
	case "name":
		return f.text(&b.Name)
	case "arguments", "input":
		return p.arguments(b)
	case "cache_control":
		return f.mark(&b.Mark)
	}
	_, err := p.skip()
	return err
}

// audio reads the reference to an earlier spoken answer.
func (p *parser) audio(parts *messageParts) *Error {
	start := p.pos
	var src mediaSource
	err := p.mediaSource(&src)
	span := Span{start, p.pos}
	parts.audio = []Block{{Kind: KindMedia, Site: SiteAudio, Type: "audio", Span: span, Media: src.media("audio")}}
	return err
}

// arguments reads a call's arguments: a JSON string holding JSON (OpenAI), or,
// from some local servers, the value itself.
func (p *parser) arguments(b *Block) *Error {
	var err *Error
	switch p.peek() {
	case '"':
		b.InputShape = ShapeString
		var t sideText
		t, err = p.longText()
		b.InputSpan, b.Input, b.Escaped, b.Uncommon = t.at, t.text, t.escaped, t.uncommon
	case 'n':
		b.InputShape = ShapeNull
		b.InputSpan, err = p.skip()
	default:
		b.InputShape = ShapeOther
		b.InputSpan, err = p.skip()
		b.Input = p.c.Raw(b.InputSpan)
	}
	return err
}

// assembleOpenAI puts the message's blocks in reading order. A tool message is
// one tool result whose content is the message's content.
func (parts *messageParts) assembleOpenAI(m *Message) {
	if m.Role == RoleTool {
		m.Blocks = []Block{{
			Kind: KindToolResult, Site: SiteMessage, Span: m.Span,
			ID: parts.toolCallID, Name: m.Name,
			Result: m.Blocks, ResultShape: m.Shape, ResultSpan: m.Content,
		}}
		return
	}
	if len(parts.reasoning) == 0 {
		parts.reasoning = parts.reasoningAlias
	}
	if len(parts.reasoning)+len(parts.refusal)+len(parts.calls)+len(parts.audio) == 0 {
		return
	}
	blocks := make([]Block, 0, len(m.Blocks)+len(parts.reasoning)+len(parts.refusal)+len(parts.calls)+len(parts.audio))
	blocks = append(blocks, parts.reasoning...)
	blocks = append(blocks, m.Blocks...)
	blocks = append(blocks, parts.audio...)
	blocks = append(blocks, parts.refusal...)
	m.Blocks = append(blocks, parts.calls...)
}
