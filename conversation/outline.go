package conversation

import (
	"slices"
	"unicode/utf8"
)

// sideText is a text, thinking or refusal field of a block.
type sideText struct {
	text     string
	at       Span
	escaped  bool
	uncommon bool
}

func (t *sideText) settle(b *Block) {
	b.Text, b.TextSpan, b.Escaped, b.Uncommon = t.text, t.at, t.escaped, t.uncommon
}

// longText reads a string literal that may be long. In an outline it stays as it is when
// it has escapes and is certainly not blank.
func (p *parser) longText() (t sideText, err *Error) {
	if !p.outline {
		t.at, t.text, err = p.text()
		return t, err
	}
	if t.at, err = p.str(); err != nil {
		return sideText{}, err
	}
	inside := p.src[t.at.Start+1 : t.at.End-1]
	switch {
	case !p.escaped:
		t.text = inside
	case maybeBlank(inside):
		t.text = unquote(p.src[t.at.Start:t.at.End])
	default:
		t.text, t.escaped, t.uncommon = inside, true, p.uncommon
	}
	return t, nil
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
func (p *parser) textBlock(b *Block) *Error {
	b.Kind = KindText
	t, err := p.longText()
	t.settle(b)
	b.Span = b.TextSpan
	return err
}

// decodeTexts decodes what an outline left as it was, results included.
func decodeTexts(blocks []Block) {
	for i := range blocks {
		b := &blocks[i]
		if b.Escaped {
			b.Text, b.Input, b.Escaped, b.Uncommon = unescape(b.Text), unescape(b.Input), false, false
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
