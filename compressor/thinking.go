package compressor

import (
	"fmt"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// regime is what is known of a model's signed thinking.
type regime int

const (
	// regimeFree: a signature covers its own block, or there is none.
	regimeFree regime = iota
	// regimeBound: a signature covers everything before its block too.
	regimeBound
	// regimeUnknown: nobody knows.
	regimeUnknown
)

func regimeOf(m tokens.Model) regime {
	switch {
	case m.Thinking == tokens.ThinkingBound:
		return regimeBound
	case m.Thinking == tokens.ThinkingUnbound, m.Known, m.Claude:
		return regimeFree
	default:
		return regimeUnknown
	}
}

// loopStart is the first message after the newest request of the user: from
// there on stands the agent's running or finished turn.
func (j *job) loopStart() int {
	for i := len(j.c.Messages) - 1; i >= 0; i-- {
		if m := &j.c.Messages[i]; m.IsRequest() && !isSummary(m) {
			return i + 1
		}
	}
	return 0
}

// loopRuns reports whether the turn that begins at start waits for the model or
// for a tool: it ends with a tool result, or with a call that has none.
func (j *job) loopRuns(start int) bool {
	for i := len(j.c.Messages) - 1; i >= start; i-- {
		switch m := &j.c.Messages[i]; {
		case m.Role == conversation.RoleOther:
		case m.Role == conversation.RoleAssistant:
			return m.Has(conversation.KindToolUse)
		default:
			return m.Has(conversation.KindToolResult)
		}
	}
	return false
}

// deferThinking puts compression off where it could break a running tool loop:
// the model's rules are unknown and its turn holds thinking, which some models
// demand back and others refuse after a change.
func (j *job) deferThinking() (verdict, bool) {
	if j.rules.thinking != ThinkingAuto || regimeOf(j.req.Model) != regimeUnknown || j.req.Force {
		return verdict{}, false
	}
	start := j.loopStart()
	if !j.loopRuns(start) || !j.hasThinking(start) {
		return verdict{}, false
	}
	if float64(j.report.JudgedTokens) > deferLimit*float64(j.budget.window) {
		return verdict{}, false
	}
	return verdict{OutcomeDeferred, fmt.Sprintf(
		"the model %q is not known and its running tool loop holds thinking; compress after the turn, or name the model", j.req.Model.Name)}, true
}

func (j *job) hasThinking(from int) bool {
	for i := from; i < len(j.c.Messages); i++ {
		for b := range j.c.Messages[i].Blocks {
			if j.c.Messages[i].Blocks[b].IsThinking() {
				return true
			}
		}
	}
	return false
}

// applyThinking removes thinking blocks that the rewrite would leave invalid, or
// that the policy wants gone. Blocks are removed whole; a message left with
// nothing goes. changed is the last message before the first changed byte after which
// signatures no longer hold.
func (j *job) applyThinking(rewrite *conversation.Rewrite, changed int) {
	reg := regimeOf(j.req.Model)
	from, to := 0, len(j.c.Messages) // messages whose thinking goes
	switch {
	case j.rules.thinking == ThinkingKeep, j.rules.thinking == ThinkingAuto && reg == regimeFree:
		return
	case j.rules.thinking == ThinkingRemove && reg == regimeFree:
		if start := j.loopStart(); j.loopRuns(start) {
			to = start
		}
	case j.rules.thinking == ThinkingAuto:
		from = changed + 1
	}
	removed := 0
	for i := from; i < to; i++ {
		if rewrite.Dropped(i) || j.c.Messages[i].Role != conversation.RoleAssistant {
			continue
		}
		removed += dropThinking(rewrite, &j.c.Messages[i], i)
	}
	j.report.ThinkingRemoved = removed
}

// warnThinking tells of thinking that had to be removed from a result.
func (j *job) warnThinking() {
	removed := j.report.ThinkingRemoved
	if removed == 0 || j.rules.thinking != ThinkingAuto {
		return
	}
	warning := conversation.Warning{
		Code: "THINKING_REMOVED", Message: -1,
		Detail: plural(removed, "thinking block") + " removed: their signatures cover messages that changed. " +
			"With the API's drop_block setting they may stay (THINKING_POLICY_KEEP).",
	}
	if regimeOf(j.req.Model) == regimeUnknown {
		warning.Code = "THINKING_REGIME_UNKNOWN"
		warning.Detail = fmt.Sprintf("the model %q is not known; treated as one whose signatures cover everything before them: ", j.req.Model.Name) + warning.Detail
	}
	j.report.Warnings = append(j.report.Warnings, warning)
}

// dropThinking removes all thinking of a message and returns how many blocks.
func dropThinking(rewrite *conversation.Rewrite, m *conversation.Message, i int) int {
	removed, left := 0, 0
	for b := range m.Blocks {
		ref := conversation.Ref{Message: i, Block: b}
		switch {
		case m.Blocks[b].IsThinking():
			removed++
		case !rewrite.DroppedBlock(ref):
			left++
		}
	}
	switch {
	case removed == 0:
		return 0
	case left == 0:
		rewrite.Drop(i)
		return removed
	}
	for b := range m.Blocks {
		if m.Blocks[b].IsThinking() {
			rewrite.DropBlock(conversation.Ref{Message: i, Block: b})
		}
	}
	return removed
}

// firstChanged is the first message that leaves otherwise than it came, or that
// has something new before it; -1 when the system prompt outside the list
// changes, and the number of messages when nothing does.
func firstChanged(rewrite *conversation.Rewrite, c *conversation.Conversation) int {
	if rewrite.System() != nil {
		return -1
	}
	for i := range c.Messages {
		if len(rewrite.Inserted(i)) > 0 {
			return i - 1
		}
		if rewrite.Changed(i) {
			return i
		}
	}
	return len(c.Messages)
}
