package compressor

import (
	"context"
	"fmt"

	"github.com/elbowroom/elbowroom/conversation"
)

// finish builds the result, measures it, and proves it.
func (j *job) finish(ctx context.Context, rewrite *conversation.Rewrite, result *Result, s summary) (verdict, error) {
	j.progress(Progress{Phase: PhaseAssembling, Tokens: j.counts.Tokens})
	j.assemble(rewrite, s)
	applied := rewrite.Apply()
	after, err := j.sizes.after(ctx, rewrite, applied)
	if err != nil {
		return verdict{}, err
	}
	r := j.report
	least := int(j.rules.minGain * float64(r.TokensBefore))
	if after.Tokens >= r.TokensBefore || r.TokensBefore-after.Tokens < least {
		return verdict{OutcomeNoGain, fmt.Sprintf("the result would have %d tokens, the conversation has %d", after.Tokens, r.TokensBefore)}, nil
	}
	if len(applied.From) == 0 { // results without calls, and thinking that a change makes invalid
		return verdict{OutcomeNoGain, "repairs would leave nothing"}, nil
	}
	if s.body != "" && j.summaryIndex(applied) == len(applied.From)-1 { // the rest is thinking that a change makes invalid
		return verdict{OutcomeNoGain, "nothing would be left behind the summary"}, nil
	}
	if err := j.verify(rewrite, applied, s); err != nil {
		return verdict{}, err
	}
	j.warnThinking()
	j.warn(applied, after.Tokens)
	r.TokensAfter, r.MessagesAfter, r.FrontMessages = after.Tokens, len(applied.From), j.frontMessages(applied.Conversation)
	r.Rung, r.FirstChanged = s.rung, firstChangedIndex(rewrite, j.c)
	r.Change = j.change(rewrite, r.TokensBefore, after.Tokens)
	if s.body != "" {
		r.Removed = j.removed()
		r.Round, result.Summary = j.round(), s.body
		r.SummaryIndex = j.summaryIndex(applied)
		r.SummaryTokens = after.Messages[r.SummaryIndex]
		result.State = j.engine.states.seal(j.req.Tenant, state{Round: r.Round, Digest: digest(s.body)})
	}
	if s.body == "" && j.earlier.found && j.req.PreviousSummary == "" { // the earlier summary stands as it was
		result.State = j.engine.states.seal(j.req.Tenant, state{Round: j.earlier.round, Digest: digest(j.earlier.body)})
	}
	j.engine.sessions.record(ctx, j.session(), r.TokensBefore, r.TokensAfter)
	return verdict{OutcomeCompressed, compressedReason(r)}, nil
}

// removed counts what the summary stands for.
func (j *job) removed() Removed {
	var out Removed
	for i, kept := range j.keptMessages() {
		if kept || j.earlier.messages[i] {
			continue
		}
		out.Messages++
		out.Tokens += j.counts.Messages[i]
		for b := range j.c.Messages[i].Blocks {
			switch block := &j.c.Messages[i].Blocks[b]; {
			case block.Kind == conversation.KindToolUse, block.Kind == conversation.KindServerToolUse:
				out.ToolCalls++
			case block.Kind == conversation.KindToolResult, block.Kind == conversation.KindServerToolResult:
				out.ToolResults++
			case block.Kind == conversation.KindMedia:
				out.Media++
			case block.IsThinking():
				out.ThinkingBlocks++
			}
		}
	}
	return out
}

func compressedReason(r *Report) string {
	if r.Rung == RungPruneOnly {
		return fmt.Sprintf("%d shortened, %d repaired; nothing was summarized", len(r.Pruned), len(r.Repairs))
	}
	return plural(r.MessagesSummarized, "message") + " summarized"
}

// firstChangedIndex is firstChanged as the report gives it: the index of the
// first changed or replaced message.
func firstChangedIndex(rewrite *conversation.Rewrite, c *conversation.Conversation) int {
	if rewrite.System() != nil {
		return -1
	}
	for i := range c.Messages {
		if len(rewrite.Inserted(i)) > 0 || rewrite.Changed(i) {
			return i
		}
	}
	return len(c.Messages)
}

