package conformance

import (
	"bytes"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// lost is invariant 3: what is not in the output was summarized or repaired away.
func (k *compressionCheck) lost() {
	for i, o := range k.to {
		switch {
		case o >= 0 && k.gone(i):
			k.add(RuleReport, o, "input message %d is kept and reported as summarized", i)
		case o < 0 && k.gone(i) && k.summary < 0:
			k.add(RuleLost, i, "dropped without a summary")
		case o < 0 && !k.gone(i) && !k.mayGo(i):
			k.add(RuleLost, i, "missing: %s", excerpt(k.Input.messages[i].raw))
		}
	}
	var unkeepable map[int]bool
	if len(k.Pinned) > 0 {
		unkeepable = k.Input.unkeepable()
	}
	for _, p := range k.Pinned {
		i := int(p)
		if unkeepable[i] {
			continue
		}
		// Only thinking that a change before it made invalid, and repairs, may touch it.
		if i >= len(k.to) || k.to[i] < 0 && !k.mayGo(i) || len(k.changes[i].results)+k.changes[i].arguments > 0 {
			k.add(RuleExact, i, "a pinned message is not in the output as it was")
		}
	}
}

// unkeepable are the messages that no provider would take, pinned or not.
func (t *Transcript) unkeepable() map[int]bool {
	out := make(map[int]bool)
	for _, f := range t.judge().faults {
		if f.fault == faultOrphanResult || f.fault == faultDuplicateResult || f.fault == faultEmpty || f.fault == faultBlankText {
			out[f.index] = true
		}
	}
	return out
}

// summaryMessage judges the summary: one message of its own, in the place of
// what it replaces, with the reported text, never the last.
func (k *compressionCheck) summaryMessage() {
	if k.summary < 0 {
		return
	}
	if k.summary >= len(k.Output.messages) {
		k.add(RuleSummary, -1, "the reported index %d is not in the output", k.summary)
		return
	}
	m := k.Output.messages[k.summary]
	if k.summary == len(k.Output.messages)-1 {
		k.add(RuleSummary, k.summary, "it is the last message")
	}
	if m.role != "user" && m.role != "assistant" {
		k.add(RuleSummary, k.summary, "its role is %s", m.role)
	}
	if len(m.content.blocks) != 1 || !m.content.blocks[0].hasText || m.content.blocks[0].isBlank() {
		k.add(RuleSummary, k.summary, "it is not one text")
		return
	}
	if k.Summary == "" || !bytes.Contains([]byte(m.content.blocks[0].text), []byte(k.Summary)) {
		k.add(RuleSummary, k.summary, "it does not contain the reported summary")
	}
	if loneSurrogates(m.raw) > 0 {
		k.add(RuleSummary, k.summary, "half a surrogate pair")
	}
	first := true
	for _, before := range k.Output.messages[:k.summary] {
		first = first && before.isSystem()
	}
	if first && m.role != "user" {
		k.add(RuleSummary, k.summary, "the conversation begins with it and it is not the user's")
	}
	k.summaryPlace()
}

// summaryPlace checks that the summary stands where the summarized region was.
func (k *compressionCheck) summaryPlace() {
	begin, end := -1, -1
	for i := range k.fate {
		// What is kept inside the middle may stand on either side.
		if k.gone(i) || k.fate[i] == pb.RegionKind_REGION_KIND_PINNED {
			if begin < 0 {
				begin = i
			}
			end = i
		}
	}
	if begin < 0 {
		k.add(RuleSummary, k.summary, "there is a summary and nothing was summarized")
		return
	}
	for o := k.summary - 1; o >= 0; o-- {
		if k.from[o] >= 0 {
			if k.from[o] > end {
				k.add(RuleSummary, k.summary, "it stands after message %d of the tail", k.from[o])
			}
			break
		}
	}
	for o := k.summary + 1; o < len(k.from); o++ {
		if k.from[o] >= 0 {
			if k.from[o] < begin {
				k.add(RuleSummary, k.summary, "it stands before message %d of the head", k.from[o])
			}
			break
		}
	}
}

// legal is invariant 2.
func (k *compressionCheck) legal() {
	in, out := k.Input.judge(), k.Output.judge()
	had := make(map[fault]map[int]bool)
	for _, f := range in.faults {
		if had[f.fault] == nil {
			had[f.fault] = make(map[int]bool)
		}
		had[f.fault][f.index] = true
	}
	for _, f := range out.faults {
		was := f.index
		if f.index >= 0 {
			was = k.from[f.index]
		}
		switch {
		case f.fault.repairable():
			k.add(RuleLegal, f.index, "%s %s", f.fault, f.id)
		case f.fault == faultLeading:
			// It is left and reported; where a repair took the message before it, it is new.
			if !k.leading[was] || len(in.faults) == 0 {
				k.add(RuleLegal, f.index, "%s, not reported", f.fault)
			}
		case !had[f.fault][was]:
			k.add(RuleLegal, f.index, "%s %s, which the input did not have", f.fault, f.id)
		}
	}
	if len(in.inFlight) != len(out.inFlight) {
		k.add(RuleLegal, -1, "%d calls in flight became %d", len(in.inFlight), len(out.inFlight))
	} else {
		for i, c := range in.inFlight {
			if is := out.inFlight[i]; k.to[c.message] != is.message || !bytes.Equal(c.raw, is.raw) {
				k.add(RuleLegal, is.message, "a call in flight was touched")
			}
		}
	}
	if k.Strict && len(in.faults) == 0 && k.Input.alternates() && !k.Output.alternates() {
		k.add(RuleLegal, -1, "roles alternated and do not any more")
	}
	last := len(k.Input.messages) - 1
	if n := len(k.Output.messages); n > 0 && k.from[n-1] < 0 && k.summary != n-1 && !k.mayGo(last) {
		k.add(RuleLegal, n-1, "the conversation ends with a new message")
	}
}

// newestRequest is the last message in which a user says something, -1 when
// there is none.
func (t *Transcript) newestRequest(handoffs []int) int {
	skip := make(map[int]bool)
	for _, i := range handoffs {
		skip[i] = true
	}
	for i := len(t.messages) - 1; i >= 0; i-- {
		m := t.messages[i]
		if m.role != "user" || skip[i] {
			continue
		}
		for b := range m.content.blocks {
			if t.dialect.says(&m.content.blocks[b]) {
				return i
			}
		}
	}
	return -1
}

// says reports whether a block in a user's message can be what the user says. OpenAI has
// calls and results elsewhere: a block that is called so is one that nobody knows.
func (d Dialect) says(b *block) bool {
	return !b.isBlank() && !b.isThinking() && (d == OpenAI || !b.isCall() && !b.isAnswer())
}

// request is invariant 5.
func (k *compressionCheck) request() {
	i := k.Input.newestRequest(k.Handoffs)
	if i < 0 {
		return
	}
	if k.to[i] < 0 {
		k.add(RuleRequest, i, "the newest request is gone: %s", excerpt(k.Input.messages[i].raw))
		return
	}
	// A changed message can have lost nothing of what the user said: the comparison
	// lets no text and no media go. Without tool results it has no reason to differ.
	if ch, ok := k.changes[i]; ok && len(ch.results) == 0 && len(ch.stubs)+len(ch.dropped)+ch.blank == 0 {
		k.add(RuleRequest, k.to[i], "the newest request was changed")
	}
}
