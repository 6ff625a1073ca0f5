package conformance

import (
	"bytes"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// Compression is one answer to Compress, with what is needed to judge it.
type Compression struct {
	Input, Output *Transcript
	Outcome       pb.Outcome
	Report        *pb.CompressionReport
	// Summary is the body of the summary that was reported.
	Summary string
	// Pinned are the indices the caller pinned.
	Pinned []int32
	// Handoffs are indices of input messages that are earlier summaries: written
	// by the service (or another one), not a request of the user.
	Handoffs []int
	// Strict is set when the caller asked for alternating roles.
	Strict bool
	// NoNote is set when the caller asked to leave the system prompt alone.
	NoNote bool
	// TokensOnly is set for small inputs, where fewer tokens can take more bytes: a
	// picture counts many tokens however few bytes it has, a stand-in result few.
	TokensOnly bool
	// KeepThinking is set when the policy or the model leaves no thinking block to
	// be removed.
	KeepThinking bool
}

// Check lists every broken promise.
func (c *Compression) Check() []Violation { return c.check().list }

// check judges the answer and remembers what became of every message.
func (c *Compression) check() *compressionCheck {
	k := &compressionCheck{Compression: c, summary: -1}
	// A target can be out of reach with nothing to show for the attempt.
	changed := c.Outcome == pb.Outcome_OUTCOME_COMPRESSED ||
		c.Outcome == pb.Outcome_OUTCOME_TARGET_UNREACHABLE && !bytes.Equal(c.Input.raw, c.Output.raw)
	k.gain(changed)
	if !changed {
		return k
	}
	if c.Report.SummaryIndex != nil {
		k.summary = int(c.Report.GetSummaryIndex())
	}
	k.surroundings()
	k.regions()
	k.align()
	k.lost()
	k.summaryMessage()
	k.legal()
	k.request()
	k.report()
	return k
}

type compressionCheck struct {
	*Compression
	findings
	summary int // index of the summary in the output, -1 for none

	fate    []pb.RegionKind  // of each input message
	from    []int            // input index of each output message, -1 for a new one
	to      []int            // output index of each input message, -1 for a lost one
	changes map[int]change   // of kept messages that differ, by input index
	repairs map[int]bool     // input messages that a reported repair may have taken
	leading map[int]bool     // messages reported as a leading assistant message
	missing map[int][]string // calls that were reported to have got a stand-in result, by message
	waiting map[string]int   // those of the assistant turn before the message in hand
	next    []int            // the first input message from i on that was not summarized
	stubs   []string         // ids of stand-in results, in messages of their own too
	note    string
}

// gain is invariant 4.
func (k *compressionCheck) gain(changed bool) {
	before, after := k.Report.GetTokensBefore(), k.Report.GetTokensAfter()
	switch {
	case !changed:
		if !bytes.Equal(k.Input.raw, k.Output.raw) {
			k.add(RuleGain, -1, "%v, and the bytes differ", k.Outcome)
		}
		if before != after {
			k.add(RuleGain, -1, "%v, and tokens went from %d to %d", k.Outcome, before, after)
		}
	case after >= before:
		k.add(RuleGain, -1, "%v, and tokens went from %d to %d", k.Outcome, before, after)
	case len(k.Output.raw) >= len(k.Input.raw) && !k.TokensOnly:
		k.add(RuleGain, -1, "%v, and %d bytes became %d", k.Outcome, len(k.Input.raw), len(k.Output.raw))
	}
}

// surroundings is invariant 1 for everything that is no message.
func (k *compressionCheck) surroundings() {
	in, out := k.Input, k.Output
	if in.bare != out.bare {
		k.add(RuleExact, -1, "a body became a bare array, or the other way round")
		return
	}
	if in.bare {
		return
	}
	if len(in.body.members) != len(out.body.members) || !sameGlue(in.body.glue, out.body.glue) {
		k.add(RuleExact, -1, "the body's keys or the bytes between its values differ")
		return
	}
	for i, m := range in.body.members {
		switch {
		case m.key == "messages":
		case m.key == "system" && in.system != nil && out.system != nil:
			var ch change
			if why := compareNote(&ch, &in.system.content, &out.system.content); why != "" {
				k.add(RuleExact, -1, "%s", why)
			}
			k.noted(ch.note, -1)
		case !bytes.Equal(m.value, out.body.members[i].value):
			k.add(RuleExact, -1, "the field %s differs", m.key)
		}
	}
}

// noted judges a note in a system prompt.
func (k *compressionCheck) noted(note string, index int) {
	if note == "" {
		return
	}
	switch {
	case k.NoNote:
		k.add(RuleExact, index, "a note in the system prompt against the policy")
	case k.Input.bare:
		k.add(RuleExact, index, "a note in the system message of a bare array")
	case k.note != "":
		k.add(RuleExact, index, "a second note")
	case k.summary < 0:
		k.add(RuleExact, index, "a note without a summary")
	}
	k.note = note
}

// regions reads what the report says became of every input message.
func (k *compressionCheck) regions() {
	k.fate = make([]pb.RegionKind, len(k.Input.messages))
	at := 0
	for _, r := range k.Report.GetRegions() {
		if int(r.GetStart()) != at || r.GetEnd() < r.GetStart() || int(r.GetEnd()) > len(k.fate) {
			k.add(RuleReport, int(r.GetStart()), "regions do not follow each other: %v", r)
			return
		}
		for ; at < int(r.GetEnd()); at++ {
			k.fate[at] = r.GetKind()
		}
	}
	if at != len(k.fate) {
		k.add(RuleReport, at, "regions end before the conversation does")
	}
}

// index prepares what align asks of every message.
func (k *compressionCheck) index() {
	n := len(k.Input.messages)
	k.next = make([]int, n+1)
	k.next[n] = n
	for i := n - 1; i >= 0; i-- {
		if k.next[i] = i; k.gone(i) {
			k.next[i] = k.next[i+1]
		}
	}
	k.repairs, k.leading, k.missing = make(map[int]bool), make(map[int]bool), make(map[int][]string)
	for _, r := range k.Report.GetRepairs() {
		i := int(r.GetMessageIndex())
		if i < 0 || i >= n {
			k.add(RuleReport, -1, "a repair of a message that does not exist: %v", r)
			continue
		}
		m := k.Input.messages[i]
		switch r.GetKind() {
		case pb.RepairKind_REPAIR_KIND_LEADING_ASSISTANT:
			k.leading[i] = true
		case pb.RepairKind_REPAIR_KIND_MISSING_RESULT:
			k.missing[i] = append(k.missing[i], r.GetToolUseId())
		case pb.RepairKind_REPAIR_KIND_ORPHAN_RESULT, pb.RepairKind_REPAIR_KIND_DUPLICATE_RESULT:
			k.repairs[i] = k.repairs[i] || m.isResult()
		case pb.RepairKind_REPAIR_KIND_EMPTY_MESSAGE, pb.RepairKind_REPAIR_KIND_BLANK_TEXT:
			k.repairs[i] = k.repairs[i] || m.content.empty() && len(m.calls) == 0
		}
	}
}

// gone says that the report gave an input message up for the summary.
func (k *compressionCheck) gone(i int) bool {
	return k.fate[i] == pb.RegionKind_REGION_KIND_MIDDLE || k.fate[i] == pb.RegionKind_REGION_KIND_SUMMARY
}

// align is invariant 1 for messages: every output message is an input message
// that was kept, in order, the summary, or a stand-in result.
func (k *compressionCheck) align() {
	k.from = make([]int, len(k.Output.messages))
	k.to = make([]int, len(k.Input.messages))
	k.changes = make(map[int]change)
	for i := range k.to {
		k.to[i] = -1
	}
	k.index()
	next := 0
	for o, out := range k.Output.messages {
		k.from[o] = -1
		if o == k.summary || k.full() {
			continue
		}
		i, ch, why := k.origin(next, out)
		if i < 0 {
			if why != "" {
				k.add(RuleExact, o, "neither kept nor new as allowed: %s (%s)", why, excerpt(out.raw))
			}
			continue
		}
		k.from[o], k.to[i], next = i, o, i+1
		if out.role == "assistant" {
			if o == 0 || k.Output.messages[o-1].role != "assistant" {
				k.waiting = make(map[string]int)
			}
			for _, id := range k.missing[i] {
				k.waiting[id]++
			}
		}
		if ch.note != "" {
			k.noted(ch.note, o)
		}
		if len(ch.dropped)+len(ch.stubs)+len(ch.results)+ch.arguments+ch.thinking+ch.blank > 0 {
			k.changes[i] = ch
		}
		k.stubs = append(k.stubs, ch.stubs...)
	}
	k.separators()
}

// origin finds the first input message from next on that out can have come from,
// -1 when there is none; the reason is empty when out is a stand-in result.
// Messages that the report keeps are not stepped over unless they may be lost.
func (k *compressionCheck) origin(next int, out *message) (int, change, string) {
	first := "there is no message left it can have come from"
	for i := k.next[next]; i < len(k.Input.messages); i = k.next[i+1] {
		ch, why := k.Input.dialect.compare(k.Input.messages[i], out)
		if why == "" && len(ch.stubs) > 0 && len(ch.stubs) == len(out.content.blocks) {
			why = "an empty message, filled with stand-in results"
		}
		if why == "" && k.expected(ch.stubs) {
			return i, ch, ""
		}
		if why == "" {
			why = "a stand-in result for a call that was not reported to have none"
		}
		if i == k.next[next] {
			first = why
			if k.standIn(out) {
				return -1, change{}, ""
			}
		}
		if !k.mayGo(i) {
			return -1, change{}, first
		}
	}
	if k.standIn(out) {
		return -1, change{}, ""
	}
	return -1, change{}, first
}

// standIn notes a message of stand-in results for calls that were reported to
// have had none.
func (k *compressionCheck) standIn(out *message) bool {
	ids, ok := k.Input.dialect.standIn(out)
	if !ok || !k.expected(ids) {
		return false
	}
	k.stubs = append(k.stubs, ids...)
	return true
}

// expected reports whether the calls belong to the turn before and were reported
// to have got a stand-in result, and strikes them off the list.
func (k *compressionCheck) expected(ids []string) bool {
	for n, id := range ids {
		if k.waiting[id] == 0 {
			for _, id := range ids[:n] {
				k.waiting[id]++
			}
			return false
		}
		k.waiting[id]--
	}
	return true
}

// mayGo reports whether an input message that was not summarized may be missing:
// it had nothing but thinking, or a reported repair took it.
func (k *compressionCheck) mayGo(i int) bool {
	if k.repairs[i] {
		return true
	}
	m := k.Input.messages[i]
	if m.content.shape != shapeList || len(m.calls) > 0 {
		return false
	}
	for b := range m.content.blocks {
		if !m.content.blocks[b].removable() {
			return false
		}
	}
	return true // what went is counted as thinking, blank text and results
}

// separators checks the bytes between messages that were neighbours and still are.
func (k *compressionCheck) separators() {
	in, out := k.Input.list.glue, k.Output.list.glue
	for o := 1; o < len(k.from); o++ {
		i := k.from[o]
		if i > 0 && k.from[o-1] == i-1 && !bytes.Equal(in[i], out[o]) {
			k.add(RuleExact, o, "the bytes between two kept messages differ")
		}
	}
}

// standIn reports whether a message is a tool result and nothing else, and which
// calls it answers.
func (d Dialect) standIn(m *message) (ids []string, ok bool) {
	if d == OpenAI {
		if chars, text := m.content.textOnly(); !m.isResult() || !text || chars == 0 {
			return nil, false
		}
		return []string{m.object.text("tool_call_id")}, true
	}
	if d == Anthropic && m.role != "user" || d == Typed && m.role != "tool" || len(m.content.blocks) == 0 {
		return nil, false
	}
	var ch change
	for b := range m.content.blocks {
		if ch.stub(&m.content.blocks[b]) != "" {
			return nil, false
		}
	}
	return ch.stubs, true
}

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
	if n := len(k.Output.messages); n > 0 && k.from[n-1] < 0 && k.summary != n-1 {
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
			if blk := &m.content.blocks[b]; blk.kind != "tool_result" && !blk.isBlank() {
				return i
			}
		}
	}
	return -1
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
