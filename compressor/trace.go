package compressor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

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
		messages[i].WriteContent(h)
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
