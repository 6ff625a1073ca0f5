package compressor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/elbowroom/elbowroom/conversation"
)

// traceBytes is how much of the hash a trace holds. It guards against mistaking
// one conversation for another, not against an adversary: the worst that a forged
// trace does is to put a compression off.
const traceBytes = 6

// trace sums up the messages that follow a summary and the rules under which they
// were kept. A later pass that finds the same trace has nothing to do: nothing
// was added, and it would decide alike.
func (j *job) trace(messages []conversation.Message) string {
	h := sha256.New()
	fmt.Fprintf(h, "%v %v %q\n", j.rules, j.budget, j.req.Focus)
	for i := range messages {
		traceMessage(h, &messages[i])
	}
	return hex.EncodeToString(h.Sum(nil)[:traceBytes])
}

// nothingNew reports whether the messages from row middle on are those that the
// earlier summary was written before.
func (j *job) nothingNew(middle int) bool {
	if j.earlier.trace == "" {
		return false
	}
	var after []conversation.Message
	if middle < len(j.rows) {
		after = j.repaired[middle:]
	}
	return j.trace(after) == j.earlier.trace
}

func traceMessage(h hash.Hash, m *conversation.Message) {
	fmt.Fprintf(h, "%d %q %d\n", m.Role, m.Name, len(m.Blocks))
	for i := range m.Blocks {
		traceBlock(h, &m.Blocks[i])
	}
}

// traceBlock leaves out spans and cache breakpoints: where a block stands and
// whether it is marked does not change what it says.
func traceBlock(h hash.Hash, b *conversation.Block) {
	fmt.Fprintf(h, "%d %q %q %t %d %d %d\n", b.Kind, b.ID, b.Name, b.IsError, len(b.Text), len(b.Input), len(b.Result))
	writeText(h, b.Text)
	writeText(h, b.Input)
	if b.Media != nil {
		fmt.Fprintf(h, "%d %q %q %d %d\n", b.Media.Kind, b.Media.MIMEType, b.Media.URI, len(b.Media.Data), len(b.Media.Bytes))
	}
	if b.Kind == conversation.KindOpaque && b.Mark == nil {
		writeText(h, b.Raw)
	}
	for i := range b.Result {
		traceBlock(h, &b.Result[i])
	}
}

// writeText hashes a text. A hash never fails to take bytes.
func writeText(h hash.Hash, s string) { _, _ = io.WriteString(h, s) }
