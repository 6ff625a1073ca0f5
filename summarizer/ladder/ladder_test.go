package ladder

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
)

// model is a summarizer that does what it is told and counts its calls.
type model struct {
	name  string
	calls atomic.Int32
	work  func(ctx context.Context, req summarizer.Request) (summarizer.Response, error)
}

func (m *model) Name() string { return m.name }

func (m *model) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Response, error) {
	m.calls.Add(1)
	r, err := m.work(ctx, req)
	r.Calls = 1
	return r, err
}

func writes(name, text string) *model {
	return &model{name: name, work: func(context.Context, summarizer.Request) (summarizer.Response, error) {
		return summarizer.Response{Text: text, Tokens: len(text), PromptTokens: 100, CompletionTokens: 10}, nil
	}}
}

func broken(name string, err error) *model {
	return &model{name: name, work: func(context.Context, summarizer.Request) (summarizer.Response, error) {
		return summarizer.Response{PromptTokens: 7}, err
	}}
}

func waits10s(name string) *model {
	return &model{name: name, work: func(ctx context.Context, _ summarizer.Request) (summarizer.Response, error) {
		select {
		case <-time.After(10 * time.Second):
			return summarizer.Response{Text: "slow", Tokens: 4}, nil
		case <-ctx.Done():
			return summarizer.Response{}, ctx.Err()
		}
	}}
}

var errOverloaded = &summarizer.BackendError{Failure: summarizer.FailureOverloaded, Err: errors.New("scripted")}

func newLadder(t *testing.T, rungs ...summarizer.Summarizer) *Ladder {
	t.Helper()
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(Options{Rungs: rungs, Store: memory})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func request(text string) summarizer.Request {
	return summarizer.Request{
		Budget: 1000,
		Turns: []summarizer.Turn{{Message: &conversation.Message{
			Role: conversation.RoleUser, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: text}},
		}}},
	}
}

// outline is what the tests compare of a result.
func outline(r Result, err error) []string {
	out := []string{r.Name + "=" + r.Response.Text}
	for _, f := range r.Failed {
		out = append(out, f.Name+":"+f.Code)
	}
	if err != nil {
		out = append(out, err.Error())
	}
	return out
}

