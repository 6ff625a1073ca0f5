package ladder

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/elbowroom/elbowroom/summarizer"
)

// The defaults of [GuardOptions].
const (
	DefaultAttemptTimeout  = 60 * time.Second
	DefaultRetries         = 2
	DefaultBackoff         = 500 * time.Millisecond
	DefaultMaxBackoff      = 8 * time.Second
	DefaultMaxRetryAfter   = 20 * time.Second
	DefaultBreakerFailures = 5
	DefaultBreakerDelay    = 30 * time.Second
)

// jitter is the share by which the wait before a retry varies at random, so that
// clients that failed together do not come back together.
const jitter = 0.2

// GuardOptions say how long to try. The zero value takes the defaults.
type GuardOptions struct {
	// AttemptTimeout bounds one attempt. Default 60 seconds.
	AttemptTimeout time.Duration
	// Retries is how many attempts may follow a failed one that may succeed when
	// made again; negative means none. Default 2.
	Retries int
	// Backoff is the wait before the first retry; it doubles up to MaxBackoff.
	// Defaults 500 milliseconds and 8 seconds.
	Backoff, MaxBackoff time.Duration
	// MaxRetryAfter is the longest wait that a backend may ask for; a call whose
	// backend asks for more is given up. Default 20 seconds.
	MaxRetryAfter time.Duration
	// BreakerFailures is how many requests that failed in a row, each with its
	// retries, stop calls for BreakerDelay.
	// Defaults 5 and 30 seconds.
	BreakerFailures uint
	BreakerDelay    time.Duration
}

func (o GuardOptions) withDefaults() GuardOptions {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	set(&o.AttemptTimeout, DefaultAttemptTimeout)
	set(&o.Backoff, DefaultBackoff)
	set(&o.MaxBackoff, DefaultMaxBackoff)
	set(&o.MaxRetryAfter, DefaultMaxRetryAfter)
	set(&o.BreakerDelay, DefaultBreakerDelay)
	if o.Retries == 0 {
		o.Retries = DefaultRetries
	}
	if o.BreakerFailures == 0 {
		o.BreakerFailures = DefaultBreakerFailures
	}
	o.Retries = max(o.Retries, 0)
	o.MaxBackoff = max(o.MaxBackoff, o.Backoff+1)
	return o
}

// Guarded is a [summarizer.Backend] behind timeouts, retries and a breaker.
type Guarded struct {
	backend summarizer.Backend
	options GuardOptions
	breaker circuitbreaker.CircuitBreaker[summarizer.Completion]
}

var _ summarizer.Backend = (*Guarded)(nil)

// Guard wraps a backend. Every backend has a breaker of its own: wrap it once.
func Guard(backend summarizer.Backend, o GuardOptions) *Guarded {
	o = o.withDefaults()
	return &Guarded{
		backend: backend,
		options: o,
		breaker: circuitbreaker.NewBuilder[summarizer.Completion]().
			HandleIf(func(_ summarizer.Completion, err error) bool { return countsAgainst(err) }).
			WithFailureThreshold(o.BreakerFailures).
			WithSuccessThreshold(1).
			WithDelay(o.BreakerDelay).
			WithJitterFactor(jitter).
			Build(),
	}
}

// Name is the backend's.
func (g *Guarded) Name() string { return g.backend.Name() }

// Complete calls the backend until it answers, fails for good, or was tried often
// enough. Its errors are those of the last attempt.
func (g *Guarded) Complete(ctx context.Context, prompt summarizer.Prompt, onText func(string)) (summarizer.Completion, error) {
	attempts := 0
	// The breaker stands outside: one request counts once, however often it was tried.
	completion, err := failsafe.With[summarizer.Completion](g.breaker, g.retries(ctx)).WithContext(ctx).Get(func() (summarizer.Completion, error) {
		if attempts++; attempts > 1 && onText != nil {
			onText("")
		}
		return g.attempt(ctx, prompt, onText)
	})
	switch {
	case ctx.Err() != nil && err != nil:
		err = ctx.Err()
	case errors.Is(err, circuitbreaker.ErrOpen):
		err = &summarizer.BackendError{
			Failure: summarizer.FailureBreakerOpen, RetryAfter: g.breaker.RemainingDelay(),
			Err: errors.New("too many calls failed a short while ago"),
		}
	}
	completion.Attempts = attempts
	return completion, err
}

// attempt is one call under the attempt's own deadline.
func (g *Guarded) attempt(ctx context.Context, prompt summarizer.Prompt, onText func(string)) (summarizer.Completion, error) {
	attempt, cancel := context.WithTimeout(ctx, g.options.AttemptTimeout)
	defer cancel()
	completion, err := g.backend.Complete(attempt, prompt, onText)
	if err != nil && attempt.Err() != nil && ctx.Err() == nil {
		return completion, &summarizer.BackendError{Failure: summarizer.FailureTimeout, Err: errors.New("no answer in time")}
	}
	return completion, err
}

// retries is the policy of one call: it knows the call's deadline.
func (g *Guarded) retries(ctx context.Context) retrypolicy.RetryPolicy[summarizer.Completion] {
	deadline, limited := ctx.Deadline()
	// A wait that ends at the deadline leaves no time for the attempt.
	useless := func(wait time.Duration) bool {
		return wait > g.options.MaxRetryAfter || limited && time.Until(deadline) <= wait
	}
	return retrypolicy.NewBuilder[summarizer.Completion]().
		HandleIf(func(_ summarizer.Completion, err error) bool {
			failed, ok := errors.AsType[*summarizer.BackendError](err)
			return ok && failed.Failure.Retryable() && !useless(failed.RetryAfter)
		}).
		ReturnLastFailure().
		WithMaxRetries(g.options.Retries).
		WithBackoff(g.options.Backoff, g.options.MaxBackoff).
		WithJitterFactor(jitter).
		WithDelayFunc(func(exec failsafe.ExecutionAttempt[summarizer.Completion]) time.Duration {
			failed, ok := errors.AsType[*summarizer.BackendError](exec.LastError())
			if !ok || failed.RetryAfter <= 0 {
				return -1 // the backoff
			}
			// Jitter goes both ways, and coming back too early only fails again.
			return time.Duration(float64(failed.RetryAfter) / (1 - jitter))
		}).
		Build()
}

// countsAgainst reports whether a failure says something about the backend and not
// about the one request or its caller.
func countsAgainst(err error) bool {
	failed, ok := errors.AsType[*summarizer.BackendError](err)
	if !ok {
		return false
	}
	switch failed.Failure {
	case summarizer.FailureTooLarge, summarizer.FailureBadRequest:
		return false
	default:
		return true
	}
}
