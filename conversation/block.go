package conversation

import "strings"

// content reads a content value: null, a string, or a list of blocks. Anything
// else is carried as one opaque block.
func (p *parser) content() (Shape, Span, []Block, *Error) {
	p.space()
	start := p.pos
	switch p.peek() {
	case 'n':
		span, err := p.skip()
		return ShapeNull, span, nil, err
	case '"':
		l := p.openList()
		b := l.push()
		err := p.textBlock(b)
		return ShapeString, b.Span, p.closeList(l), err
	case '[':
		l := p.openList()
		err := p.begin('[', "an array")
		for i := 0; err == nil; i++ {
			var more bool
			if more, err = p.element(i == 0); err != nil || !more {
				break
			}
			if err = p.spend(); err == nil {
				err = p.block(l.push())
			}
			if err != nil {
				err = err.under("[" + itoa(i) + "]")
			}
		}
		return ShapeList, Span{start, p.pos}, p.closeList(l), err
	default:
		span, err := p.skip()
		return ShapeOther, span, []Block{{Kind: KindOpaque, Span: span, Raw: p.c.Raw(span)}}, err
	}
}

// openList begins a list of blocks inside those that are open.
func (p *parser) openList() *list {
	if p.listed == len(p.lists) {
		p.lists = append(p.lists, &list{in: p.room})
	}
	p.listed++
	return p.lists[p.listed-1]
}

// closeList ends the list that was opened last and hands its blocks over.
func (p *parser) closeList(l *list) []Block {
	p.listed--
	return l.take()
}

// blockFields are the fields of a content block, read before its type is known.
type blockFields struct {
	text, thinking, refusal sideText
	signature               string
	toolUseID               string
	content                 []Block
	contentShape            Shape
	contentAt               Span
	input                   Span
	hasInput                bool
	source                  *mediaSource // nil where there is none
	isError, programmatic   bool
}

// mediaSource is what a source, image_url, input_audio or file object says.
type mediaSource struct {
	kind, mime, data, url, fileID, filename, detail, format string
	text                                                    string // text of a document given as content
}

// block reads one element of a content list into b, which is zero.
func (p *parser) block(b *Block) *Error {
	p.space()
	start := p.pos
	if p.peek() != '{' {
		return p.looseBlock(b)
	}
	var in blockFields
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
		if err = p.blockField(b, &in, key, f); err != nil {
			return err.under(clip(key, 40))
		}
	}
	if err != nil {
		return err
	}
	b.Span = Span{start, p.pos}
	in.settle(b, p.c)
	if b.Kind != KindToolResult {
		p.stray(in.content)
	}
	p.strayParts(in.content)
	return nil
}

// looseBlock reads an element that is not an object: a bare string is text.
func (p *parser) looseBlock(b *Block) (err *Error) {
	if p.peek() == '"' {
		return p.textBlock(b)
	}
	b.Kind = KindOpaque
	b.Span, err = p.skip()
	b.Raw = p.c.Raw(b.Span)
	return err
}

func (p *parser) blockField(b *Block, in *blockFields, key string, f *field) *Error {
	switch key {
	case "type":
		return f.text(&b.Type)
	case "text":
		return f.textAt(&in.text)
	case "thinking":
		return f.textAt(&in.thinking)
	case "refusal":
		return f.textAt(&in.refusal)
	case "signature":
		return f.text(&in.signature)
	case "id":
		return f.text(&b.ID)
	case "name":
		return f.text(&b.Name)
	case "tool_use_id":
		return f.text(&in.toolUseID)
	case "is_error":
		return f.isTrue(&in.isError)
	case "cache_control":
		return f.blockMark(&b.Mark, WireCacheControl)
	case "prompt_cache_breakpoint":
		if p.c.Format == FormatOpenAIChat {
			return f.blockMark(&b.Mark, WireBreakpoint)
		}
		_, err := p.skip()
		return err
	case "input":
		span, err := p.skip()
		in.input, in.hasInput = span, true
		return err
	case "content":
		var err *Error
		in.contentShape, in.contentAt, in.content, err = p.content()
		return err
	case "source", "image_url", "input_audio", "file", "video_url", "audio_url":
		if in.source == nil {
			in.source = &mediaSource{}
		}
		if p.peek() != '{' {
			return f.text(&in.source.url)
		}
		return p.mediaSource(in.source)
	case "caller":
		return p.caller(in)
	case "citations":
		if p.peek() == '[' {
			return p.elements(func(int) *Error { return p.strayIn() })
		}
		fallthrough
	default:
		_, err := p.skip()
		return err
	}
}

// caller notes calls made by the provider's code execution.
func (p *parser) caller(in *blockFields) *Error {
	if p.peek() != '{' {
		_, err := p.skip()
		return err
	}
	return p.fields(func(key string, f *field) *Error {
		if key != "type" {
			_, err := p.skip()
			return err
		}
		var kind string
		err := f.text(&kind)
		in.programmatic = strings.HasPrefix(kind, "code_execution")
		return err
	})
}

