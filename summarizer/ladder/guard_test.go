package ladder

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/summarizer"
)

// scriptedBackend answers call after call as it is told; the last answer repeats.
type scriptedBackend struct {
	answers []func(ctx context.Context) (summarizer.Completion, error)
	// at are the times of the calls since the first, in milliseconds.
	at    []int64
	start time.Time
}

func (b *scriptedBackend) Name() string { return "scripted:model" }

func (b *scriptedBackend) Complete(ctx context.Context, _ summarizer.Prompt, onText func(string)) (summarizer.Completion, error) {
	if len(b.at) == 0 {
		b.start = time.Now()
	}
	b.at = append(b.at, time.Since(b.start).Milliseconds())
	if onText != nil {
		onText("piece")
	}
	return b.answers[min(len(b.at), len(b.answers))-1](ctx)
}

func says(text string) func(context.Context) (summarizer.Completion, error) {
	return func(context.Context) (summarizer.Completion, error) {
		return summarizer.Completion{Text: text, Finish: summarizer.FinishStop}, nil
	}
}

func fails(f summarizer.Failure, retryAfter time.Duration) func(context.Context) (summarizer.Completion, error) {
	return func(context.Context) (summarizer.Completion, error) {
		return summarizer.Completion{}, &summarizer.BackendError{Failure: f, RetryAfter: retryAfter, Err: errors.New("scripted")}
	}
}

func hangs(ctx context.Context) (summarizer.Completion, error) {
	<-ctx.Done()
	return summarizer.Completion{}, ctx.Err()
}

func TestGuardRetriesWhatMaySucceedAndNothingElse(t *testing.T) {
	type answer = func(context.Context) (summarizer.Completion, error)
	for _, x := range []struct {
		name     string
		answers  []answer
		options  GuardOptions
		deadline time.Duration
		want     string // the text, or the failure
		attempts int
		// least and most bound the time of the second call, in milliseconds.
		least, most int64
	}{
		{name: "an answer", answers: []answer{says("ok")}, want: "ok", attempts: 1},
		{name: "overloaded once", answers: []answer{fails(summarizer.FailureOverloaded, 0), says("ok")}, want: "ok", attempts: 2, least: 400, most: 600},
		{name: "network twice", answers: []answer{fails(summarizer.FailureNetwork, 0), fails(summarizer.FailureNetwork, 0), says("ok")}, want: "ok", attempts: 3, least: 400, most: 600},
		{name: "overloaded for good", answers: []answer{fails(summarizer.FailureOverloaded, 0)}, want: "overloaded", attempts: 3, least: 400, most: 600},
		{name: "no retries", options: GuardOptions{Retries: -1}, answers: []answer{fails(summarizer.FailureOverloaded, 0)}, want: "overloaded", attempts: 1},
		{name: "wrong key", answers: []answer{fails(summarizer.FailureAuth, 0)}, want: "auth", attempts: 1},
		{name: "no such model", answers: []answer{fails(summarizer.FailureNotFound, 0)}, want: "not_found", attempts: 1},
		{name: "bad request", answers: []answer{fails(summarizer.FailureBadRequest, 0)}, want: "bad_request", attempts: 1},
		{name: "too large", answers: []answer{fails(summarizer.FailureTooLarge, 0)}, want: "too_large", attempts: 1},
		{name: "garbage", answers: []answer{fails(summarizer.FailureBadResponse, 0)}, want: "bad_response", attempts: 1},
		{
			name: "told to wait", answers: []answer{fails(summarizer.FailureRateLimited, 3*time.Second), says("ok")},
			want: "ok", attempts: 2, least: 3000, most: 4600,
		},
		{name: "told to wait too long", answers: []answer{fails(summarizer.FailureRateLimited, time.Minute), says("ok")}, want: "rate_limited", attempts: 1},
		{
			name: "told to wait past the deadline", answers: []answer{fails(summarizer.FailureRateLimited, 3*time.Second), says("ok")},
			deadline: 2 * time.Second, want: "rate_limited", attempts: 1,
		},
		{
			name: "an attempt hangs", options: GuardOptions{AttemptTimeout: time.Second},
			answers: []answer{hangs, says("ok")}, want: "ok", attempts: 2, least: 1400, most: 1600,
		},
		{
			name: "the caller's deadline ends the attempt", answers: []answer{hangs}, deadline: 2 * time.Second,
			want: context.DeadlineExceeded.Error(), attempts: 1,
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if x.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, x.deadline)
					defer cancel()
				}
				backend := &scriptedBackend{answers: x.answers}
				completion, err := Guard(backend, x.options).Complete(ctx, summarizer.Prompt{}, nil)
				got := completion.Text
				if failed, ok := errors.AsType[*summarizer.BackendError](err); ok {
					got = string(failed.Failure)
				} else if err != nil {
					got = err.Error()
				}
				if got != x.want || completion.Attempts != x.attempts || len(backend.at) != x.attempts {
					t.Errorf("%q after %d attempts (%d calls), want %q after %d", got, completion.Attempts, len(backend.at), x.want, x.attempts)
				}
				if len(backend.at) > 1 && (backend.at[1] < x.least || backend.at[1] > x.most) {
					t.Errorf("second call after %d ms, want %d to %d", backend.at[1], x.least, x.most)
				}
			})
		})
	}
}

func TestGuardTellsThatTheTextBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &scriptedBackend{answers: []func(context.Context) (summarizer.Completion, error){fails(summarizer.FailureNetwork, 0), says("ok")}}
		var pieces []string
		_, err := Guard(backend, GuardOptions{}).Complete(t.Context(), summarizer.Prompt{}, func(p string) { pieces = append(pieces, p) })
		if diff := cmp.Diff([]string{"piece", "", "piece"}, pieces); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestTheBreakerOpensAfterFailuresInARowAndClosesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &scriptedBackend{answers: []func(context.Context) (summarizer.Completion, error){
			fails(summarizer.FailureAuth, 0), fails(summarizer.FailureAuth, 0), says("ok"),
		}}
		g := Guard(backend, GuardOptions{BreakerFailures: 2, BreakerDelay: 10 * time.Second})
		failure := func() summarizer.Failure {
			_, err := g.Complete(t.Context(), summarizer.Prompt{}, nil)
			failed, ok := errors.AsType[*summarizer.BackendError](err)
			if !ok {
				return ""
			}
			return failed.Failure
		}
		got := []summarizer.Failure{failure(), failure(), failure()}
		<-time.After(13 * time.Second)
		got = append(got, failure(), failure())
		want := []summarizer.Failure{summarizer.FailureAuth, summarizer.FailureAuth, summarizer.FailureBreakerOpen, "", ""}
		if diff := cmp.Diff(want, got); diff != "" || len(backend.at) != 4 {
			t.Errorf("%d calls (-want +got):\n%s", len(backend.at), diff)
		}
	})
}

func TestOneRequestsFaultDoesNotOpenTheBreaker(t *testing.T) {
	backend := &scriptedBackend{answers: []func(context.Context) (summarizer.Completion, error){fails(summarizer.FailureTooLarge, 0)}}
	g := Guard(backend, GuardOptions{BreakerFailures: 2})
	for range 5 {
		_, _ = g.Complete(t.Context(), summarizer.Prompt{}, nil)
	}
	if len(backend.at) != 5 {
		t.Errorf("%d of 5 calls reached the backend", len(backend.at))
	}
}
