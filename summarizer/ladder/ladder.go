package ladder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
)

const (
	// DefaultCallLimit bounds one rung's work on one request, retries and parts
	// included.
	DefaultCallLimit = 3 * time.Minute
	// DefaultLinger is how long a call goes on when everybody who waited for it ran
	// out of time.
	DefaultLinger = 2 * time.Second
	// Reserve is the time kept back of the caller's deadline for the embedded
	// summarizer and for putting the result together.
	Reserve = 300 * time.Millisecond
	// LeastCall is the least time that a call to a language model is worth: with no
	// more than Reserve and LeastCall left none is made.
	LeastCall = 200 * time.Millisecond
)

// Codes of rungs that were skipped or failed outside a backend and its answer; see
// [summarizer.Failure] and the Reject constants for the others.
const (
	CodeNoTime      = "no_time"      // the caller's deadline leaves no time for the call
	CodeCoolingDown = "cooling_down" // the session's earlier calls failed
	CodeBudget      = "budget"       // the tenant has used up its tokens
	CodeClosing     = "closing"      // the server is shutting down
	CodeCancelled   = "cancelled"    // the caller went away
	CodeFailed      = "failed"       // anything else

	CodeBudgetTooSmall = "budget_too_small" // the embedded one has no room
	CodeNothingToSay   = "nothing_to_say"   // the embedded one found nothing worth quoting
)

// Options are what a [Ladder] works with.
type Options struct {
	// Rungs are the summarizers, best first. Required: at least one.
	Rungs []summarizer.Summarizer
	// Store holds cooldowns, budgets and finished summaries, and says which of the
	// servers that share it makes a call. Required.
	Store store.Store
	// CallLimit bounds one rung's work on one request. Default 3 minutes.
	CallLimit time.Duration
	// Linger is how long a call goes on when everybody who waited for it ran out of
	// time: an answer that comes then is found by the retry. Default 2 seconds;
	// negative ends the call at once.
	Linger time.Duration
	// Keep is how long finished summaries are found again. Default 24 hours.
	Keep time.Duration
	// TenantTokens bounds what language models read and write for one tenant in an
	// hour, in tokens. 0: no bound.
	TenantTokens int64
	// Observe, when not nil, is told of every rung that was tried.
	Observe func(ctx context.Context, call Observation)
	// Aside, when not nil, is told that a request begins to wait for a language model,
	// and what it returns is called when the wait is over. The request needs no
	// processor in between.
	Aside func(ctx context.Context) (back func())
	// Now is the clock of cooldowns; nil means time.Now.
	Now func() time.Time
}

// Ladder is a list of summarizers. It is safe for concurrent use.
type Ladder struct {
	rungs     []summarizer.Summarizer
	cooldowns cooldowns
	finished  finished
	flights   flights
	leases    leases
	budgets   budgets
	observe   func(context.Context, Observation)
	aside     func(context.Context) (back func())
}

