package conversation

import "cmp"

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