// assemble turns the plan into a rewrite: head, summary, what was kept of the
// middle, tail.
func (j *job) assemble(rewrite *conversation.Rewrite, s summary) {
	kept := j.keptMessages()
	for i, keep := range kept {
		if !keep {
			rewrite.Drop(i)
		}
	}
	isKept := func(i int) bool { return kept[i] }
	j.applyRepairs(rewrite, isKept)
	j.reportRepairs(isKept)
	j.applyPruning(rewrite)
	if s.body == "" {
		j.applyThinking(rewrite, firstChanged(rewrite, j.c))
		return
	}
	at := j.rows[j.layout.head].index
	if j.addsNote() {
		j.unnoted = j.readable(rewrite, at)
		j.applyNote(rewrite)
	}
	j.applyThinking(rewrite, min(firstChanged(rewrite, j.c), at-1))
	rewrite.Insert(at, conversation.NewMessage{
		Role: j.summaryRole(), Text: frameSummary(s.body, j.round(), j.trace(messagesFrom(rewrite.Apply(), at))),
	})
}

// messagesFrom are the messages of the result that stand at or after message at
// of the input.
func messagesFrom(applied *conversation.Applied, at int) []conversation.Message {
	for i, from := range applied.From {
		if from >= at {
			return applied.Conversation.Messages[i:]
		}
	}
	return nil
}

func (j *job) applyNote(rewrite *conversation.Rewrite) {
	if j.c.System != nil {
		rewrite.AppendSystemText(systemNote)
		return
	}
	rewrite.AppendText(0, systemNote)
}

// keptMessages says of every input message whether it stays. A message that a
// repair removes shares the fate of the one before it.
func (j *job) keptMessages() []bool {
	kept := make([]bool, len(j.c.Messages))
	fate := make(map[int]bool, len(j.rows))
	for r := range j.rows {
		if i := j.rows[r].index; i >= 0 {
			fate[i] = j.keptRow(r)
		}
	}
	last := true
	for i := range kept {
		if f, ok := fate[i]; ok {
			last = f
		}
		kept[i] = last
	}
	return kept
}

// summaryRole is user where that makes no two neighbours alike, else assistant
// where that does, else user, which every provider accepts beside another user
// message. After the system prompt, and where no request is left, it is user.
func (j *job) summaryRole() conversation.Role {
	before, after := j.neighbours(j.layout)
	user, assistant := conversation.RoleUser, conversation.RoleAssistant
	switch {
	case before == conversation.RoleSystem, !j.keepsRequest(), j.callWaitsBefore(j.layout.head):
		return user
	case before != user && after != user:
		return user
	case before != assistant && after != assistant:
		return assistant
	default:
		return user
	}
}

// callWaitsBefore reports whether a call in flight stands before a row. An
// assistant message after it would end its turn.
func (j *job) callWaitsBefore(r int) bool {
	for _, ref := range j.pairing.InFlight {
		if ref.Message < j.rows[r].index {
			return true
		}
	}
	return false
}

// neighbours are the roles of the last row before the summary (system when there
// is none) and of the first kept row after it.
func (j *job) neighbours(l layout) (before, after conversation.Role) {
	before = conversation.RoleSystem
	if l.head > 0 {
		before = j.role(l.head - 1)
	}
	first := l.tail
	for r := range l.keep {
		first = min(first, r)
	}
	if first == len(j.rows) {
		return before, conversation.RoleOther
	}
	return before, j.role(first)
}

func (j *job) keepsRequest() bool {
	for r := range j.rows {
		if j.rows[r].request && j.keptRow(r) {
			return true
		}
	}
	return false
}

// summaryIndex is the position of the new summary in the result.
func (j *job) summaryIndex(applied *conversation.Applied) int {
	for i, from := range applied.From {
		if from < 0 && isSummary(&applied.Conversation.Messages[i]) {
			return i
		}
	}
	return -1
}

