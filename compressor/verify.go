package compressor

import (
	"fmt"

	"github.com/elbowroom/elbowroom/conversation"
)

// verify proves what the engine promises of a result before anybody sees it. A
// finding is a fault of the engine, never of the caller.
func (j *job) verify(rewrite *conversation.Rewrite, applied *conversation.Applied, s summary) error {
	out := applied.Conversation
	pairs := conversation.Pair(out)
	switch {
	case len(pairs.Orphans) > 0:
		return broken(pairs.Orphans[0].Message, "a tool result has lost its call")
	case len(pairs.Duplicates) > 0:
		return broken(pairs.Duplicates[0].Message, "a call has two results")
	case len(pairs.Missing) > 0:
		return broken(pairs.Missing[0].Message, "a call has lost its result")
	case len(pairs.InFlight) != len(j.pairing.InFlight):
		return broken(-1, "a call in flight was lost")
	}
	if q := newestRequest(j.rows); q >= 0 {
		if i := j.rows[q].index; rewrite.Dropped(i) || rewrite.Changed(i) && !onlyRepaired(rewrite, i) {
			return broken(i, "the newest request was touched")
		}
	}
	dropped := 0
	for i := range j.c.Messages {
		if rewrite.Dropped(i) && !j.repairs.dropMessages[i] {
			dropped++
		}
	}
	at := j.summaryIndex(applied)
	switch {
	case dropped > 0 && at < 0 && s.rung != RungPruneOnly:
		return broken(-1, "messages were dropped without a summary")
	case s.body != "" && at < 0:
		return broken(-1, "the summary is missing")
	case at >= 0 && at == len(out.Messages)-1:
		return broken(at, "the summary is the last message")
	case len(out.Messages) == 0:
		return broken(-1, "nothing is left")
	}
	if out.Format == conversation.FormatAnthropicMessages {
		return noBlankText(out)
	}
	return nil
}

// onlyRepaired reports whether a message was changed by repairs alone: stand-in
// results added, blank or orphaned blocks removed.
func onlyRepaired(rewrite *conversation.Rewrite, i int) bool {
	e := rewrite.Message(i)
	for _, b := range e.EditedBlocks() {
		if be := e.Block(b); be.Text != nil || be.Input != nil {
			return false
		}
	}
	return e.Append == ""
}

func noBlankText(c *conversation.Conversation) error {
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role == conversation.RoleOther {
			continue
		}
		if len(m.Blocks) == 0 {
			return broken(i, "a message has no content")
		}
		for b := range m.Blocks {
			if m.Blocks[b].Kind == conversation.KindText && conversation.Blank(m.Blocks[b].Text) {
				return broken(i, "a text block is blank")
			}
		}
	}
	return nil
}

func broken(message int, what string) error {
	return fmt.Errorf("%w: message %d: %s", ErrBroken, message, what)
}
