package conformance

import (
	"bytes"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// report checks that the report says what happened, no more and no less.
func (k *compressionCheck) report() {
	k.reportedPrunes()
	k.reportedRepairs()
	k.reportedThinking()
	k.reportedFigures()
}

// reportedPrunes compares shortened results and arguments with the report.
func (k *compressionCheck) reportedPrunes() {
	type tally struct {
		results, calls map[int32]bool
		duplicates     int
	}
	said := make(map[int]*tally)
	for _, p := range k.Report.GetPruned() {
		i := int(p.GetMessageIndex())
		if said[i] == nil {
			said[i] = &tally{make(map[int32]bool), make(map[int32]bool), 0}
		}
		if p.GetKind() == pb.PruneKind_PRUNE_KIND_ARGUMENTS {
			said[i].calls[p.GetBlockIndex()] = true
		} else {
			said[i].results[p.GetBlockIndex()] = true
		}
		if p.GetKind() == pb.PruneKind_PRUNE_KIND_DUPLICATE {
			said[i].duplicates++
		}
	}
	whole := k.Output.wholeResults()
	// A copy that an earlier round pointed at grows old like any other, and a later round
	// says of it that it was shortened.
	shortened := make(map[string]int)
	if k.Report.GetContinuity().GetResult() == pb.ContinuityResult_CONTINUITY_RESULT_HIT {
		for i := range k.Input.messages {
			if s := said[i]; k.to[i] >= 0 && s != nil && len(s.results) > s.duplicates {
				for _, text := range k.changes[i].results {
					shortened[text] = i
				}
			}
		}
	}
	for i := range k.Input.messages {
		if k.to[i] < 0 {
			if said[i] != nil {
				k.add(RuleReport, i, "reported as shortened and not kept")
			}
			continue
		}
		ch := k.changes[i]
		results, calls := 0, 0
		if s := said[i]; s != nil {
			results, calls = len(s.results), len(s.calls)
			standing := 0
			for _, text := range ch.results {
				last, stands := whole[text]
				if later := shortened[text]; stands && last >= k.to[i] || later > i {
					standing++
				}
			}
			if standing < s.duplicates {
				k.add(RuleLost, i, "%d results gave way to later copies, of which %d are there", s.duplicates, standing)
			}
		}
		if results != len(ch.results) || calls != ch.arguments {
			k.add(RuleReport, i, "%d results and %d calls shortened, %d and %d reported", len(ch.results), ch.arguments, results, calls)
		}
	}
}

// wholeResults finds the last message in which a tool result has a text.
func (t *Transcript) wholeResults() map[string]int {
	out := make(map[string]int)
	for i, m := range t.messages {
		if t.dialect == OpenAI && m.isResult() {
			out[m.content.text()] = i
		}
		for b := range m.content.blocks {
			if blk := &m.content.blocks[b]; blk.kind == "tool_result" {
				if c, err := readContent(blk.object.get("content")); err == nil {
					out[c.text()] = i
				}
			}
		}
	}
	return out
}

// reportedRepairs compares stand-in results and removed results with the report.
func (k *compressionCheck) reportedRepairs() {
	stubs := make(map[string]int)
	for _, r := range k.Report.GetRepairs() {
		if r.GetKind() == pb.RepairKind_REPAIR_KIND_MISSING_RESULT {
			stubs[r.GetToolUseId()]++
		}
	}
	for _, id := range k.stubs {
		if stubs[id] == 0 {
			k.add(RuleReport, -1, "a stand-in result for %q that is not reported", id)
		}
		stubs[id]--
	}
	for i, ch := range k.changes {
		if (len(ch.dropped) > 0 || ch.blank > 0) && !k.repaired[i] {
			k.add(RuleReport, i, "results or blank text removed, and no repair reported")
		}
	}
}

// reportedThinking counts the thinking blocks that kept messages lost.
func (k *compressionCheck) reportedThinking() {
	removed := 0
	for i, m := range k.Input.messages {
		switch {
		case k.to[i] >= 0:
			removed += k.changes[i].thinking
		case !k.gone(i) && !(k.Input.dialect == OpenAI && m.isResult()): // there it is a part of a result
			for b := range m.content.blocks {
				if m.content.blocks[b].isThinking() {
					removed++
				}
			}
		}
	}
	if removed != int(k.Report.GetThinkingRemoved()) {
		k.add(RuleReport, -1, "%d thinking blocks removed, %d reported", removed, k.Report.GetThinkingRemoved())
	}
	if k.KeepThinking && removed > 0 {
		k.add(RuleExact, -1, "%d thinking blocks removed against the policy", removed)
	}
}

// reportedFigures compares the report's counts with what is there.
func (k *compressionCheck) reportedFigures() {
	r := k.Report
	if int(r.GetMessagesBefore()) != len(k.Input.messages) || int(r.GetMessagesAfter()) != len(k.Output.messages) {
		k.add(RuleReport, -1, "%d messages became %d, reported %d and %d",
			len(k.Input.messages), len(k.Output.messages), r.GetMessagesBefore(), r.GetMessagesAfter())
	}
	first := 0
	for first < len(k.to) && k.to[first] == first && bytes.Equal(k.Input.messages[first].raw, k.Output.messages[first].raw) {
		first++
	}
	want := int32(first)
	if k.note != "" && (k.Input.system != nil || first == 0) {
		want = -1
	}
	if r.FirstChangedIndex == nil || r.GetFirstChangedIndex() != want && !(want == -1 && k.Input.system == nil && r.GetFirstChangedIndex() == 0) {
		k.add(RuleReport, -1, "the first change is at %d, reported %v", want, r.FirstChangedIndex)
	}
	if r.GetRung() == pb.Rung_RUNG_UNSPECIFIED {
		k.add(RuleReport, -1, "no rung named")
	}
	if (r.GetRung() == pb.Rung_RUNG_PRUNE_ONLY) != (k.summary < 0) {
		k.add(RuleReport, -1, "rung %v, summary at %d", r.GetRung(), k.summary)
	}
	if r.GetReason() == "" && k.Outcome != pb.Outcome_OUTCOME_COMPRESSED {
		k.add(RuleReport, -1, "no reason given")
	}
}
