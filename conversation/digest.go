package conversation

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteContent writes what a message says, in a form in which no two different
// messages are alike. Three things are left out, because they do not change what is
// said: where something stands in the source, whether it carries a cache breakpoint,
// and whether a lone text stands in a list. It is meant for hashes: errors of w are
// ignored.
func (m *Message) WriteContent(w io.Writer) { (&ContentWriter{W: w}).Message(m) }

// ContentWriter writes messages as [Message.WriteContent] does.
type ContentWriter struct {
	W io.Writer
	// Source, when not nil, is the conversation that the messages are of: texts are then
	// written as its JSON spells them, which needs no decoding. The same text with other
	// escapes comes out as another one.
	Source *Conversation
	line   []byte
}

// Message writes one message.
func (w *ContentWriter) Message(m *Message) {
	w.begin(int(m.Role))
	w.quoted(m.Name)
	w.end(len(m.Blocks))
	for i := range m.Blocks {
		w.block(&m.Blocks[i])
	}
}

func (w *ContentWriter) block(b *Block) {
	text, input := b.Text, b.Input
	if w.Source != nil && w.Source.Format != FormatTyped {
		text = w.spelled(text, b.TextSpan)
		if b.InputShape == ShapeString {
			input = w.spelled(input, b.InputSpan)
		}
	}
	w.begin(int(b.Kind))
	w.quoted(b.ID)
	w.quoted(b.AltID)
	w.quoted(b.Name)
	w.line = append(strconv.AppendBool(w.line, b.IsError), ' ')
	w.end(len(text), len(input), len(b.Result))
	w.text(text)
	w.text(input)
	if m := b.Media; m != nil {
		w.begin(int(m.Kind))
		w.quoted(m.MIMEType)
		w.quoted(m.URI)
		w.quoted(m.Detail)
		w.quoted(m.Filename)
		w.end(m.Width, m.Height, len(m.Data), len(m.Bytes))
		w.text(m.Data)
		_, _ = w.W.Write(m.Bytes)
	}
	if b.Raw != "" {
		writeUnmarked(w.W, b.Raw)
	}
	for i := range b.Result {
		w.block(&b.Result[i])
	}
}

// spelled is the inside of a string literal, text where there is none.
func (w *ContentWriter) spelled(text string, at Span) string {
	if literal := w.Source.Raw(at); len(literal) > 1 {
		return literal[1 : len(literal)-1]
	}
	return text
}

// begin, quoted and end write a line of fields with a space between them.
func (w *ContentWriter) begin(n int) {
	w.line = append(strconv.AppendInt(w.line[:0], int64(n), 10), ' ')
}

func (w *ContentWriter) quoted(s string) { w.line = append(strconv.AppendQuote(w.line, s), ' ') }

func (w *ContentWriter) end(numbers ...int) {
	for _, n := range numbers {
		w.line = append(strconv.AppendInt(w.line, int64(n), 10), ' ')
	}
	w.line[len(w.line)-1] = '\n'
	_, _ = w.W.Write(w.line)
}

func (w *ContentWriter) text(s string) { _, _ = io.WriteString(w.W, s) }

// writeUnmarked writes the tokens of a JSON text without the cache breakpoints in it,
// at any depth. Marked and unmarked forms have to come out alike, so both go this way.
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
		fmt.Fprintf(w, "%T %q\n", token, fmt.Sprint(token))
	}
}

// container is an open object or array. In an object keys and values take turns; value
// says that a value comes next.
type container struct{ object, value bool }