// New returns a ladder, or an error that names what is missing.
func New(o Options) (*Ladder, error) {
	switch {
	case len(o.Rungs) == 0:
		return nil, errors.New("ladder: no summarizer")
	case o.Store == nil:
		return nil, errors.New("ladder: no store")
	}
	if o.Linger == 0 {
		o.Linger = DefaultLinger
	}
	if o.Keep <= 0 {
		o.Keep = DefaultKeep
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Observe == nil {
		o.Observe = func(context.Context, Observation) {}
	}
	if o.Aside == nil {
		o.Aside = func(context.Context) func() { return func() {} }
	}
	l := &Ladder{
		rungs:     o.Rungs,
		cooldowns: cooldowns{store: o.Store, now: o.Now},
		finished:  finished{store: o.Store, keep: o.Keep},
		flights:   flights{linger: o.Linger},
		leases:    leases{store: o.Store, finished: finished{store: o.Store, keep: o.Keep}},
		budgets:   budgets{store: o.Store, now: o.Now},
		observe:   o.Observe,
		aside:     o.Aside,
	}
	l.SetLimits(o.CallLimit, o.TenantTokens)
	return l, nil
}

// SetLimits changes [Options.CallLimit] and [Options.TenantTokens] for calls that
// begin from now on. What tenants have used counts.
func (l *Ladder) SetLimits(callLimit time.Duration, tenantTokens int64) {
	if callLimit <= 0 {
		callLimit = DefaultCallLimit
	}
	l.flights.setLimit(callLimit)
	l.budgets.tokens.Store(tenantTokens)
}

// Names lists the rungs, best first.
func (l *Ladder) Names() []string {
	names := make([]string, len(l.rungs))
	for i, rung := range l.rungs {
		names[i] = rung.Name()
	}
	return names
}

// Close ends the calls to language models under way and makes no more: the embedded
// summarizer takes over at once, or the request fails where [Call.Abort] is set.
func (l *Ladder) Close() { l.flights.close() }

// Wait returns when the calls that [Ladder.Close] ended are over, or when ctx ends. Then
// other servers that share the store may make them, and the store may be closed.
func (l *Ladder) Wait(ctx context.Context) { l.flights.wait(ctx) }

// Call is one request for a summary.
type Call struct {
	Request summarizer.Request
	// Tenant separates callers that must not share anything; Session scopes the
	// cooldowns and switches them off when empty.
	Tenant, Session string
	// From is the name of the first rung to try; "" is the best.
	From string
	// Abort makes the failure of the language models an [*AbortedError]: no embedded
	// summarizer takes over.
	Abort bool
	// OnRung, when not nil, is told which rung is tried next.
	OnRung func(name string)
}

// Failed is a rung that was tried or skipped without a summary.
type Failed struct {
	Name string
	// Code is a stable word, Reason its explanation, free of conversation text.
	Code, Reason string
	// Attempts counts calls, 0 for a rung that was skipped.
	Attempts int
}

// Result is a finished summary and how it came about.
type Result struct {
	Response summarizer.Response
	// Name is the rung that wrote it.
	Name string
	// Failed are the rungs before it.
	Failed []Failed
	// Reused says that it was found again or shared with another request.
	Reused bool
	// Calls, PromptTokens and CompletionTokens are what all rungs were billed for this
	// request.
	Calls, PromptTokens, CompletionTokens int
}

// AbortedError is returned where the language models failed and [Call.Abort]
// forbids another way.
type AbortedError struct {
	// RetryAfter is when another try makes sense.
	RetryAfter time.Duration
	// Err is the last failure.
	Err error
}

func (e *AbortedError) Error() string { return "no language model wrote a summary: " + e.Err.Error() }

// Unwrap returns the last failure.
func (e *AbortedError) Unwrap() error { return e.Err }

// ErrExhausted says that every rung failed. The result says why.
var ErrExhausted = errors.New("ladder: every summarizer failed")

// Cooling is how long all language models of the ladder are still cooling down for
// a session, 0 when one of them may be called or there is none.
func (l *Ladder) Cooling(ctx context.Context, tenant, session, from string) time.Duration {
	least, models := time.Duration(0), 0
	for _, rung := range l.from(from) {
		if embedded(rung) {
			continue
		}
		left := l.cooldowns.left(ctx, place{tenant, session, rung.Name()})
		if models++; models == 1 || left < least {
			least = left
		}
	}
	return least
}

// Summarize returns the first summary that a rung writes. Errors are [ErrExhausted],
// [*AbortedError], the embedded summarizer's [summarizer.ErrBudgetTooSmall] and
// [summarizer.ErrNothingToSay], and the context's; the result then still holds what
// failed and what was billed.
func (l *Ladder) Summarize(ctx context.Context, call Call) (Result, error) {
	var result Result
	var last error
	wait := time.Duration(0)
	for _, rung := range l.from(call.From) {
		if embedded(rung) && call.Abort && last != nil {
			break
		}
		err := l.try(ctx, rung, &call, &result)
		switch {
		case err == nil:
			return result, nil
		case ctx.Err() != nil:
			return result, fmt.Errorf("summarize: %w", ctx.Err())
		case errors.Is(err, summarizer.ErrBudgetTooSmall), errors.Is(err, summarizer.ErrNothingToSay):
			return result, err
		}
		last = fmt.Errorf("%s: %w", rung.Name(), err)
		failed, ok := errors.AsType[*tryError](err)
		if ok {
			wait = max(wait, failed.wait)
		}
	}
	if call.Abort {
		return result, &AbortedError{RetryAfter: wait, Err: last}
	}
	return result, fmt.Errorf("%w; last %w", ErrExhausted, last)
}

// from is the ladder from the rung of that name on; all of it for "" and for a name
// that it does not have.
func (l *Ladder) from(name string) []summarizer.Summarizer {
	for i, rung := range l.rungs {
		if rung.Name() == name {
			return l.rungs[i:]
		}
	}
	return l.rungs
}

// embedded reports whether a rung works in this process, without a model: it costs
// milliseconds and nothing else, so none of the ladder's care applies to it.
func embedded(rung summarizer.Summarizer) bool { return rung.Name() == summarizer.Extractive }

// accept refuses what no backend may give as a summary.
func accept(r summarizer.Response, budget int) error {
	switch {
	case conversation.Blank(r.Text):
		return &summarizer.RejectedError{Code: summarizer.RejectEmpty}
	case r.Tokens > budget:
		return &summarizer.RejectedError{
			Code: summarizer.RejectOverBudget, Detail: fmt.Sprintf("%d tokens, %d were allowed", r.Tokens, budget),
		}
	default:
		return nil
	}
}