func TestTheNextRungTakesOver(t *testing.T) {
	for _, x := range []struct {
		name  string
		rungs []summarizer.Summarizer
		call  Call
		want  []string
	}{
		{
			name:  "the first one writes",
			rungs: []summarizer.Summarizer{writes("a", "A"), writes("b", "B")}, want: []string{"a=A"},
		},
		{
			name:  "the second one writes",
			rungs: []summarizer.Summarizer{broken("a", errOverloaded), writes("b", "B")}, want: []string{"b=B", "a:overloaded"},
		},
		{
			name:  "an empty text is no summary",
			rungs: []summarizer.Summarizer{writes("a", " \n "), writes("b", "B")}, want: []string{"b=B", "a:empty"},
		},
		{
			name:  "nor is one over the budget",
			rungs: []summarizer.Summarizer{writes("a", strings.Repeat("x", 1001)), writes("b", "B")}, want: []string{"b=B", "a:over_budget"},
		},
		{
			name:  "nor a rejected one",
			rungs: []summarizer.Summarizer{broken("a", &summarizer.RejectedError{Code: summarizer.RejectRefusal}), writes("b", "B")},
			want:  []string{"b=B", "a:refusal"},
		},
		{
			name: "from a rung by name", call: Call{From: "b"},
			rungs: []summarizer.Summarizer{writes("a", "A"), writes("b", "B")}, want: []string{"b=B"},
		},
		{
			name:  "the embedded one has the last word",
			rungs: []summarizer.Summarizer{broken("a", errOverloaded), broken("extractive", summarizer.ErrBudgetTooSmall)},
			want:  []string{"=", "a:overloaded", "extractive:budget_too_small", summarizer.ErrBudgetTooSmall.Error()},
		},
		{
			name:  "all fail",
			rungs: []summarizer.Summarizer{broken("a", errOverloaded), broken("b", errors.New("odd"))},
			want:  []string{"=", "a:overloaded", "b:failed", "ladder: every summarizer failed; last b: odd"},
		},
		{
			name: "abort tries the other models", call: Call{Abort: true},
			rungs: []summarizer.Summarizer{broken("a", errOverloaded), writes("b", "B"), writes("extractive", "E")},
			want:  []string{"b=B", "a:overloaded"},
		},
		{
			name: "abort does not fall back", call: Call{Abort: true},
			rungs: []summarizer.Summarizer{broken("a", errOverloaded), writes("extractive", "E")},
			want:  []string{"=", "a:overloaded", "no language model wrote a summary: a: overloaded: scripted"},
		},
		{
			name: "abort with the embedded one alone", call: Call{Abort: true},
			rungs: []summarizer.Summarizer{writes("extractive", "E")}, want: []string{"extractive=E"},
		},
		{
			name: "a panic is a failure", rungs: []summarizer.Summarizer{&model{
				name: "a", work: func(context.Context, summarizer.Request) (summarizer.Response, error) { panic("secret text") },
			}, writes("b", "B")}, want: []string{"b=B", "a:failed"},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.call.Request = request("hello")
			result, err := newLadder(t, x.rungs...).Summarize(t.Context(), x.call)
			if diff := cmp.Diff(x.want, outline(result, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, f := range result.Failed {
				if strings.Contains(f.Reason, "secret") {
					t.Errorf("the reason tells what the panic held: %s", f.Reason)
				}
			}
		})
	}
}

func TestWhatFailedRungsCostIsBilledToo(t *testing.T) {
	r, err := newLadder(t, broken("a", errOverloaded), writes("b", "B")).Summarize(t.Context(), Call{Request: request("x")})
	if err != nil || r.Calls != 2 || r.PromptTokens != 107 || r.CompletionTokens != 10 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAFailedSessionCoolsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := broken("a", errOverloaded)
		l := newLadder(t, a, writes("extractive", "E"))
		turn := 0
		ask := func(session string) string {
			turn++
			r, err := l.Summarize(t.Context(), Call{Request: request(strings.Repeat("x", turn)), Session: session})
			return strings.Join(outline(r, err), " ")
		}
		failed, cooling := "extractive=E a:overloaded", "extractive=E a:cooling_down"
		for _, step := range []struct {
			wait time.Duration
			want string
		}{
			{0, failed},
			{59 * time.Second, cooling}, {time.Second, failed}, // 60 s
			{299 * time.Second, cooling}, {time.Second, failed}, // 300 s
			{899 * time.Second, cooling}, {time.Second, failed}, // 900 s
			{899 * time.Second, cooling}, {time.Second, failed}, // and no longer
		} {
			<-time.After(step.wait)
			if got := ask("s"); got != step.want {
				t.Fatalf("after %v more: %s, want %s", step.wait, got, step.want)
			}
		}
		if got := ask("other"); got != failed {
			t.Errorf("another session: %s", got)
		}
		if got, again := ask(""), ask(""); got != failed || again != failed {
			t.Errorf("without a session: %s, %s", got, again)
		}
		if left := l.Cooling(t.Context(), "", "s", ""); left != 900*time.Second {
			t.Errorf("cooling for %v", left)
		}
		a.work = writes("", "A").work
		<-time.After(900 * time.Second)
		if got := ask("s"); got != "a=A" {
			t.Errorf("after recovery: %s", got)
		}
		if left := l.Cooling(t.Context(), "", "s", ""); left != 0 {
			t.Errorf("a success leaves a cooldown of %v", left)
		}
	})
}

func TestTheCallersDeadlineLeavesTimeForTheEmbeddedRung(t *testing.T) {
	for _, x := range []struct {
		name     string
		deadline time.Duration
		want     string
		calls    int32
	}{
		{"300 ms: no call", 300 * time.Millisecond, "extractive=E a:no_time", 0},
		{"2 s: a call, given up in time", 2 * time.Second, "extractive=E a:timeout", 1},
		{"20 s: the call answers", 20 * time.Second, "a=slow", 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), x.deadline)
				defer cancel()
				a := waits10s("a")
				l := newLadder(t, a, writes("extractive", "E"))
				r, err := l.Summarize(ctx, Call{Request: request("x")})
				if got := strings.Join(outline(r, err), " "); got != x.want || a.calls.Load() != x.calls {
					t.Errorf("%s after %d calls, want %s after %d", got, a.calls.Load(), x.want, x.calls)
				}
				l.Close()
				synctest.Wait()
			})
		})
	}
}

