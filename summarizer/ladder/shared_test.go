package ladder

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
)

// servers are ladders that share one store.
func servers(t *testing.T, n int, tokens int64, rung summarizer.Summarizer) ([]*Ladder, store.Store) {
	t.Helper()
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*Ladder, n)
	for i := range out {
		if out[i], err = New(Options{Rungs: []summarizer.Summarizer{rung}, Store: memory, TenantTokens: tokens}); err != nil {
			t.Fatal(err)
		}
	}
	return out, memory
}

func TestServersThatShareAStoreMakeOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := waits10s("a")
		ladders, _ := servers(t, 2, 0, slow)
		var group sync.WaitGroup
		reused := make([]bool, 200)
		for i := range reused {
			group.Go(func() {
				r, err := ladders[i%2].Summarize(t.Context(), Call{Request: request("one and the same")})
				if err != nil || r.Response.Text != "slow" {
					t.Errorf("request %d: %+v, %v", i, r, err)
				}
				reused[i] = r.Reused
			})
		}
		group.Wait()
		paid := 0
		for _, r := range reused {
			if !r {
				paid++
			}
		}
		if slow.calls.Load() != 1 || paid != 1 {
			t.Errorf("%d calls, billed to %d requests", slow.calls.Load(), paid)
		}
	})
}

func TestTheCallOfADeadServerIsMadeByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes("a", "A")
		ladders, shared := servers(t, 1, 0, m)
		call := Call{Request: request("x")}
		// As a server leaves it that was killed while it called.
		if _, err := shared.Claim(t.Context(), "calling/"+finishedKey("", m, &call.Request), []byte("1"), leaseLife); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if r, err := ladders[0].Summarize(t.Context(), call); err != nil || r.Response.Text != "A" || r.Reused {
			t.Errorf("%+v, %v", r, err)
		}
		if waited := time.Since(start); waited < leaseLife || waited > leaseLife+time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestACallLongerThanALeaseKeepsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := &model{name: "a", work: func(context.Context, summarizer.Request) (summarizer.Response, error) {
			<-time.After(6 * leaseLife)
			return summarizer.Response{Text: "long", Tokens: 4}, nil
		}}
		ladders, _ := servers(t, 2, 0, long)
		var group sync.WaitGroup
		for _, l := range ladders {
			group.Go(func() {
				if r, err := l.Summarize(t.Context(), Call{Request: request("x")}); err != nil || r.Response.Text != "long" {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		group.Wait()
		if long.calls.Load() != 1 {
			t.Errorf("%d calls", long.calls.Load())
		}
	})
}

func TestAFailedCallIsMadeAgainByTheNextServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		var mu sync.Mutex
		m := &model{name: "a", work: func(context.Context, summarizer.Request) (summarizer.Response, error) {
			<-time.After(time.Second)
			mu.Lock()
			defer mu.Unlock()
			if calls++; calls == 1 {
				return summarizer.Response{}, errOverloaded
			}
			return summarizer.Response{Text: "second", Tokens: 6}, nil
		}}
		ladders, _ := servers(t, 2, 0, m)
		var group sync.WaitGroup
		var failed, done int
		for _, l := range ladders {
			group.Go(func() {
				_, err := l.Summarize(t.Context(), Call{Request: request("x")})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed++
				} else {
					done++
				}
			})
		}
		group.Wait()
		if failed != 1 || done != 1 {
			t.Errorf("%d failed, %d done", failed, done)
		}
	})
}

