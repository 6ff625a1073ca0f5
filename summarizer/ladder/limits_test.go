package ladder

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elbowroom/elbowroom/summarizer"
)

// neverAnswers is a summarizer that never answers.
func neverAnswers(name string) *model {
	return &model{name: name, work: func(ctx context.Context, _ summarizer.Request) (summarizer.Response, error) {
		<-ctx.Done()
		return summarizer.Response{}, ctx.Err()
	}}
}

func TestCloseHandsOverToTheEmbeddedSummarizer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := neverAnswers("a"), writes("b", "B")
		l := newLadder(t, a, b, writes(summarizer.Extractive, "E"))
		go func() {
			<-time.After(time.Second)
			l.Close()
		}()
		start := time.Now()
		for range 2 { // one that was under way, and one that comes later
			r, err := l.Summarize(t.Context(), Call{Session: "s", Request: request("x")})
			if err != nil || r.Name != summarizer.Extractive || len(r.Failed) != 2 || r.Failed[0].Code != CodeClosing || r.Failed[1].Code != CodeClosing {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("waited %v", waited)
		}
		if a.calls.Load() != 1 || b.calls.Load() != 0 {
			t.Errorf("%d and %d calls", a.calls.Load(), b.calls.Load())
		}
		// Other servers read the same cooldowns.
		if left := l.Cooling(t.Context(), "", "s", ""); left != 0 {
			t.Errorf("the end of the server started a cooldown of %v", left)
		}
	})
}

func TestCloseFailsRequestsThatWantAModelOrNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLadder(t, neverAnswers("a"), writes(summarizer.Extractive, "E"))
		time.AfterFunc(time.Second, l.Close)
		_, err := l.Summarize(t.Context(), Call{Abort: true, Request: request("x")})
		if aborted, ok := errors.AsType[*AbortedError](err); !ok || !errors.Is(aborted.Err, errClosing) {
			t.Errorf("%v, want an AbortedError", err)
		}
	})
}

func TestNewLimitsHoldForCallsThatBeginLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes("a", "A") // 110 tokens a call
		ladders, _ := servers(t, 1, 0, m)
		l := ladders[0]
		summarize := func(name string) error {
			r := request(name)
			r.Budget = 50
			_, err := l.Summarize(t.Context(), Call{Tenant: "team-a", Request: r})
			return err
		}
		for _, x := range []struct {
			tokens  int64
			name    string
			refused bool
		}{{0, "one", false}, {150, "two", false}, {150, "three", true}, {300, "four", false}, {0, "five", false}} {
			l.SetLimits(0, x.tokens)
			if err := summarize(x.name); errors.Is(err, errBudget) != x.refused {
				t.Errorf("%s under %d tokens: %v", x.name, x.tokens, err)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l := newLadder(t, neverAnswers("a"), writes(summarizer.Extractive, "E"))
		l.SetLimits(7*time.Second, 0)
		start := time.Now()
		if r, err := l.Summarize(t.Context(), Call{Request: request("x")}); err != nil || r.Name != summarizer.Extractive {
			t.Errorf("%+v, %v", r, err)
		}
		if waited := time.Since(start); waited != 7*time.Second {
			t.Errorf("the call ended after %v", waited)
		}
	})
}

func TestAWaitForAModelIsToldOf(t *testing.T) {
	waiting, told := 0, 0
	l := newLadder(t, &model{name: "model", work: func(context.Context, summarizer.Request) (summarizer.Response, error) {
		if waiting != 1 {
			t.Errorf("told of %d waits", waiting)
		}
		return summarizer.Response{}, errors.New("down")
	}}, writes(summarizer.Extractive, "a summary"))
	l.aside = func(context.Context) func() {
		waiting++
		told++
		return func() { waiting-- }
	}
	if _, err := l.Summarize(t.Context(), Call{Request: request("x")}); err != nil {
		t.Fatal(err)
	}
	if waiting != 0 || told != 1 {
		t.Errorf("%d waits have not ended; told of %d, want the model's alone", waiting, told)
	}
}
