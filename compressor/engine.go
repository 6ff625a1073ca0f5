package compressor

import (
	"context"
	"errors"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

// Options are what an [Engine] works with.
type Options struct {
	// Counter measures everything. Required.
	Counter *tokens.Counter
	// Ladder writes the summaries. Required.
	Ladder *ladder.Ladder
	// Store holds what sessions share, their savings, and finished compressions.
	// Required.
	Store store.Store
	// Continuity takes an earlier compression of the same messages over, so that a
	// caller who sends the full original history every turn gets the same compressed
	// prefix until the next compression. Without it every call stands alone.
	Continuity bool
	// Policy is the server's default for both layers.
	Policy Policy
	// GatewayThreshold is the gateway layer's share of the window; 0 means
	// [DefaultGatewayThreshold].
	GatewayThreshold float64
	// ModelThresholds override the agent layer's threshold for models whose name
	// contains the key; the longest key wins.
	ModelThresholds map[string]float64
	// StateKeys sign compression states. The first signs, all verify. Without one
	// a state carries a checksum only.
	StateKeys [][]byte
	// Memo remembers what is made of single texts from call to call; nil remembers
	// nothing. No answer depends on it.
	Memo *memo.Memo
}

// Engine compresses conversations. It is safe for concurrent use.
type Engine struct {
	counter  *tokens.Counter
	ladder   *ladder.Ladder
	checker  *fidelity.Checker
	policy   Policy
	gateway  float64
	models   []modelThreshold
	states   stateCodec
	sessions sessions
	// continuity holds finished compressions, nil where every call stands alone.
	continuity *continuity
	memo       *memo.Memo
}

// New returns an engine, or an error that names what is missing.
func New(o Options) (*Engine, error) {
	switch {
	case o.Counter == nil:
		return nil, errors.New("compressor: no token counter")
	case o.Ladder == nil:
		return nil, errors.New("compressor: no ladder of summarizers")
	case o.Store == nil:
		return nil, errors.New("compressor: no store")
	}
	if _, err := resolve(Policy{}, o.Policy, LayerAgent); err != nil {
		return nil, err
	}
	if o.GatewayThreshold == 0 {
		o.GatewayThreshold = DefaultGatewayThreshold
	}
	models, err := newModelThresholds(o.ModelThresholds)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		counter:  o.Counter,
		ladder:   o.Ladder,
		checker:  fidelity.New(),
		policy:   o.Policy,
		gateway:  o.GatewayThreshold,
		models:   models,
		states:   stateCodec{keys: o.StateKeys},
		sessions: sessions{store: o.Store},
		memo:     o.Memo,
	}
	if o.Continuity {
		e.continuity = &continuity{store: o.Store}
	}
	return e, nil
}

// Summarizers lists the names of the ladder, best first.
func (e *Engine) Summarizers() []string { return e.ladder.Names() }

// job is one call of Compress on its way through the phases.
type job struct {
	engine *Engine
	req    Request
	c      *conversation.Conversation
	rules  rules
	budget budgets
	sizes  *measure
	counts tokens.Report
	report *Report

	pairing *conversation.Pairing
	repairs repairs
	rows    []row
	// repaired are the messages of the rows.
	repaired []conversation.Message
	layout   layout
	prune    pruning
	// pointed is the message after the last one that a pointer to a duplicate means.
	pointed int
	earlier earlierSummary
	state   state
	// unnoted is what stays readable but for the note, 0 where none is added.
	unnoted int
}

// Compress returns the decision on one conversation. Errors are [*ArgumentError]
// (the request cannot be served), [*RefusedError] (the conversation is illegal
// beyond repair), [*SummarizerError] (under [FailureAbort]), the context's own,
// and [ErrBroken]; with an error there is no result at all.
func (e *Engine) Compress(ctx context.Context, req Request) (*Result, error) {
	j, result := e.newJob(req)
	j.progress(Progress{Phase: PhaseCounting})
	if err := j.prepare(ctx); err != nil {
		return nil, err
	}
	j.progress(Progress{Phase: PhasePlanning, Tokens: j.counts.Tokens})
	var links chain
	if e.continuity != nil && j.rules.enabled && len(j.c.Messages) > 0 {
		links = j.newChain()
		if taken, err := j.takeOver(ctx, links); taken != nil || err != nil {
			return taken, err
		}
		result.Report.Continuity.Looked = true
	}
	if err := j.run(ctx, result); err != nil {
		return nil, err
	}
	if links != nil && result.Outcome.Changed() {
		j.remember(ctx, links, result, j.pointed)
	}
	if len(result.State) == 0 && !result.Outcome.Changed() {
		result.State = j.standingState()
	}
	return result, nil
}

