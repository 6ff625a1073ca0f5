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
func (j *job) change(rewrite *conversation.Rewrite, before, after int) *Change {
	c := &Change{Kept: min(j.readable(rewrite, len(j.c.Messages)), after), Saved: before - after, Turns: j.answers()}
	c.Rewritten = after - c.Kept
	c.Head = max(j.unnoted-c.Kept, 0)
	return c
}

// plannedChange is the change to expect of a summary that fills its budget. What
// stays readable is read off the rewrite that such a summary would be part of.
func (j *job) plannedChange() *Change {
	scratch, report := *j, *j.report
	scratch.report = &report
	c := &Change{Turns: j.answers(), Planned: true}
	var planned summary
	after := j.sizes.tools.Tokens() + j.sizes.system.Tokens()
	if !j.layout.pruneOnly {
		if budget := j.summaryRequest().Budget; budget > 0 {
			planned.body = "planned"
			after += budget
		} else { // no summary would be smaller than what it stands for
			scratch.layout.pruneOnly = true
		}
	}
	for r := range j.rows {
		if scratch.keptRow(r) {
			after += j.rows[r].cost
		}
	}
	rewrite := conversation.NewRewrite(j.c)
	scratch.assemble(rewrite, planned)
	c.Saved = max(j.counts.Tokens-after, 0)
	c.Kept = min(scratch.readable(rewrite, len(j.c.Messages)), after)
	c.Rewritten = after - c.Kept
	c.Head = max(scratch.unnoted-c.Kept, 0)
	return c
}

// readable is how many tokens stand before the first change, and before message
// limit.
func (j *job) readable(rewrite *conversation.Rewrite, limit int) int {
	sum := j.sizes.tools.Tokens()
	if e := rewrite.System(); e != nil && !j.addsBlock(j.c.System, e) {
		return sum
	}
	sum += j.sizes.system.Tokens()
	if rewrite.System() != nil {
		return sum
	}
	first := firstChangedIndex(rewrite, j.c)
	if first < limit && len(rewrite.Inserted(first)) == 0 && j.addsBlock(&j.c.Messages[first], rewrite.Message(first)) {
		first++
	}
	for i := range min(first, limit) {
		sum += j.counts.Messages[i]
	}
	return sum
}

// addsBlock reports whether an edit does nothing but add a block at a message's end,
// which leaves the blocks before it as they were; text added to a string does not.
func (j *job) addsBlock(m *conversation.Message, e *conversation.MessageEdit) bool {
	listed := m.Shape == conversation.ShapeList || j.c.Format == conversation.FormatTyped
	return listed && e.Append != "" && !e.Drop && len(e.Results) == 0 && len(e.EditedBlocks()) == 0
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
// time again: none. What was added since stands behind that prefix and changes
// nothing of it.
func (t *takeover) unchanged() *Change {
	return &Change{Kept: t.next.counts.Tokens, Saved: t.counts.Tokens - t.next.counts.Tokens, Turns: t.answers()}
}

// frontMessages is how many messages behind the system prompt of a conversation
// compressions keep where they are.
func (j *job) frontMessages(c *conversation.Conversation) int {
	if c.System != nil || len(c.Messages) > 0 && c.Messages[0].Role == conversation.RoleSystem {
		return max(j.rules.protectFirstN-1, 0)
	}
	return j.rules.protectFirstN
}
