// Package backendtest is what every backend that speaks HTTP must do with every
// answer a server can give: one table, played by a double of the backend's wire,
// once asking for a whole answer and once for a stream.
package backendtest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/summarizer"
)

// Backend is one wire and the backend that speaks it.
type Backend struct {
	// Double starts a double of the wire.
	Double func(tb testing.TB, steps ...wiredouble.Step) *wiredouble.Double
	// New makes a backend for the double.
	New func(tb testing.TB, double *wiredouble.Double) summarizer.Backend
}

const (
	// text has words of several scripts and characters that JSON escapes.
	text = "## Goal\nShip \"v2\" — für Zoë, 北京 & <done>.\n\n## Next steps\n1. Tag it. \\ 🙂"
	// systemSecret and userSecret must be in no error.
	systemSecret, userSecret = "the-system-secret", "the-user-secret"
	limit                    = 321
	// patience is long enough for a loaded machine; every call that should end by
	// itself ends long before.
	patience = 30 * time.Second
	// short is the deadline of calls that do not end by themselves.
	short = 150 * time.Millisecond
)

// prompt is what every test sends.
func prompt() summarizer.Prompt {
	return summarizer.Prompt{System: "Summarize. " + systemSecret, User: "[USER]: " + userSecret, MaxTokens: limit}
}

type row struct {
	name     string
	step     wiredouble.Step
	deadline time.Duration
	want     outcome
	// streamed is the outcome of a stream where it is another.
	streamed *outcome
}

// outcome is how a call ended.
type outcome struct {
	Completion summarizer.Completion
	Failure    summarizer.Failure
	Status     int
	RetryAfter time.Duration
}

func answered(text string, finish summarizer.Finish) outcome {
	return outcome{Completion: summarizer.Completion{
		Text: text, Finish: finish, Model: wiredouble.Model,
		PromptTokens: wiredouble.PromptTokens, CompletionTokens: wiredouble.CompletionTokens,
	}}
}

func failed(failure summarizer.Failure, status int) outcome {
	return outcome{Failure: failure, Status: status}
}

func after(wait time.Duration, o outcome) outcome {
	o.RetryAfter = wait
	return o
}

func withoutUsage(o outcome) outcome {
	o.Completion.PromptTokens, o.Completion.CompletionTokens = 0, 0
	return o
}