// alternate grows the middle until the summary alternates with its neighbours:
// first at the tail's start, never past the newest request, then at the head's
// end.
func (j *job) alternate(l layout) layout {
	if j.alternates(l) {
		return l
	}
	grown := l
	newest := newestRequest(j.rows)
	for len(l.keep) == 0 {
		next := unitLimit(j.rows, grown.tail+1)
		crossesRequest := newest >= l.tail && newest < next
		if next >= len(j.rows) || crossesRequest || anyPinned(j.rows[grown.tail:next]) {
			break
		}
		if grown.tail = next; j.alternates(grown) {
			return grown
		}
	}
	if j.earlier.found {
		return l
	}
	grown = l
	for system := j.systemRows(); grown.head > system; {
		head := unitStart(j.rows, grown.head-1)
		if (newest >= head && newest < l.head) || anyPinned(j.rows[head:grown.head]) {
			break
		}
		if grown.head, grown.middle = head, head; j.alternates(grown) {
			return grown
		}
	}
	return l
}

// warn says what a caller should know of a result that is legal all the same.
func (j *job) warn(applied *conversation.Applied, tokens int) {
	add := func(code, detail string) {
		j.report.Warnings = append(j.report.Warnings, conversation.Warning{Code: code, Message: -1, Detail: detail})
	}
	if tokens > j.budget.window {
		add("EXCEEDS_WINDOW", fmt.Sprintf("%s tokens remain, the window holds %s", thousands(tokens), thousands(j.budget.window)))
	}
	if j.rules.alternation != AlternationStrict {
		return
	}
	messages := applied.Conversation.Messages
	for i := 1; i < len(messages); i++ {
		seam := applied.From[i-1] < 0 || applied.From[i] != applied.From[i-1]+1
		if seam && spoken(messages[i].Role) && messages[i].Role == messages[i-1].Role {
			add("ALTERNATION", fmt.Sprintf("messages %d and %d of the result have the same role", i-1, i))
		}
	}
}

// alternates reports whether some role fits between the neighbours. Strict
// templates also want the first message to be the user's.
func (j *job) alternates(l layout) bool {
	before, after := j.neighbours(l)
	if before == conversation.RoleSystem {
		return after != conversation.RoleUser
	}
	return before == after || !spoken(before) || !spoken(after)
}

func spoken(r conversation.Role) bool {
	return r == conversation.RoleUser || r == conversation.RoleAssistant
}

func anyPinned(rows []row) bool {
	for i := range rows {
		if rows[i].pinned {
			return true
		}
	}
	return false
}

// reportRegions lists the regions of the input in order.
func (j *job) reportRegions() {
	j.report.Regions = nil
	kept := j.keptMessages()
	l := &j.layout
	kinds := make([]RegionKind, len(j.c.Messages))
	kind := RegionHead
	row := 0
	for i := range kinds {
		for row < len(j.rows) && j.rows[row].index < 0 {
			row++
		}
		if row < len(j.rows) && j.rows[row].index == i {
			switch {
			case row < l.head, row < l.middle && kept[i]: // nothing was summarized: it stays
				kind = RegionHead
			case row < l.middle:
				kind = RegionSummary
			case row >= l.tail:
				kind = RegionTail
			case kept[i]:
				kind = RegionPinned
			default:
				kind = RegionMiddle
			}
			row++
		}
		kinds[i] = kind
	}
	for i, k := range kinds {
		n := len(j.report.Regions)
		if n == 0 || j.report.Regions[n-1].Kind != k {
			j.report.Regions = append(j.report.Regions, Region{Kind: k, Start: i, End: i})
			n++
		}
		region := &j.report.Regions[n-1]
		region.End = i + 1
		region.Tokens += j.counts.Messages[i]
	}
	j.report.BindingConstraint = l.binding
	j.reportPruning()
}