// standingState is the caller's state once more where nothing was changed, so that
// callers may always keep the newest one. A state that fails its check is not given
// back.
func (j *job) standingState() []byte {
	if s, _ := j.engine.states.open(j.req.Tenant, j.req.State); s.Round > 0 {
		return j.req.State
	}
	return nil
}

// newJob starts a call with an empty result.
func (e *Engine) newJob(req Request) (*job, *Result) {
	result := &Result{Rewrite: conversation.NewRewrite(req.Conversation)}
	return &job{engine: e, req: req, c: req.Conversation, report: &result.Report}, result
}

// run decides on the conversation as it came.
func (j *job) run(ctx context.Context, result *Result) error {
	v, err := j.decide(ctx, result.Rewrite, result)
	if err != nil {
		return err
	}
	j.conclude(result, v)
	return nil
}

// verdict is an outcome with its reason.
type verdict struct {
	outcome Outcome
	reason  string
}

// prepare resolves the policy and counts the conversation.
func (j *job) prepare(ctx context.Context) error {
	var err error
	if j.rules, err = j.engine.rulesFor(j.req); err != nil {
		return err
	}
	window := j.req.ContextWindow
	if window <= 0 {
		window = j.req.Model.ContextWindow
	}
	j.budget = j.rules.newBudgets(window, j.req.MaxOutputTokens)
	if j.sizes, err = newMeasure(ctx, j.engine.counter, j.req.Model, j.c); err != nil {
		return err
	}
	j.counts = j.sizes.report()
	r := j.report
	r.TokensBefore, r.TokensAfter = j.counts.Tokens, j.counts.Tokens
	r.MessagesBefore, r.MessagesAfter = len(j.c.Messages), len(j.c.Messages)
	r.ContextWindow, r.ThresholdTokens, r.TailBudgetTokens = j.budget.window, j.budget.threshold, j.budget.tail
	r.SummaryIndex, r.CountedBy, r.FrontMessages = -1, j.counts.Encoding, j.frontMessages(j.c)
	r.Warnings = append(r.Warnings, j.c.Warnings...)
	return nil
}

// decide runs the gate and the phases. Where it returns an outcome that changes
// nothing, the rewrite has been left empty.
func (j *job) decide(ctx context.Context, rewrite *conversation.Rewrite, result *Result) (verdict, error) {
	j.judge()
	if v, stop := j.gate(ctx); stop {
		if v.outcome == OutcomeBelowThreshold {
			j.readAhead(ctx)
		}
		return v, nil
	}
	if v, stop, err := j.plan(ctx); err != nil || stop {
		return v, err
	}
	if v, stop := j.deferThinking(); stop {
		return v, nil
	}
	j.planDuplicates()
	j.reportRegions()
	if j.req.PlanOnly {
		j.report.Change = j.plannedChange()
		return verdict{OutcomePlanned, "plan only: nothing was changed"}, nil
	}
	summary, v, err := j.summarize(ctx)
	if err == nil && summary.rung == RungPruneOnly && len(j.report.FailedRungs) == 0 {
		summary, v, err = j.settle(ctx, summary)
	}
	if err != nil || v.outcome != OutcomeUnspecified {
		return v, err
	}
	return j.finish(ctx, rewrite, result, summary)
}

// plan runs the phases that look at the conversation and call nobody.
func (j *job) plan(ctx context.Context) (verdict, bool, error) {
	j.pairing = conversation.Pair(j.c)
	if err := j.refuse(); err != nil {
		return verdict{}, true, err
	}
	j.findRepairs()
	if err := j.layRows(ctx); err != nil {
		return verdict{}, true, err
	}
	j.findEarlier()
	j.planPruning()
	return j.planBoundaries(ctx)
}

// conclude writes the verdict into the result.
func (j *job) conclude(result *Result, v verdict) {
	r := &result.Report
	result.Outcome, r.Reason = v.outcome, v.reason
	if !v.outcome.Changed() || result.Rewrite.Empty() {
		result.Rewrite = conversation.NewRewrite(j.c)
		result.Summary, result.State = "", nil
		r.TokensAfter, r.MessagesAfter = r.TokensBefore, r.MessagesBefore
		r.Rung, r.Round, r.MessagesSummarized, r.ThinkingRemoved = RungNone, 0, 0, 0
		r.SummaryTokens, r.SummaryIndex, r.Fidelity = 0, -1, nil
		r.Repairs = nil
		if v.outcome != OutcomePlanned {
			r.Pruned, r.Change = nil, nil
		}
	}
	missed := j.rules.targetTokens > 0 && r.TokensAfter > j.rules.targetTokens
	switch v.outcome {
	case OutcomeCompressed, OutcomeTooShort, OutcomeNoGain:
		if missed && len(j.c.Messages) > 0 {
			result.Outcome = OutcomeTargetUnreachable
			r.Reason = targetReason(r, j.rules.targetTokens, v)
		}
	}
}