// rows are the same for every wire.
func rows() []row {
	date := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	network := failed(summarizer.FailureNetwork, 0)
	table := []row{
		{name: "a complete answer", step: wiredouble.Text(text), want: answered(text, summarizer.FinishStop)},
		{name: "a long answer", step: wiredouble.Text(strings.Repeat(text, 500)), want: answered(strings.Repeat(text, 500), summarizer.FinishStop)},
		{name: "an empty answer", step: wiredouble.Empty(), want: answered("", summarizer.FinishStop)},
		{name: "white space only", step: wiredouble.Text(" \n "), want: answered(" \n ", summarizer.FinishStop)},
		{name: "cut at the length limit", step: wiredouble.Length(text), want: answered(text, summarizer.FinishLength)},
		{name: "a refusal", step: wiredouble.Refusal(), want: answered("", summarizer.FinishRefusal)},
		{name: "ended by a content filter", step: wiredouble.Filtered("## Goal"), want: answered("## Goal", summarizer.FinishRefusal)},
		{name: "a tool call only", step: wiredouble.ToolCallOnly(), want: answered("", summarizer.FinishToolCalls)},
		{name: "a tool call that calls itself complete", step: wiredouble.ToolCallSaidStop(), want: answered("", summarizer.FinishToolCalls)},
		{name: "reasoning is left out", step: wiredouble.Thinking("Let me think about this.", text), want: answered(text, summarizer.FinishStop)},
		{name: "reasoning only", step: wiredouble.Thinking("Let me think about this.", ""), want: answered("", summarizer.FinishStop)},
		{name: "no usage", step: wiredouble.NoUsage(text), want: withoutUsage(answered(text, summarizer.FinishStop))},

		{name: "400", step: wiredouble.Status(400), want: failed(summarizer.FailureBadRequest, 400)},
		{name: "401", step: wiredouble.Status(401), want: failed(summarizer.FailureAuth, 401)},
		{name: "402", step: wiredouble.Status(402), want: failed(summarizer.FailureQuota, 402)},
		{name: "403", step: wiredouble.Status(403), want: failed(summarizer.FailureAuth, 403)},
		{name: "404, no such model", step: wiredouble.Status(404), want: failed(summarizer.FailureNotFound, 404)},
		{name: "404, no such page", step: wiredouble.HTML(404), want: failed(summarizer.FailureNotFound, 404)},
		{name: "408", step: wiredouble.Status(408), want: failed(summarizer.FailureOverloaded, 408)},
		{name: "409", step: wiredouble.Status(409), want: failed(summarizer.FailureOverloaded, 409)},
		{name: "413", step: wiredouble.Status(413), want: failed(summarizer.FailureTooLarge, 413)},
		{name: "422", step: wiredouble.Status(422), want: failed(summarizer.FailureBadRequest, 422)},
		{name: "429", step: wiredouble.Status(429), want: failed(summarizer.FailureRateLimited, 429)},
		{
			name: "429, back in seconds", step: wiredouble.Status(429).With("Retry-After", "7"),
			want: after(7*time.Second, failed(summarizer.FailureRateLimited, 429)),
		},
		{
			name: "429, back at a date", step: wiredouble.Status(429).With("Date", date.Format(http.TimeFormat)).
				With("Retry-After", date.Add(90*time.Second).Format(http.TimeFormat)),
			want: after(90*time.Second, failed(summarizer.FailureRateLimited, 429)),
		},
		{
			name: "429, back in milliseconds", step: wiredouble.Status(429).With("Retry-After", "3").With("Retry-After-Ms", "1250"),
			want: after(1250*time.Millisecond, failed(summarizer.FailureRateLimited, 429)),
		},
		{name: "500", step: wiredouble.Status(500), want: failed(summarizer.FailureOverloaded, 500)},
		{name: "502, an error page", step: wiredouble.HTML(502), want: failed(summarizer.FailureOverloaded, 502)},
		{
			name: "503, back in seconds", step: wiredouble.Status(503).With("Retry-After", "2"),
			want: after(2*time.Second, failed(summarizer.FailureOverloaded, 503)),
		},
		{name: "504", step: wiredouble.Status(504), want: failed(summarizer.FailureOverloaded, 504)},
		{name: "529", step: wiredouble.Status(529), want: failed(summarizer.FailureOverloaded, 529)},
		{name: "an error without a body", step: wiredouble.Raw(503, "", ""), want: failed(summarizer.FailureOverloaded, 503)},
		{name: "the prompt is larger than the window", step: wiredouble.ContextLength(), want: failed(summarizer.FailureTooLarge, 400)},
		{
			name: "a redirect is not followed", step: wiredouble.Raw(307, "text/plain", "").With("Location", "/elsewhere"),
			want: failed(summarizer.FailureBadResponse, 307),
		},

		{name: "garbage", step: wiredouble.Garbage(), want: failed(summarizer.FailureBadResponse, 0)},
		{name: "a wrong content type", step: wiredouble.WrongType(text), want: failed(summarizer.FailureBadResponse, 200)},
		{name: "a page with status 200", step: wiredouble.HTML(200), want: failed(summarizer.FailureBadResponse, 200)},
		{name: "no content with status 204", step: wiredouble.Raw(204, "", ""), want: failed(summarizer.FailureBadResponse, 204)},
		{name: "an empty document", step: wiredouble.Raw(200, "application/json", "{}"), want: failed(summarizer.FailureBadResponse, 0)},
		{name: "null", step: wiredouble.Raw(200, "application/json", "null"), want: failed(summarizer.FailureBadResponse, 0)},
		{name: "a list", step: wiredouble.Raw(200, "application/json", "[1,2]"), want: failed(summarizer.FailureBadResponse, 0)},
		{name: "nothing at all with status 200", step: wiredouble.Raw(200, "application/json", ""), want: failed(summarizer.FailureBadResponse, 0)},
		{name: "an error with status 200", step: wiredouble.ErrorInside(), want: failed(summarizer.FailureOverloaded, 200)},
		{name: "an error in the middle", step: wiredouble.ErrorMidway(text), want: failed(summarizer.FailureOverloaded, 200)},
		{name: "half a document", step: wiredouble.Truncated(text), want: failed(summarizer.FailureBadResponse, 0), streamed: &network},
		{name: "broken off", step: wiredouble.EarlyEnd(text), want: network},
		{name: "reset before the answer", step: wiredouble.Reset(), want: network},
		{name: "reset in the middle", step: wiredouble.ResetMidway(text), want: network},
		{name: "a hundred megabytes", step: wiredouble.Huge(100 << 20), want: failed(summarizer.FailureBadResponse, 0)},
	}
	for _, endless := range []row{
		{name: "silence", step: wiredouble.Hang()},
		{name: "silence in the middle", step: wiredouble.HangMidway(text)},
		{name: "a slow drip", step: wiredouble.Drip(5 * time.Millisecond)},
		{name: "keep-alives only", step: wiredouble.Pings(5 * time.Millisecond)},
	} {
		endless.deadline, endless.want = short, failed(summarizer.FailureTimeout, 0)
		table = append(table, endless)
	}
	return table
}

