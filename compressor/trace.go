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
// earlier summary was written before, or those behind the first of several summaries
// that stand together: it may have been written before a message that looks like one.
func (j *job) nothingNew(middle int) bool {
	return j.follows(j.earlier.trace, middle) || j.earlier.count > 1 && j.follows(j.earlier.firstTrace, j.earlier.row+1)
}

// follows reports whether the rows from one on have a trace.
func (j *job) follows(trace string, from int) bool {
	if trace == "" {
		return false
	}
	var after []conversation.Message
	if from < len(j.rows) {
		after = j.repaired[from:]
	}
	return j.trace(after) == trace
}
