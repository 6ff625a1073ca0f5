package compressor

import (
	"context"
	"errors"

	"github.com/elbowroom/elbowroom/internal/parallel"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// gainShare is how much of what it replaces a summary may cost at most, its
// frame included: a summary as large as its source helps nobody.
const gainShare = 0.8

// summary is a finished summary, or the zero value when none was needed.
type summary struct {
	body string
	rung Rung
}

// summarize runs the ladder over the middle. Where no rung can make the
// conversation smaller it returns the outcome that says so.
func (j *job) summarize(ctx context.Context) (summary, verdict, error) {
	if j.layout.pruneOnly {
		return summary{rung: RungPruneOnly}, verdict{}, nil
	}
	req := j.summaryRequest()
	j.report.SummaryBudgetTokens = req.Budget
	if req.Budget <= 0 {
		return j.pruneOnly(ctx, "the messages that could be summarized are smaller than a summary of them")
	}
	rung, summarized := "", 0
	for _, turn := range req.Turns {
		summarized += j.counts.Messages[turn.Index]
	}
	if j.req.OnText != nil {
		req.OnText = func(piece string, restart bool) { j.req.OnText(rung, piece, restart) }
	}
	call := req
	call.Budget -= factReserve(req.Budget)
	check := j.factRequest(req)
	var source *fidelity.Source
	var result ladder.Result
	var err error
	parallel.Both(func() {
		result, err = j.engine.ladder.Summarize(ctx, ladder.Call{
			Request: call, Tenant: j.req.Tenant, Session: j.req.SessionID, From: j.rules.summarizer,
			Abort: j.rules.failurePolicy == FailureAbort,
			OnRung: func(name string) {
				rung = name
				j.progress(Progress{Phase: PhaseSummarizing, Tokens: j.counts.Tokens, Summarized: summarized, Summarizer: name})
			},
		})
	}, func() {
		if j.quotes() { // what others write is checked with its secrets replaced, which takes its time
			source = j.engine.checker.Read(check)
		}
	})
	j.bill(result)
	if err == nil {
		s, err := j.checkFacts(ctx, check, source, req.Budget, result)
		return s, verdict{}, err
	}
	if ctx.Err() != nil {
		return summary{}, verdict{}, err
	}
	if aborted, ok := errors.AsType[*ladder.AbortedError](err); ok {
		return summary{}, verdict{}, &SummarizerError{RetryAfter: aborted.RetryAfter, Err: aborted.Err}
	}
	switch {
	case errors.Is(err, summarizer.ErrBudgetTooSmall):
		return summary{}, verdict{OutcomeNoGain, "no room is left for a summary"}, nil
	case errors.Is(err, summarizer.ErrNothingToSay):
		return summary{}, verdict{OutcomeNoGain, "the middle holds nothing that could be summarized"}, nil
	default:
		return j.pruneOnly(ctx, "every summarizer failed and there was nothing to prune")
	}
}

// pruneOnly goes on without a summary where there is something to prune or to
// repair, and otherwise says why nothing is done.
func (j *job) pruneOnly(ctx context.Context, reason string) (summary, verdict, error) {
	if err := j.pruneAll(ctx); err != nil {
		return summary{}, verdict{}, err
	}
	if !j.prune.any() && !j.repairs.any() {
		return summary{}, verdict{OutcomeNoGain, reason}, nil
	}
	j.layout.pruneOnly = true
	j.report.MessagesSummarized = 0
	j.reportRegions()
	return summary{rung: RungPruneOnly}, verdict{}, nil
}

// summaryRequest gathers what the summarizer sees: every message of the middle
// as it came, even those a repair would have dropped.
func (j *job) summaryRequest() summarizer.Request {
	kept := j.keptMessages()
	req := summarizer.Request{
		Calls: j.callOf, Previous: j.earlier.told, Round: j.round(), Focus: j.req.Focus,
		Count: j.sizes.text, KeepSecrets: !j.rules.redact, Memo: j.memo(),
	}
	summarized := 0
	for i := range j.c.Messages {
		if !kept[i] && !j.earlier.messages[i] {
			req.Turns = append(req.Turns, summarizer.Turn{Index: i, Message: &j.c.Messages[i]})
			summarized += j.counts.Messages[i]
		}
	}
	if q := newestRequest(j.rows); q >= 0 {
		req.Latest = j.message(q).Text()
	}
	j.report.MessagesSummarized = len(req.Turns)
	req.Budget = j.summaryBudget(summarized)
	return req
}

// summaryBudget is what the summary's body may cost: the published share of what
// it replaces, never less than the earlier summary had, and never so much that
// the conversation does not become smaller or misses its target.
func (j *job) summaryBudget(summarized int) int {
	budget := j.rules.summary(j.budget.window, summarized)
	budget = max(budget, min(j.earlier.tokens, j.rules.summary(j.budget.window, 1<<30)))
	overhead := frameTokens
	if j.addsNote() {
		overhead += noteTokens
	}
	// What an earlier summary took is free again; only the new messages have to
	// shrink.
	budget = min(budget, j.earlier.tokens+int(gainShare*float64(summarized))-overhead)
	if j.rules.targetTokens > 0 {
		kept := j.fixedTokens()
		for r := range j.rows {
			if j.keptRow(r) {
				kept += j.rows[r].cost
			}
		}
		room := j.rules.targetTokens - kept - frameTokens
		budget = min(budget, max(room, smallestSummary))
	}
	return budget
}

// bill writes what the ladder did into the report.
func (j *job) bill(result ladder.Result) {
	j.report.FailedRungs = result.Failed
	j.report.Redactions = result.Response.Redactions
	j.report.Summarizer = SummarizerUsage{
		Name: result.Name, Model: result.Response.Model, Reused: result.Reused,
		Calls: result.Calls, PromptTokens: result.PromptTokens, CompletionTokens: result.CompletionTokens,
	}
}

func rungOf(name string) Rung {
	if name == summarizer.Extractive {
		return RungExtractive
	}
	return RungLLM
}
