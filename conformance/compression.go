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

	fate    []pb.RegionKind // of each input message
	from    []int           // input index of each output message, -1 for a new one
	to      []int           // output index of each input message, -1 for a lost one
	changes map[int]change  // of kept messages that differ, by input index
	repairs map[int]bool    // input messages that a reported repair may have taken
	// repaired are the input messages that a reported repair took something of.
	repaired map[int]bool
	leading  map[int]bool     // messages reported as a leading assistant message
	missing  map[int][]string // calls that were reported to have got a stand-in result, by message
	waiting  map[string]int   // those of the assistant turn before the message in hand
	next     []int            // the first input message from i on that was not summarized
	stubs    []string         // ids of stand-in results, in messages of their own too
	note     string
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
			if ch.blank > 0 { // a repair names a message, and this is none
				k.add(RuleReport, -1, "blank text of the system prompt removed, and no repair reported")
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
	k.repairs, k.repaired = make(map[int]bool), make(map[int]bool)
	k.leading, k.missing = make(map[int]bool), make(map[int][]string)
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
			k.repaired[i] = true
			k.repairs[i] = k.repairs[i] || m.isResult()
		case pb.RepairKind_REPAIR_KIND_EMPTY_MESSAGE, pb.RepairKind_REPAIR_KIND_BLANK_TEXT:
			k.repaired[i] = true
			k.repairs[i] = k.repairs[i] || m.content.empty() && len(m.calls) == 0
		}
	}
}

// gone says that the report gave an input message up for the summary.
func (k *compressionCheck) gone(i int) bool {
	return k.fate[i] == pb.RegionKind_REGION_KIND_MIDDLE || k.fate[i] == pb.RegionKind_REGION_KIND_SUMMARY
}
