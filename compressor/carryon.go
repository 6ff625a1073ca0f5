package compressor

import (
	"context"
	"fmt"
	"math"

	"github.com/elbowroom/elbowroom/conversation"
)

// takeOver answers with an earlier compression of the same prefix: it is made
// again, and what the caller added since is looked at as if the caller had sent the
// compressed form. The result is nil where there is none, or none that fits.
func (j *job) takeOver(ctx context.Context, links chain) (*Result, error) {
	found, entry, ok := j.engine.continuity.find(ctx, links, j.fits)
	if !ok {
		return nil, nil
	}
	first, err := found.Record.Replay(j.c)
	if err != nil {
		return nil, nil //nolint:nilerr // an entry that does not fit is no entry
	}
	applied := first.Apply()
	middle, ok := reread(first, applied)
	if !ok {
		return nil, nil
	}
	req := j.req
	req.Conversation, req.PreviousSummary = middle, "" // what it said is in the summary
	req.Pinned, req.LastUsage = mapPins(j.req.Pinned, applied.From), mapUsage(j.req.LastUsage, applied.From, len(j.c.Messages))
	next, second := j.engine.newJob(req)
	if err := next.prepare(ctx); err != nil {
		return nil, err
	}
	if err := next.run(ctx, second); err != nil {
		return nil, err
	}
	joined, ok := first.Then(second.Rewrite)
	if !ok {
		return nil, nil
	}
	t := &takeover{job: j, next: next, found: &found, covers: entry.Length, first: first, from: applied.From}
	result := t.result(second, joined)
	result.Report.Continuity = Continuity{Looked: true, Hit: true, Round: found.Round, Key: entry.Key[:12], Covered: entry.Length}
	if second.Outcome.Changed() {
		j.remember(ctx, links, result, max(entry.Length, t.index(next.pointed-1)+1))
	}
	return result, nil
}

// reread returns a rewritten conversation as one that can be rewritten again. A
// native form is read anew, so that its spans are those of its own text.
func reread(r *conversation.Rewrite, applied *conversation.Applied) (*conversation.Conversation, bool) {
	c := applied.Conversation
	if c.Format == conversation.FormatTyped {
		return c, true
	}
	// It comes from a conversation that was within its caller's limits.
	unlimited := conversation.Limits{MaxDepth: math.MaxInt32, MaxBlocks: math.MaxInt32}
	read, err := conversation.Parse(c.Format, r.Render(), unlimited)
	if err != nil || len(read.Messages) != len(applied.From) {
		return nil, false
	}
	return read, true
}

// mapPins gives the pinned messages their positions in the compressed form. Those
// that the first compression could keep, it kept.
func mapPins(pinned, from []int) []int {
	at := make(map[int]int, len(from))
	for k, i := range from {
		at[i] = k
	}
	var out []int
	for _, i := range pinned {
		if k, kept := at[i]; kept && i >= 0 {
			out = append(out, k)
		}
	}
	return out
}

// mapUsage gives the number of messages that a usage covers in the compressed form:
// the prompt is taken to be what was returned for them. A number that does not fit
// stays one that does not fit.
func mapUsage(u *Usage, from []int, messages int) *Usage {
	if u == nil || u.MessageCount <= 0 {
		return u
	}
	out := *u
	if u.MessageCount > messages {
		out.MessageCount += len(from)
		return &out
	}
	out.MessageCount = 0
	for k, i := range from {
		if i >= 0 && i < u.MessageCount {
			out.MessageCount = k + 1
		}
	}
	if out.MessageCount == 0 {
		return nil // nothing of what it covers is left
	}
	return &out
}

// takeover writes one report about two compressions, in the caller's indices.
type takeover struct {
	*job
	next  *job // works on the compressed form
	found *compressed
	// covers is how many messages have to be the same for it.
	covers int
	first  *conversation.Rewrite
	from   []int // messages of the compressed form, as the caller counts them
}

// result is the answer to the caller.
func (t *takeover) result(second *Result, joined *conversation.Rewrite) *Result {
	out := *second
	r := &out.Report
	r.TokensBefore, r.MessagesBefore = t.counts.Tokens, len(t.c.Messages)
	again := second.Outcome.Changed() || second.Outcome == OutcomePlanned
	if again {
		r.Regions = t.regions(r.Regions)
	} else {
		r.Regions = t.foundRegions()
	}
	r.Pruned = t.pruned(r.Pruned, joined)
	r.Repairs = t.repairsOf(r.Repairs, joined)
	for i := range r.Warnings {
		r.Warnings[i].Message = t.index(r.Warnings[i].Message)
	}
	if r.Fidelity != nil {
		for i := range r.Fidelity.Items {
			r.Fidelity.Items[i].Message = t.index(r.Fidelity.Items[i].Message)
		}
	}
	if t.req.PlanOnly {
		out.Rewrite = conversation.NewRewrite(t.c)
		r.TokensAfter, r.MessagesAfter = r.TokensBefore, r.MessagesBefore
		return &out
	}
	out.Rewrite = joined
	r.FirstChanged = firstChangedIndex(joined, t.c)
	if r.ThinkingRemoved = t.found.ThinkingRemoved; again {
		r.ThinkingRemoved = t.thinkingRemoved(r.Regions, joined)
	}
	r.Removed = r.Removed.plus(t.found.Removed)
	if second.Summary != "" {
		return &out
	}
	// The summary is still the one that was found.
	if t.found.Body != "" || !again {
		r.Rung = t.found.Rung
	}
	if !again {
		r.TokensAfter, r.MessagesAfter = t.next.counts.Tokens, len(t.next.c.Messages)
		r.Change = t.unchanged()
		r.Reason = fmt.Sprintf("taken over from an earlier compression of the first %d messages; %s", t.covers, r.Reason)
		out.Outcome = OutcomeCompressed
	}
	r.Round = t.found.Round
	if t.found.Body != "" {
		out.Summary = t.found.Body
		out.State = t.engine.states.seal(t.req.Tenant, state{Round: t.found.Round, Digest: digest(t.found.Body)})
		t.placeSummary(r, joined)
	}
	return &out
}

