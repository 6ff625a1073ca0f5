package conversation

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteContent writes what a message says, in a form in which no two different
// messages are alike. Four things are left out, because they do not change what is
// said: where something stands in the source, whether it carries a cache breakpoint,
// whether a lone text stands in a list, and how the JSON of a call's arguments is
// spelled ([Canonical]); arguments in a string are text. It is meant for hashes: errors
// of w are ignored.
func (m *Message) WriteContent(w io.Writer) { (&ContentWriter{W: w}).Message(m) }

// ContentWriter writes messages as [Message.WriteContent] does.
type ContentWriter struct {
	W io.Writer
	// Source, when not nil, is the conversation that the messages are of: texts are then
	// taken from its JSON and written with JSON's escapes, one way for each character.
	// Most JSON is spelled so already and needs no decoding.
	Source *Conversation
	line   []byte
	room   []byte // for one JSON text
}

// Message writes one message.
func (w *ContentWriter) Message(m *Message) {
	w.number(int(m.Role))
	w.word(m.Name)
	w.number(len(m.Blocks))
	for i := range m.Blocks {
		w.block(&m.Blocks[i])
	}
	w.flush()
}

func (w *ContentWriter) block(b *Block) {
	text, input := b.Text, b.Input
	if w.Source != nil && w.Source.Format != FormatTyped {
		text = w.spelled(text, b.TextSpan, b)
		if b.InputShape == ShapeString {
			input = w.spelled(input, b.InputSpan, b)
		}
	}
	w.number(int(b.Kind))
	w.word(b.ID)
	w.word(b.AltID)
	w.word(b.Name)
	if b.IsError {
		w.number(1)
	} else {
		w.number(0)
	}
	w.number(len(b.Result))
	w.text(text)
	if b.InputShape == ShapeOther {
		w.json(input)
	} else {
		w.text(input)
	}
	if m := b.Media; m != nil {
		w.number(int(m.Kind))
		w.word(m.MIMEType)
		w.word(m.URI)
		w.word(m.Detail)
		w.word(m.Filename)
		w.number(m.Width)
		w.number(m.Height)
		w.number(len(m.Bytes))
		w.text(m.Data)
		w.flush()
		_, _ = w.W.Write(m.Bytes)
	}
	if b.Raw != "" {
		w.flush()
		writeUnmarked(w.W, b.Raw)
	}
	for i := range b.Result {
		w.block(&b.Result[i])
	}
}

// spelled is the inside of a string literal of a block, text where there is none.
func (w *ContentWriter) spelled(text string, at Span, b *Block) string {
	if literal := w.Source.Raw(at); len(literal) > 1 {
		literal = literal[1 : len(literal)-1]
		// Every escape is longer than what it stands for.
		if common, none := b.Escaped && !b.Uncommon, !b.Escaped && len(text) == len(literal); common || none {
			return literal
		}
		return respell(literal)
	}
	return escape(text)
}

// respell writes the inside of a string literal with the escapes that [escape] writes.
// Those that nearly everybody writes alike are left: \n, \t, \r, \" and \\.
func respell(literal string) string {
	for rest := literal; ; rest = rest[2:] {
		at := strings.IndexByte(rest, '\\')
		if at < 0 {
			return literal
		}
		rest = rest[at:]
		if !isCommonEscape(rest[1]) {
			return escape(unescape(literal))
		}
	}
}

// number writes a number in as many bytes as it needs, word a text with its length in
// front.
func (w *ContentWriter) number(n int) { w.line = binary.AppendVarint(w.line, int64(n)) }

func (w *ContentWriter) word(s string) {
	w.number(len(s))
	w.line = append(w.line, s...)
}

// text writes a text as word does. Short ones are gathered, since a hash takes its time with each
// piece.
func (w *ContentWriter) text(s string) {
	const short = 512
	if len(s) <= short {
		w.word(s)
		return
	}
	w.number(len(s))
	w.flush()
	_, _ = io.WriteString(w.W, s)
}

// json writes valid JSON in its canonical form.
func (w *ContentWriter) json(text string) {
	out, changed := appendCanonical(w.room[:0], text)
	if w.room = out; !changed {
		w.text(text)
		return
	}
	w.number(len(out))
	w.line = append(w.line, out...)
}

func (w *ContentWriter) flush() {
	_, _ = w.W.Write(w.line)
	w.line = w.line[:0]
}

// writeUnmarked writes the tokens of a JSON text without the cache breakpoints in it,
// at any depth, numbers by their value. Marked and unmarked forms have to come out alike, so both go this way.
func writeUnmarked(w io.Writer, text string) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var open []container
	for {
		token, err := d.Token()
		if err != nil {
			return // the end: the text was read as JSON before
		}
		inside := len(open) > 0
		switch token {
		case json.Delim('{'), json.Delim('['):
			open = append(open, container{object: token == json.Delim('{')})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			if len(open) > 0 {
				open[len(open)-1].value = false
			}
		default:
			if top := len(open) - 1; inside && open[top].object && !open[top].value && (token == "cache_control" || token == "prompt_cache_breakpoint") {
				var mark json.RawMessage
				if d.Decode(&mark) != nil {
					return
				}
				continue
			} else if inside {
				open[top].value = !open[top].value
			}
		}
		if n, ok := token.(json.Number); ok {
			token = json.Number(canonicalNumber(n.String()))
		}
		fmt.Fprintf(w, "%T %q\n", token, fmt.Sprint(token))
	}
}

// container is an open object or array. In an object keys and values take turns; value
// says that a value comes next.
type container struct{ object, value bool }
