package compressor

import (
	"fmt"

	"github.com/elbowroom/elbowroom/conversation"
)

// missingResultText stands in for a result that never came.
const missingResultText = "[No result of this call is in the conversation]"

// repairs is what has to happen to kept messages so that a provider takes them.
type repairs struct {
	// dropBlocks and dropMessages are by message index.
	dropBlocks   map[int][]conversation.Ref
	dropMessages map[int]bool
	missing      map[int][]conversation.Ref // calls without result, by the call's unit
	kinds        map[int][]Repair           // what to report, by message
}

// any reports whether there is anything to repair.
func (r *repairs) any() bool { return len(r.kinds) > 0 }

func (r *repairs) note(kind RepairKind, message int, id string) {
	r.kinds[message] = append(r.kinds[message], Repair{kind, message, id})
}

// refuse returns an error for what has no listed repair.
func (j *job) refuse() error {
	if len(j.pairing.Ambiguous) == 0 {
		return nil
	}
	ref := j.pairing.Ambiguous[0]
	return &RefusedError{
		Code: "DUPLICATE_CALL_ID", Message: ref.Message,
		Detail: fmt.Sprintf("two calls of one turn share the id %q", j.c.At(ref).ID),
	}
}

// findRepairs decides the repairs of every message; those of kept messages are
// applied.
func (j *job) findRepairs() {
	r := repairs{
		dropBlocks:   make(map[int][]conversation.Ref),
		dropMessages: make(map[int]bool),
		missing:      make(map[int][]conversation.Ref),
		kinds:        make(map[int][]Repair),
	}
	for _, ref := range j.pairing.Orphans {
		r.dropBlocks[ref.Message] = append(r.dropBlocks[ref.Message], ref)
		r.note(RepairOrphanResult, ref.Message, j.c.At(ref).ID)
	}
	for _, ref := range j.pairing.Duplicates {
		r.dropBlocks[ref.Message] = append(r.dropBlocks[ref.Message], ref)
		r.note(RepairDuplicateResult, ref.Message, j.c.At(ref).ID)
	}
	for _, ref := range j.pairing.Missing {
		unit := j.pairing.Unit[ref.Message]
		r.missing[unit] = append(r.missing[unit], ref)
		r.note(RepairMissingResult, ref.Message, j.c.At(ref).ID)
	}
	for i := range j.c.Messages {
		m := &j.c.Messages[i]
		if j.c.Format == conversation.FormatAnthropicMessages {
			j.findBlankText(&r, i, m)
		}
		if dropped := len(r.dropBlocks[i]); dropped > 0 && dropped == len(m.Blocks) {
			r.dropMessages[i] = true
		}
	}
	j.repairs = r
}

// findBlankText drops text blocks without text, and messages that have nothing
// else: Anthropic refuses both.
func (j *job) findBlankText(r *repairs, i int, m *conversation.Message) {
	if m.Role == conversation.RoleOther {
		return
	}
	if len(m.Blocks) == 0 {
		r.dropMessages[i] = true
		r.note(RepairEmptyMessage, i, "")
		return
	}
	blank := 0
	for b := range m.Blocks {
		if m.Blocks[b].Kind == conversation.KindText && conversation.Blank(m.Blocks[b].Text) {
			blank++
		}
	}
	if blank == 0 {
		return
	}
	if m.Shape == conversation.ShapeString || blank+len(r.dropBlocks[i]) == len(m.Blocks) {
		r.dropMessages[i] = true
		r.note(RepairEmptyMessage, i, "")
		return
	}
	for b := range m.Blocks {
		if m.Blocks[b].Kind == conversation.KindText && conversation.Blank(m.Blocks[b].Text) {
			r.dropBlocks[i] = append(r.dropBlocks[i], conversation.Ref{Message: i, Block: b})
			r.note(RepairBlankText, i, "")
		}
	}
}

// applyRepairs mends the kept messages.
func (j *job) applyRepairs(rewrite *conversation.Rewrite, kept func(message int) bool) {
	for i := range j.c.Messages {
		if !kept(i) {
			continue
		}
		if j.repairs.dropMessages[i] {
			rewrite.Drop(i)
			continue
		}
		for _, ref := range j.repairs.dropBlocks[i] {
			rewrite.DropBlock(ref)
		}
	}
	for i := range j.c.Messages {
		if refs := j.repairs.missing[i]; len(refs) > 0 && kept(i) {
			end := j.unitEnd(i)
			for _, ref := range refs {
				rewrite.AddResult(ref, end, missingResultText)
			}
		}
	}
}

// reportRepairs lists the repairs of kept messages, and a leading assistant
// message, which is left.
func (j *job) reportRepairs(kept func(message int) bool) {
	leading := true
	for i := range j.c.Messages {
		if !kept(i) {
			continue
		}
		j.report.Repairs = append(j.report.Repairs, j.repairs.kinds[i]...)
		if j.repairs.dropMessages[i] {
			continue
		}
		if leading && j.c.Messages[i].Role == conversation.RoleAssistant {
			j.report.Repairs = append(j.report.Repairs, Repair{RepairLeadingAssistant, i, ""})
		}
		leading = leading && j.c.Messages[i].Role == conversation.RoleSystem
	}
}

// unitEnd is the index after the last message of the unit that begins at start.
func (j *job) unitEnd(start int) int {
	end := start + 1
	for end < len(j.c.Messages) && j.pairing.Unit[end] == start {
		end++
	}
	return end
}
