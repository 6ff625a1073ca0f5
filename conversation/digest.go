package conversation

import (
	"fmt"
	"io"
)

// WriteContent writes what a message says, in a form in which no two different
// messages are alike. Two things are left out, because they do not change what is
// said: where something stands in the source and whether it carries a cache
// breakpoint. It is meant for hashes: errors of w are ignored.
func (m *Message) WriteContent(w io.Writer) {
	fmt.Fprintf(w, "%d %q %d\n", m.Role, m.Name, len(m.Blocks))
	for i := range m.Blocks {
		writeBlock(w, &m.Blocks[i])
	}
}

func writeBlock(w io.Writer, b *Block) {
	fmt.Fprintf(w, "%d %q %q %t %d %d %d\n", b.Kind, b.ID, b.Name, b.IsError, len(b.Text), len(b.Input), len(b.Result))
	writeText(w, b.Text)
	writeText(w, b.Input)
	if b.Media != nil {
		fmt.Fprintf(w, "%d %q %q %d %d\n", b.Media.Kind, b.Media.MIMEType, b.Media.URI, len(b.Media.Data), len(b.Media.Bytes))
		writeText(w, b.Media.Data)
		_, _ = w.Write(b.Media.Bytes)
	}
	if b.Kind == KindOpaque && b.Mark == nil {
		writeText(w, b.Raw)
	}
	for i := range b.Result {
		writeBlock(w, &b.Result[i])
	}
}

func writeText(w io.Writer, s string) { _, _ = io.WriteString(w, s) }
