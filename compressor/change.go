package compressor

import "github.com/elbowroom/elbowroom/conversation"

// Change says what a compression makes of a prompt that a provider may have cached,
// in tokens. What stands behind the first change cannot be read from the cache any
// more. Where an earlier compression was taken over, the prompt is the one that the
// caller got last time.
type Change struct {
	// Kept stands before the first change, Rewritten behind it, in the result.
	Kept, Rewritten int
	// Saved is no longer sent.
	Saved int
	// Turns is how many answers of the model the conversation holds.
	Turns int
	// Head is what would be kept besides if no note were added to the system prompt.
	Head int
	// Planned is set when nothing was done: the figures follow from budgets.
	Planned bool
}

// change measures a finished rewrite.
func (j *job) change(rewrite *conversation.Rewrite, before, after int, summarized bool) *Change {
	c := &Change{Kept: j.sizes.tools.Tokens(), Saved: before - after, Turns: j.answers()}
	if rewrite.System() == nil {
		c.Kept += j.sizes.system.Tokens()
		for i := range firstChangedIndex(rewrite, j.c) {
			c.Kept += j.counts.Messages[i]
		}
	}
	c.Kept = min(c.Kept, after)
	c.Rewritten = after - c.Kept
	if summarized && j.addsNote() {
		c.Head = j.headTokens()
	}
	return c
}

// plannedChange is the change to expect of a summary that fills its budget.
func (j *job) plannedChange() *Change {
	c := &Change{Kept: j.sizes.tools.Tokens(), Turns: j.answers(), Planned: true}
	after := c.Kept + j.sizes.system.Tokens()
	for r := range j.rows {
		if j.keptRow(r) {
			after += j.rows[r].cost
		}
	}
	summarized := !j.layout.pruneOnly
	if summarized {
		after += j.summaryRequest().Budget
	}
	c.Saved = max(j.counts.Tokens-after, 0)
	switch {
	case summarized && j.addsNote():
		c.Head = j.headTokens()
	case summarized:
		c.Kept += j.headTokens()
	}
	c.Rewritten = max(after-c.Kept, 0)
	return c
}

// headTokens is the system prompt with the protected head.
func (j *job) headTokens() int {
	sum := j.sizes.system.Tokens()
	for r := range j.layout.head {
		sum += j.rows[r].cost
	}
	return sum
}

// answers counts the model's answers: runs of assistant messages.
func (j *job) answers() int {
	n := 0
	for i := range j.c.Messages {
		if j.c.Messages[i].Role == conversation.RoleAssistant && (i == 0 || j.c.Messages[i-1].Role != conversation.RoleAssistant) {
			n++
		}
	}
	return n
}

// unchanged is the change that a caller sees who gets the compressed prefix of last
// time again: none, but for what was added since.
func (t *takeover) unchanged() *Change {
	c := &Change{Kept: t.next.counts.Tokens, Saved: t.counts.Tokens - t.next.counts.Tokens, Turns: t.answers()}
	for k, i := range t.from {
		if i >= t.found.Length {
			c.Kept -= t.next.counts.Messages[k]
		}
	}
	return c
}

// frontMessages is how many messages behind the system prompt compressions keep
// where they are.
func (j *job) frontMessages() int {
	hasSystem := j.c.System != nil || len(j.c.Messages) > 0 && j.c.Messages[0].Role == conversation.RoleSystem
	if hasSystem {
		return max(j.rules.protectFirstN-1, 0)
	}
	return j.rules.protectFirstN
}
