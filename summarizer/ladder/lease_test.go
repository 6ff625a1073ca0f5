package ladder

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elbowroom/elbowroom/store"
)

// frozen is a store as one server sees it that stands still now and then, whole and with
// its clock: what it asks for meanwhile happens afterwards.
type frozen struct {
	store.Store
	thawed atomic.Pointer[chan struct{}]
}

func (f *frozen) freeze() (thaw func()) {
	c := make(chan struct{})
	f.thawed.Store(&c)
	return func() { f.thawed.Store(nil); close(c) }
}

func (f *frozen) wait() {
	if c := f.thawed.Load(); c != nil {
		<-*c
	}
}

func (f *frozen) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	f.wait()
	return f.Store.Set(ctx, key, value, ttl)
}

func (f *frozen) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	f.wait()
	return f.Store.Swap(ctx, key, old, value, ttl)
}

func (f *frozen) Delete(ctx context.Context, key string) error {
	f.wait()
	return f.Store.Delete(ctx, key)
}

// A server that stood still for longer than its lease lives takes nothing from the one
// that has the lease by then: a third one would call beside it.
func TestALeaseThatWasLostIsNeitherProlongedNorEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, err := store.NewMemory(store.MemoryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		slow := &frozen{Store: memory}
		leases := func(s store.Store) leases { return leases{store: s, finished: finished{store: s, keep: time.Hour}} }
		take := func(s store.Store) (release func()) {
			t.Helper()
			release, _, found := leases(s).take(t.Context(), "call")
			if found {
				t.Fatal("an answer that nobody wrote")
			}
			return release
		}
		holder := func() string {
			t.Helper()
			value, _, err := memory.Get(t.Context(), "calling/call")
			if err != nil {
				t.Fatal(err)
			}
			return string(value)
		}

		first := take(slow)
		thaw := slow.freeze()
		second := take(memory) // when the lease has run out
		theirs := holder()
		<-time.After(leaseLife / 2)
		thaw()
		<-time.After(2 * leaseLife)
		if now := holder(); now == "" || now != theirs {
			t.Errorf("the lease of %q has become that of %q", theirs, now)
		}
		first()
		if now := holder(); now != theirs {
			t.Errorf("the lease of %q, once the first call is over: %q", theirs, now)
		}
		second()
		if now := holder(); now != "" {
			t.Errorf("a lease is left: %q", now)
		}
	})
}

func TestALeaseThatTheStoreLostIsTakenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := waits10s("a")
		ladders, shared := servers(t, 2, 0, slow)
		call := Call{Request: request("x")}
		done := make(chan error, 2)
		summarize := func(l *Ladder) {
			_, err := l.Summarize(t.Context(), call)
			done <- err
		}
		go summarize(ladders[0])
		<-time.After(time.Second)
		if err := shared.Delete(t.Context(), "calling/"+finishedKey("", slow, &call.Request)); err != nil { // flushed
			t.Fatal(err)
		}
		<-time.After(leaseRenewal)
		go summarize(ladders[1])
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if n := slow.calls.Load(); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}
