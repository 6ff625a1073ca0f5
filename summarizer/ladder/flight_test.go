package ladder

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elbowroom/elbowroom/summarizer"
)

func TestIdenticalRequestsShareOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := waits10s("a")
		l := newLadder(t, a)
		var wg sync.WaitGroup
		var texts sync.Map
		for i := range 100 {
			wg.Go(func() {
				r, err := l.Summarize(t.Context(), Call{Request: request("same")})
				if err != nil {
					t.Error(err)
				}
				texts.Store(i, r.Response.Text)
			})
		}
		wg.Wait()
		texts.Range(func(_, text any) bool {
			if text != "slow" {
				t.Errorf("got %q", text)
			}
			return true
		})
		if n := a.calls.Load(); n != 1 {
			t.Errorf("%d calls for 100 identical requests", n)
		}
		r, err := l.Summarize(t.Context(), Call{Request: request("same")})
		if err != nil || !r.Reused || a.calls.Load() != 1 || r.Calls != 0 {
			t.Errorf("a later request: %+v, %v", r, err)
		}
	})
}

func TestARetryAfterATimeoutPaysOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := waits10s("a")
		l := newLadder(t, a, writes("extractive", "E"))
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		r, err := l.Summarize(ctx, Call{Request: request("x"), Session: "s"})
		if got := strings.Join(outline(r, err), " "); got != "extractive=E a:timeout" {
			t.Fatal(got)
		}
		<-time.After(8 * time.Second) // the model answers to nobody
		r, err = l.Summarize(t.Context(), Call{Request: request("x"), Session: "s"})
		if got := strings.Join(outline(r, err), " "); got != "a=slow" || a.calls.Load() != 1 || !r.Reused {
			t.Errorf("%s after %d calls", got, a.calls.Load())
		}
	})
}

func TestADeadlineTooShortIsNotTheModelsFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := waits10s("a")
		l := newLadder(t, a, writes("extractive", "E"))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		r, err := l.Summarize(ctx, Call{Request: request("x"), Session: "s"})
		if got := strings.Join(outline(r, err), " "); got != "extractive=E a:timeout" || r.Failed[0].Attempts != 1 {
			t.Errorf("%s: %+v", got, r.Failed)
		}
		if left := l.Cooling(t.Context(), "", "s", ""); left != 0 {
			t.Errorf("the session cools down for %v", left)
		}
		l.Close()
		synctest.Wait()
	})
}

func TestACallThatNobodyWaitsForEndsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ended := make(chan time.Duration, 1)
		a := &model{name: "a", work: func(ctx context.Context, _ summarizer.Request) (summarizer.Response, error) {
			<-ctx.Done()
			ended <- time.Since(start)
			return summarizer.Response{}, ctx.Err()
		}}
		l := newLadder(t, a, writes("extractive", "E"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Summarize(ctx, Call{Request: request("x")}); err != nil {
			t.Fatal(err)
		}
		if got, want := <-ended, time.Second-Reserve+DefaultLinger; got != want {
			t.Errorf("the call ended after %v, want %v", got, want)
		}
	})
}

func TestACancelledCallEndsWhenNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		a := &model{name: "a", work: func(ctx context.Context, _ summarizer.Request) (summarizer.Response, error) {
			<-ctx.Done()
			ended.Store(true)
			return summarizer.Response{}, ctx.Err()
		}}
		l := newLadder(t, a)
		first, cancelFirst := context.WithCancel(t.Context())
		second, cancelSecond := context.WithCancel(t.Context())
		for _, ctx := range []context.Context{first, second} {
			go func() { _, _ = l.Summarize(ctx, Call{Request: request("x")}) }()
		}
		synctest.Wait()
		cancelFirst()
		synctest.Wait()
		if ended.Load() {
			t.Error("the call ended although somebody waits for it")
		}
		cancelSecond()
		synctest.Wait()
		if !ended.Load() {
			t.Error("the call goes on although everybody cancelled")
		}
	})
}

func TestWatchersSeeTheTextOfASharedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &model{name: "a", work: func(_ context.Context, req summarizer.Request) (summarizer.Response, error) {
			req.OnText("one ", false)
			<-time.After(time.Second)
			req.OnText("", true)
			req.OnText("two", false)
			<-time.After(time.Second)
			return summarizer.Response{Text: "two", Tokens: 3}, nil
		}}
		l := newLadder(t, a)
		seen := make([][]string, 2)
		var wg sync.WaitGroup
		for i := range seen {
			wg.Go(func() {
				<-time.After(time.Duration(i) * 500 * time.Millisecond)
				req := request("x")
				req.OnText = func(p string, restart bool) {
					if restart {
						p = "restart"
					}
					seen[i] = append(seen[i], p)
				}
				if _, err := l.Summarize(t.Context(), Call{Request: req}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		want := []string{"one ", "restart", "two"}
		if !slices.Equal(seen[0], want) || !slices.Equal(seen[1], want) || a.calls.Load() != 1 {
			t.Errorf("%q after %d calls, want %q for both", seen, a.calls.Load(), want)
		}
	})
}

// The last pieces and the result may come at one time, between two looks of a watcher.
func TestWatchersSeeTheLastPieces(t *testing.T) {
	const pieces = 3
	for range 20_000 {
		begun := make(chan struct{})
		a := &model{name: "a", work: func(_ context.Context, req summarizer.Request) (summarizer.Response, error) {
			req.OnText("x", false)
			<-begun
			for range pieces - 1 {
				req.OnText("x", false)
			}
			return summarizer.Response{Text: "x", Tokens: 3}, nil
		}}
		seen := 0
		req := request("x")
		req.OnText = func(string, bool) {
			if seen++; seen == 1 {
				close(begun)
			}
		}
		if _, err := newLadder(t, a).Summarize(t.Context(), Call{Request: req}); err != nil {
			t.Fatal(err)
		}
		if seen != pieces {
			t.Fatalf("%d of %d pieces", seen, pieces)
		}
	}
}