func (p *parser) mediaSource(src *mediaSource) *Error {
	return p.fields(func(member string, f *field) *Error {
		switch member {
		case "type":
			return f.text(&src.kind)
		case "media_type":
			return f.text(&src.mime)
		case "data", "file_data":
			return f.text(&src.data)
		case "url":
			return f.text(&src.url)
		case "file_id", "id":
			return f.text(&src.fileID)
		case "filename":
			return f.text(&src.filename)
		case "detail":
			return f.text(&src.detail)
		case "format":
			return f.text(&src.format)
		case "content":
			_, _, blocks, err := p.content()
			decodeTexts(blocks)
			src.text = joinText(blocks)
			p.stray(blocks)
			p.strayParts(blocks)
			return err
		default:
			_, err := p.skip()
			return err
		}
	})
}

// settle turns the fields into a block of the kind its type word names.
func (in *blockFields) settle(b *Block, c *Conversation) {
	anthropic := c.Format == FormatAnthropicMessages
	b.Programmatic = in.programmatic
	switch {
	case b.Type == "text" || b.Type == "input_text" || b.Type == "output_text":
		if in.text.at != (Span{}) {
			b.Kind = KindText
			in.text.settle(b)
			return
		}
	case b.Type == "refusal":
		b.Kind = KindRefusal
		in.refusal.settle(b)
		return
	case b.Type == "thinking":
		b.Kind, b.Signed = KindThinking, in.signature != ""
		in.thinking.settle(b)
		return
	case b.Type == "redacted_thinking":
		b.Kind, b.Signed = KindRedactedThinking, true
		return
	case b.Type == "compaction":
		b.Kind = KindCompaction
		if len(in.content) == 1 && in.contentShape == ShapeString {
			decodeTexts(in.content)
			b.Text = in.content[0].Text
		}
		return
	case b.Type == "tool_use" && anthropic:
		b.Kind = KindToolUse
		if in.hasInput {
			b.InputShape, b.InputSpan, b.Input = ShapeOther, in.input, c.Raw(in.input)
		}
		return
	case b.Type == "tool_result" && anthropic:
		b.Kind, b.ID, b.IsError = KindToolResult, in.toolUseID, in.isError
		b.Result, b.ResultShape, b.ResultSpan = in.content, in.contentShape, in.contentAt
		return
	case anthropic && (b.Type == "server_tool_use" || b.Type == "mcp_tool_use"):
		b.Kind = KindServerToolUse
		if in.hasInput {
			b.InputShape, b.InputSpan, b.Input = ShapeOther, in.input, c.Raw(in.input)
		}
		b.Raw = c.Raw(b.Span)
		return
	case anthropic && strings.HasSuffix(b.Type, "_tool_result"):
		b.Kind, b.ID, b.Raw = KindServerToolResult, in.toolUseID, c.Raw(b.Span)
		return
	case in.source != nil:
		if m := in.source.media(b.Type); m != nil {
			b.Kind, b.Media = KindMedia, m
			b.Text = in.source.text
			return
		}
	}
	b.Kind, b.Raw = KindOpaque, c.Raw(b.Span)
}

// media describes the source as a media block of the given type word, nil when
// the word names no media. The text of a document moves to s.text.
func (s *mediaSource) media(word string) *Media {
	if word == "document" && s.kind == "text" {
		s.text, s.data = s.data, ""
	}
	m := &Media{MIMEType: s.mime, Data: s.data, URI: s.url, Filename: s.filename, Detail: s.detail}
	if m.URI == "" {
		m.URI = s.fileID
	}
	switch word {
	case "image", "image_url", "input_image":
		m.Kind = MediaImage
	case "document":
		m.Kind = MediaDocument
	case "input_audio", "audio", "audio_url":
		m.Kind = MediaAudio
		if m.MIMEType == "" && s.format != "" {
			m.MIMEType = "audio/" + s.format
		}
	case "video", "video_url", "input_video":
		m.Kind = MediaVideo
	case "file", "input_file":
		m.Kind = MediaFile
	default:
		return nil
	}
	m.splitDataURL(&m.URI)
	m.splitDataURL(&m.Data)
	if m.Kind == MediaFile && m.MIMEType == "application/pdf" {
		m.Kind = MediaDocument
	}
	return m
}

// splitDataURL moves the MIME type and the base64 text of a data: URL to their
// own fields.
func (m *Media) splitDataURL(field *string) {
	const scheme = "data:"
	if len(*field) < len(scheme) || !strings.EqualFold((*field)[:len(scheme)], scheme) {
		return
	}
	head, data, ok := strings.Cut((*field)[len(scheme):], ",")
	if !ok {
		return
	}
	mime, _, _ := strings.Cut(head, ";")
	*field = ""
	m.MIMEType, m.Data = mime, data
}