// placeSummary finds the summary in the result.
func (t *takeover) placeSummary(r *Report, joined *conversation.Rewrite) {
	applied := joined.Apply()
	r.SummaryIndex = t.summaryIndex(applied)
	if r.SummaryIndex < 0 {
		return
	}
	for k, i := range t.from {
		if i < 0 && isSummary(&t.next.c.Messages[k]) {
			r.SummaryTokens = t.next.counts.Messages[k]
		}
	}
}

// index is a message of the compressed form as the caller counts it, -1 for one that
// the caller never sent.
func (t *takeover) index(k int) int {
	if k < 0 || k >= len(t.from) {
		return -1
	}
	return t.from[k]
}

// regions lists the regions of the caller's messages: what the first compression
// took out shares the fate of the summary that stands for it.
func (t *takeover) regions(regions []Region) []Region {
	if len(regions) == 0 {
		return nil
	}
	kinds := make([]RegionKind, len(t.c.Messages))
	for _, region := range regions {
		for k := region.Start; k < region.End; k++ {
			if i := t.from[k]; i >= 0 {
				kinds[i] = region.Kind
			}
		}
	}
	return t.runs(kinds, RegionSummary)
}

// foundRegions lists the regions of the compression that was found, its tail with
// what came since.
func (t *takeover) foundRegions() []Region {
	kinds := make([]RegionKind, len(t.c.Messages))
	for _, region := range t.found.Regions {
		for i := region.Start; i < min(region.End, len(kinds)); i++ {
			kinds[i] = region.Kind
		}
	}
	return t.runs(kinds, RegionTail)
}

// runs joins neighbours of one kind; unknown is the kind of those that have none.
func (t *takeover) runs(kinds []RegionKind, unknown RegionKind) []Region {
	var out []Region
	for i, kind := range kinds {
		if kind == 0 {
			kind = unknown
		}
		n := len(out)
		if n == 0 || out[n-1].Kind != kind {
			out = append(out, Region{Kind: kind, Start: i})
			n++
		}
		out[n-1].End = i + 1
		out[n-1].Tokens += t.counts.Messages[i]
	}
	return out
}

// thinkingRemoved counts the thinking blocks that messages outside the summarized
// regions lost.
func (t *takeover) thinkingRemoved(regions []Region, joined *conversation.Rewrite) int {
	removed := 0
	for _, region := range regions {
		if region.Kind == RegionMiddle || region.Kind == RegionSummary {
			continue
		}
		for i := region.Start; i < region.End; i++ {
			for b := range t.c.Messages[i].Blocks {
				if ref := (conversation.Ref{Message: i, Block: b}); t.c.At(ref).IsThinking() && joined.DroppedBlock(ref) {
					removed++
				}
			}
		}
	}
	return removed
}

// pruned lists what both compressions shortened and the result still has.
func (t *takeover) pruned(second []Pruned, joined *conversation.Rewrite) []Pruned {
	var out []Pruned
	for _, p := range t.found.Pruned {
		if !joined.Dropped(p.Ref.Message) {
			out = append(out, p)
		}
	}
	for _, p := range second {
		if i := t.index(p.Ref.Message); i >= 0 {
			if block, ok := t.first.OriginOf(i, p.Ref.Block); ok {
				p.Ref = conversation.Ref{Message: i, Block: block}
				out = append(out, p)
			}
		}
	}
	return out
}

// repairsOf lists the repairs of both that the result still has.
func (t *takeover) repairsOf(second []Repair, joined *conversation.Rewrite) []Repair {
	var out []Repair
	for _, r := range t.found.Repairs {
		if !joined.Dropped(r.Message) || r.Kind == RepairOrphanResult || r.Kind == RepairDuplicateResult || r.Kind == RepairEmptyMessage {
			out = append(out, r)
		}
	}
	for _, r := range second {
		if i := t.index(r.Message); i >= 0 && r.Kind != RepairLeadingAssistant {
			r.Message = i
			out = append(out, r)
		}
	}
	return out
}
