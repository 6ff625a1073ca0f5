package conversation

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteContent writes what a message says, in a form in which no two different
// messages are alike. Three things are left out, because they do not change what is
// said: where something stands in the source, whether it carries a cache breakpoint,
// and whether a lone text stands in a list. It is meant for hashes: errors of w are
// ignored.
func (m *Message) WriteContent(w io.Writer) {
	fmt.Fprintf(w, "%d %q %d\n", m.Role, m.Name, len(m.Blocks))
	for i := range m.Blocks {
		writeBlock(w, &m.Blocks[i])
	}
}

func writeBlock(w io.Writer, b *Block) {
	fmt.Fprintf(w, "%d %q %q %q %t %d %d %d\n", b.Kind, b.ID, b.AltID, b.Name, b.IsError, len(b.Text), len(b.Input), len(b.Result))
	writeText(w, b.Text)
	writeText(w, b.Input)
	if m := b.Media; m != nil {
		fmt.Fprintf(w, "%d %q %q %q %q %d %d %d %d\n",
			m.Kind, m.MIMEType, m.URI, m.Detail, m.Filename, m.Width, m.Height, len(m.Data), len(m.Bytes))
		writeText(w, m.Data)
		_, _ = w.Write(m.Bytes)
	}
	if b.Raw != "" {
		writeUnmarked(w, b.Raw)
	}
	for i := range b.Result {
		writeBlock(w, &b.Result[i])
	}
}

func writeText(w io.Writer, s string) { _, _ = io.WriteString(w, s) }

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