func TestACallerWhoWentAwayIsNoFailureOfTheRung(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
	}{
		{"extractive", context.Canceled},
		{"a", &summarizer.BackendError{Failure: summarizer.FailureNetwork, Err: context.Canceled}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var seen []string
		l := newLadder(t, &model{name: c.name, work: func(context.Context, summarizer.Request) (summarizer.Response, error) {
			cancel()
			return summarizer.Response{}, c.err
		}})
		l.observe = func(_ context.Context, o Observation) { seen = append(seen, o.Code) }
		_, _ = l.Summarize(ctx, Call{Request: request("x")})
		if !slices.Equal(seen, []string{CodeCancelled}) {
			t.Errorf("%s: seen as %q", c.name, seen)
		}
	}
}

func TestTenantsShareNothing(t *testing.T) {
	a := writes("a", "A")
	l := newLadder(t, a)
	for _, tenant := range []string{"x", "y", "x/1:s"} {
		if r, err := l.Summarize(t.Context(), Call{Request: request("same"), Tenant: tenant}); err != nil || r.Reused {
			t.Errorf("%s: %+v, %v", tenant, r, err)
		}
	}
	if a.calls.Load() != 3 {
		t.Errorf("%d calls for 3 tenants", a.calls.Load())
	}
}

func TestEverythingASummarizerSeesIsPartOfTheKey(t *testing.T) {
	changes := map[string]func(r *summarizer.Request){
		"turns":    func(r *summarizer.Request) { r.Turns = append(r.Turns, r.Turns[0]) },
		"text":     func(r *summarizer.Request) { r.Turns = request("other").Turns },
		"previous": func(r *summarizer.Request) { r.Previous = "p" },
		"round":    func(r *summarizer.Request) { r.Round = 2 },
		"latest":   func(r *summarizer.Request) { r.Latest = "l" },
		"focus":    func(r *summarizer.Request) { r.Focus = "f" },
		"budget":   func(r *summarizer.Request) { r.Budget = 7 },
		"secrets":  func(r *summarizer.Request) { r.KeepSecrets = true },
	}
	a := writes("a", "A")
	plain := request("x")
	seen := map[string]string{finishedKey("", a, &plain): "nothing"}
	for name, change := range changes {
		req := request("x")
		change(&req)
		key := finishedKey("", a, &req)
		if other, dup := seen[key]; dup {
			t.Errorf("%s and %s make the same key", name, other)
		}
		seen[key] = name
	}
	if again := request("x"); finishedKey("", a, &again) != finishedKey("", a, &plain) {
		t.Error("the same request has another key")
	}
}

// lame is a store that has lost everything and takes nothing.
type lame struct{}

func (lame) Get(context.Context, string) ([]byte, bool, error) { return nil, false, errors.New("gone") }
func (lame) Set(context.Context, string, []byte, time.Duration) error {
	return errors.New("gone")
}
func (lame) Delete(context.Context, string) error { return errors.New("gone") }
func (lame) Claim(context.Context, string, []byte, time.Duration) (bool, error) {
	return false, errors.New("gone")
}
func (lame) Swap(context.Context, string, []byte, []byte, time.Duration) (bool, error) {
	return false, errors.New("gone")
}
func (lame) Add(context.Context, string, int64, time.Duration) (int64, error) {
	return 0, errors.New("gone")
}

func TestALostStoreCostsNoAnswer(t *testing.T) {
	l, err := New(Options{Rungs: []summarizer.Summarizer{broken("a", errOverloaded), writes("b", "B")}, Store: lame{}, TenantTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Summarize(t.Context(), Call{Request: request("x"), Session: "s"})
	if got := strings.Join(outline(r, err), " "); got != "b=B a:overloaded" {
		t.Error(got)
	}
}

func TestObserversSeeEveryRung(t *testing.T) {
	var seen []Observation
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(Options{
		Rungs: []summarizer.Summarizer{broken("a", errOverloaded), writes("b", "B")}, Store: memory,
		Observe: func(_ context.Context, o Observation) {
			o.Duration = 0
			seen = append(seen, o)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := l.Summarize(t.Context(), Call{Request: request("x"), Session: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	want := []Observation{
		{Rung: "a", Code: "overloaded", Reason: "overloaded: scripted", Attempts: 1, PromptTokens: 7},
		{Rung: "b", Attempts: 1, PromptTokens: 100, CompletionTokens: 10},
		{Rung: "a", Code: "cooling_down", Reason: errCoolingDown.Error()},
		{Rung: "b", Reused: true},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
