package conversation

import (
	"slices"
	"unicode/utf8"
)

// outlineText is the size, in bytes of JSON, up to which an outline decodes a text.
const outlineText = 256

// sideText is a text, thinking or refusal field of a block.
type sideText struct {
	text    string
	at      Span
	escaped bool
}

func (t *sideText) settle(b *Block) { b.Text, b.TextSpan, b.Escaped = t.text, t.at, t.escaped }

// longText reads a string literal that may be long. In an outline it stays as it is
// when it is, has escapes, and is certainly not blank.
func (p *parser) longText() (at Span, text string, escaped bool, err *Error) {
	if !p.outline {
		at, text, err = p.text()
		return at, text, false, err
	}
	if at, err = p.str(); err != nil {
		return Span{}, "", false, err
	}
	inside := p.src[at.Start+1 : at.End-1]
	switch {
	case !p.escaped:
		return at, inside, false, nil
	case len(inside) <= outlineText || maybeBlank(inside):
		return at, unquote(p.src[at.Start:at.End]), false, nil
	default:
		return at, inside, true, nil
	}
}

// maybeBlank reports whether the inside of a string literal may be nothing but white
// space. It is certain that it is not as soon as a visible ASCII character is found.
func maybeBlank(inside string) bool {
	for i := 0; i < len(inside); i++ {
		switch c := inside[i]; {
		case c == ' ':
		case c == '\\' && i+1 < len(inside) && (inside[i+1] == 'n' || inside[i+1] == 't' || inside[i+1] == 'r'):
			i++
		case c == '\\':
			e := inside[i+1]
			return e != '"' && e != '\\' && e != '/'
		default:
			return c >= utf8.RuneSelf
		}
	}
	return true
}

// textBlock reads a string as a text block.
func (p *parser) textBlock(b *Block) (err *Error) {
	b.Kind = KindText
	b.TextSpan, b.Text, b.Escaped, err = p.longText()
	b.Span = b.TextSpan
	return err
}

// decodeTexts decodes what an outline left as it was, results included.
func decodeTexts(blocks []Block) {
	for i := range blocks {
		b := &blocks[i]
		if b.Escaped {
			b.Text, b.Input, b.Escaped = unescape(b.Text), unescape(b.Input), false
		}
		decodeTexts(b.Result)
	}
}

// Decoded returns a message with its texts decoded: itself, unless it is of an
// outline and has one that is not.
func (m *Message) Decoded() *Message {
	if !anyEscaped(m.Blocks) {
		return m
	}
	out := *m
	out.Blocks = cloneBlocks(m.Blocks)
	decodeTexts(out.Blocks)
	return &out
}

func anyEscaped(blocks []Block) bool {
	for i := range blocks {
		if blocks[i].Escaped || anyEscaped(blocks[i].Result) {
			return true
		}
	}
	return false
}

func cloneBlocks(blocks []Block) []Block {
	out := slices.Clone(blocks)
	for i := range out {
		out[i].Result = cloneBlocks(out[i].Result)
	}
	return out
}
