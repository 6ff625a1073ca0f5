package ladder

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/elbowroom/elbowroom/summarizer"
)

// Observation is what is known of one rung that was tried. It holds no text of the
// conversation.
type Observation struct {
	// Rung is its name, Model the model that answered, "" when unknown.
	Rung, Model string
	// Code is why it failed, "" for a summary; Reason explains it.
	Code, Reason string
	// Attempts counts calls to the backend; PromptTokens and CompletionTokens are what
	// it billed for them.
	Attempts, PromptTokens, CompletionTokens int
	// Reused says that nothing was called: the summary was found again or shared.
	Reused bool
	// Duration is how long this request waited.
	Duration time.Duration
}

// Backend splits the rung's name into the kind of its backend and the model that was
// asked, for example "openai" and "gpt-5-mini". Both are empty for the embedded
// summarizer.
func (o Observation) Backend() (kind, model string) {
	kind, model, found := strings.Cut(o.Rung, ":")
	if !found {
		return "", ""
	}
	return kind, model
}

// tryError is a failed try.
type tryError struct {
	// wait is when trying again makes sense, as far as is known.
	wait time.Duration
	err  error
}

func (e *tryError) Error() string { return e.err.Error() }
func (e *tryError) Unwrap() error { return e.err }

var (
	errNoTime      = errors.New("no time is left for a call")
	errCoolingDown = errors.New("it failed for this session a short while ago")
)

// try asks one rung and writes what became of it into the result.
func (l *Ladder) try(ctx context.Context, rung summarizer.Summarizer, call *Call, result *Result) error {
	start := time.Now()
	response, reused, err := l.ask(ctx, rung, call)
	seen := Observation{Rung: rung.Name(), Model: response.Model, Reused: reused, Duration: time.Since(start)}
	if !reused {
		seen.Attempts, seen.PromptTokens, seen.CompletionTokens = response.Calls, response.PromptTokens, response.CompletionTokens
		result.Calls += response.Calls
		result.PromptTokens += response.PromptTokens
		result.CompletionTokens += response.CompletionTokens
	}
	if err != nil {
		seen.Code, seen.Reason = codeOf(err), err.Error()
		if errors.Is(ctx.Err(), context.Canceled) && !errors.Is(err, errClosing) {
			seen.Code = CodeCancelled // whatever the rung made of it
		}
		result.Failed = append(result.Failed, Failed{Name: rung.Name(), Code: seen.Code, Reason: seen.Reason, Attempts: response.Calls})
	} else {
		result.Response, result.Name, result.Reused = response, rung.Name(), reused
	}
	l.observe(ctx, seen)
	return err
}

// ask decides whether the rung is called at all.
func (l *Ladder) ask(ctx context.Context, rung summarizer.Summarizer, call *Call) (response summarizer.Response, reused bool, err error) {
	if embedded(rung) {
		announce(call, rung)
		response, err = rung.Summarize(ctx, call.Request)
		if err == nil {
			err = accept(response, call.Request.Budget)
		}
		return response, false, err
	}
	key := finishedKey(call.Tenant, rung, &call.Request)
	if found, ok := l.finished.get(ctx, key); ok {
		return found, true, nil
	}
	where := place{call.Tenant, call.Session, rung.Name()}
	if left := l.cooldowns.left(ctx, where); left > 0 {
		return response, false, &tryError{wait: left, err: errCoolingDown}
	}
	limited := ctx
	if deadline, ok := ctx.Deadline(); ok {
		if time.Until(deadline) <= Reserve+LeastCall {
			return response, false, &tryError{err: errNoTime}
		}
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(ctx, deadline.Add(-Reserve))
		defer cancel()
	}
	announce(call, rung)
	back := l.aside(ctx)
	response, reused, err = l.flights.do(limited, key, call.Request.OnText, l.call(rung, call, key))
	back()
	switch {
	case err == nil:
		l.cooldowns.succeed(ctx, where)
	case ctx.Err() != nil: // the caller's end says nothing about the rung
	case limited.Err() != nil: // nor does a deadline too short for it
		response.Calls = max(response.Calls, 1)
		err = &summarizer.BackendError{Failure: summarizer.FailureTimeout, Err: errors.New("no answer within the caller's deadline")}
	case errors.Is(err, errBudget), errors.Is(err, errClosing): // nor do a budget that is used up and this server's end
	default:
		// One call failed, however many waited for it.
		wait := l.cooldowns.left(ctx, where)
		if !reused {
			wait = l.cooldowns.fail(ctx, where)
		}
		err = &tryError{wait: wait, err: err}
	}
	return response, reused, err
}

// call is the work that identical requests share: one summary, checked and stored.
func (l *Ladder) call(rung summarizer.Summarizer, call *Call, key string) flightCall {
	req, tenant := call.Request, call.Tenant
	return func(ctx context.Context, onText func(string, bool)) (response summarizer.Response, reused bool, err error) {
		// A request that came while an identical one was finishing, here or on another
		// server, finds its result.
		release, found, ok := l.leases.take(ctx, key)
		if ok {
			return found, true, nil
		}
		defer release()
		settle, err := l.budgets.reserve(ctx, tenant, &req)
		if err != nil {
			return response, false, err
		}
		defer func() { settle(response.PromptTokens + response.CompletionTokens) }()
		req.OnText = onText
		response, err = rung.Summarize(ctx, req)
		if err == nil {
			err = accept(response, req.Budget)
		}
		if err == nil {
			l.finished.put(context.WithoutCancel(ctx), key, response)
		}
		return response, false, err
	}
}

func announce(call *Call, rung summarizer.Summarizer) {
	if call.OnRung != nil {
		call.OnRung(rung.Name())
	}
}

// codeOf is the stable word for a failure.
func codeOf(err error) string {
	if rejected, ok := errors.AsType[*summarizer.RejectedError](err); ok {
		return rejected.Code
	}
	if failed, ok := errors.AsType[*summarizer.BackendError](err); ok {
		return string(failed.Failure)
	}
	switch {
	case errors.Is(err, errNoTime):
		return CodeNoTime
	case errors.Is(err, errCoolingDown):
		return CodeCoolingDown
	case errors.Is(err, errBudget):
		return CodeBudget
	case errors.Is(err, errClosing):
		return CodeClosing
	case errors.Is(err, context.DeadlineExceeded):
		return string(summarizer.FailureTimeout)
	case errors.Is(err, summarizer.ErrBudgetTooSmall):
		return CodeBudgetTooSmall
	case errors.Is(err, summarizer.ErrNothingToSay):
		return CodeNothingToSay
	default:
		return CodeFailed
	}
}