// Run runs the suite.
func Run(t *testing.T, under Backend) {
	t.Helper()
	for _, mode := range []struct {
		name   string
		stream bool
	}{{"whole", false}, {"streamed", true}} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			for _, row := range rows() {
				t.Run(row.name, func(t *testing.T) {
					t.Parallel()
					want := row.want
					if mode.stream && row.streamed != nil {
						want = *row.streamed
					}
					runRow(t, under, row, mode.stream, want)
				})
			}
			t.Run("a cancelled call ends with the context's error, on both sides", func(t *testing.T) {
				t.Parallel()
				runCancel(t, under, mode.stream)
			})
		})
	}
	t.Run("a server that does not stream is understood", func(t *testing.T) {
		t.Parallel()
		runUnstreamed(t, under)
	})
	t.Run("a server that is not there", func(t *testing.T) {
		t.Parallel()
		double := under.Double(t, wiredouble.Text(text))
		double.URL = "http://127.0.0.1:1/v1"
		_, err := under.New(t, double).Complete(t.Context(), prompt(), nil)
		check(t, double, outcomeOf(t, summarizer.Completion{}, err), err, failed(summarizer.FailureNetwork, 0))
	})
}

func runRow(t *testing.T, under Backend, row row, stream bool, want outcome) {
	t.Helper()
	double := under.Double(t, row.step)
	backend := under.New(t, double)
	deadline := row.deadline
	if deadline == 0 {
		deadline = patience
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	var pieces strings.Builder
	var onText func(string)
	if stream {
		onText = func(piece string) { pieces.WriteString(piece) }
	}
	completion, err := backend.Complete(ctx, prompt(), onText)
	check(t, double, outcomeOf(t, completion, err), err, want)
	if stream && err == nil && pieces.String() != completion.Text {
		t.Errorf("the pieces are %q, the text %q", pieces.String(), completion.Text)
	}
	if want.Failure == summarizer.FailureTimeout && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error does not wrap the context's: %v", err)
	}

	requests := double.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests were made, want 1: retrying is the ladder's", len(requests))
	}
	got := requests[0]
	if p := prompt(); got.System != p.System || got.User != p.User || got.MaxTokens != p.MaxTokens || got.Stream != stream {
		t.Errorf("the request carried %q, %q, %d, stream %v", got.System, got.User, got.MaxTokens, got.Stream)
	}
}

// outcomeOf says how a call ended.
func outcomeOf(t *testing.T, completion summarizer.Completion, err error) outcome {
	t.Helper()
	if err == nil {
		return outcome{Completion: completion}
	}
	var backendError *summarizer.BackendError
	if !errors.As(err, &backendError) {
		t.Fatalf("the error is a %T, want a *BackendError: %v", err, err)
	}
	return outcome{
		Completion: completion, Failure: backendError.Failure, Status: backendError.Status, RetryAfter: backendError.RetryAfter,
	}
}

func check(t *testing.T, double *wiredouble.Double, got outcome, err error, want outcome) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the call ended in another way (-want +got), error %v:\n%s", err, diff)
	}
	if err == nil {
		return
	}
	for _, secret := range []string{double.Key, systemSecret, userSecret, "key-of-"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error quotes %q: %v", secret, err)
		}
	}
}

func runCancel(t *testing.T, under Backend, stream bool) {
	t.Helper()
	double := under.Double(t, wiredouble.HangMidway(text))
	backend := under.New(t, double)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var onText func(string)
	if stream {
		// The first piece shows that the answer is under way.
		onText = func(string) { cancel() }
	} else {
		go func() {
			for double.Active() == 0 && ctx.Err() == nil {
				<-time.After(time.Millisecond)
			}
			cancel()
		}()
	}
	_, err := backend.Complete(ctx, prompt(), onText)
	var backendError *summarizer.BackendError
	if !errors.Is(err, context.Canceled) || errors.As(err, &backendError) {
		t.Errorf("the error is %v (%T), want the context's", err, err)
	}
	for end := time.Now().Add(patience); double.Active() > 0; {
		if time.Now().After(end) {
			t.Fatal("the server is still working")
		}
		<-time.After(time.Millisecond)
	}
}

// runUnstreamed asks for a stream and gets the whole answer as a document.
func runUnstreamed(t *testing.T, under Backend) {
	t.Helper()
	double := under.Double(t, wiredouble.Unstreamed(text))
	client := under.New(t, double)
	var pieces []string
	completion, err := client.Complete(t.Context(), prompt(), func(piece string) { pieces = append(pieces, piece) })
	check(t, double, outcomeOf(t, completion, err), err, answered(text, summarizer.FinishStop))
	if diff := cmp.Diff([]string{text}, pieces); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
}