func TestABudgetHoldsOverAllServers(t *testing.T) {
	m := writes("a", "A") // 110 tokens a call
	req := func(i int) Call {
		r := request("request number " + string(rune('a'+i)))
		r.Budget = 50
		return Call{Tenant: "team-a", Session: "s", Request: r}
	}
	synctest.Test(t, func(t *testing.T) {
		ladders, _ := servers(t, 2, 360, m)
		refused := 0
		for i := range 6 {
			r, err := ladders[i%2].Summarize(t.Context(), req(i))
			if err == nil {
				continue
			}
			refused++
			if !errors.Is(err, errBudget) || len(r.Failed) != 1 || r.Failed[0].Code != CodeBudget || r.Failed[0].Attempts != 0 {
				t.Errorf("%+v, %v", r.Failed, err)
			}
		}
		// Three calls cost 330; a fourth may cost 50 and more.
		if m.calls.Load() != 3 || refused != 3 {
			t.Errorf("%d calls, %d refused", m.calls.Load(), refused)
		}
		other := req(9)
		other.Tenant = "team-b"
		if _, err := ladders[0].Summarize(t.Context(), other); err != nil {
			t.Errorf("another tenant: %v", err)
		}
		if left := ladders[0].Cooling(t.Context(), "team-a", "s", ""); left != 0 {
			t.Errorf("a used up budget started a cooldown of %v", left)
		}
		<-time.After(budgetPeriod)
		if _, err := ladders[1].Summarize(t.Context(), req(5)); err != nil {
			t.Errorf("in the next hour: %v", err)
		}
	})
}

func TestCallsAtOneTimeDoNotExceedTheBudgetTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &model{name: "a", work: func(context.Context, summarizer.Request) (summarizer.Response, error) {
			<-time.After(time.Second)
			return summarizer.Response{Text: "slow", Tokens: 4, PromptTokens: 10, CompletionTokens: 10}, nil
		}}
		ladders, _ := servers(t, 2, 250, slow)
		var group sync.WaitGroup
		for i := range 20 {
			r := request("request number " + string(rune('a'+i)))
			r.Budget = 100
			group.Go(func() { _, _ = ladders[i%2].Summarize(t.Context(), Call{Request: r}) })
		}
		group.Wait()
		if n := slow.calls.Load(); n != 2 {
			t.Errorf("%d calls at one time, each may cost 100 and more of 250", n)
		}
		// What a call did not cost is put back.
		for i := range 3 {
			r := request("one after another " + string(rune('a'+i)))
			r.Budget = 100
			if _, err := ladders[0].Summarize(t.Context(), Call{Request: r}); err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		}
	})
}

// Cooldowns are told by the clock of the server that noted them.
func TestAClockThatIsAheadProlongsNoCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, err := store.NewMemory(store.MemoryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ladders := map[time.Duration]*Ladder{}
		a := broken("a", errOverloaded)
		for _, ahead := range []time.Duration{0, 48 * time.Hour} {
			now := func() time.Time { return time.Now().Add(ahead) }
			if ladders[ahead], err = New(Options{Rungs: []summarizer.Summarizer{a, writes("extractive", "E")}, Store: memory, Now: now}); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []time.Duration{60 * time.Second, 300 * time.Second, 900 * time.Second, 900 * time.Second} {
			ladders[48*time.Hour].cooldowns.fail(t.Context(), place{session: "s", rung: "a"})
			if left := ladders[0].Cooling(t.Context(), "", "s", ""); left != want {
				t.Errorf("cooling for %v, want %v", left, want)
			}
		}
	})
}

func TestAReservationThatTheStoreLostIsNotPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		m := &model{name: "a", work: func(context.Context, summarizer.Request) (summarizer.Response, error) {
			<-gate
			return summarizer.Response{Text: "A", Tokens: 1, PromptTokens: 20, CompletionTokens: 10}, nil
		}}
		ladders, shared := servers(t, 1, 10_000, m)
		done := make(chan error, 3)
		for i := range 3 {
			r := request("request number " + string(rune('a'+i)))
			r.Budget = 1000
			go func() {
				_, err := ladders[0].Summarize(t.Context(), Call{Tenant: "team-a", Request: r})
				done <- err
			}()
		}
		synctest.Wait()
		period := time.Now().UnixNano() / int64(budgetPeriod)
		key := storeKey("budget", "team-a", strconv.FormatInt(period, 10))
		if sum, err := shared.Add(t.Context(), key, 0, time.Hour); err != nil || sum < 3000 {
			t.Fatalf("%d tokens are reserved, %v", sum, err)
		}
		if err := shared.Delete(t.Context(), key); err != nil { // flushed
			t.Fatal(err)
		}
		close(gate)
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if sum, err := shared.Add(t.Context(), key, 0, time.Hour); err != nil || sum != 3*30 {
			t.Errorf("%d tokens used, %v; want those of three calls", sum, err)
		}
	})
}
