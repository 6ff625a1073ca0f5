package store

import (
	"context"
	"errors"
	"testing"
	"time"
)

// flaky is a store that fails while it is told to.
type flaky struct {
	Store
	err   error
	calls int
}

func (f *flaky) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if f.calls++; f.err != nil {
		return nil, false, f.err
	}
	return f.Store.Get(ctx, key)
}

func (f *flaky) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if f.calls++; f.err != nil {
		return f.err
	}
	return f.Store.Set(ctx, key, value, ttl)
}

func (f *flaky) Delete(ctx context.Context, key string) error {
	if f.calls++; f.err != nil {
		return f.err
	}
	return f.Store.Delete(ctx, key)
}

func (f *flaky) Claim(ctx context.Context, key string, value []byte, ttl time.Duration) (bool, error) {
	if f.calls++; f.err != nil {
		return false, f.err
	}
	return f.Store.Claim(ctx, key, value, ttl)
}

func (f *flaky) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	if f.calls++; f.err != nil {
		return false, f.err
	}
	return f.Store.Swap(ctx, key, old, value, ttl)
}

func (f *flaky) Add(ctx context.Context, key string, n int64, ttl time.Duration) (int64, error) {
	if f.calls++; f.err != nil {
		return 0, f.err
	}
	return f.Store.Add(ctx, key, n, ttl)
}

func newDegrading(t *testing.T) (d *Degrading, remote *flaky, local *Memory, tick func(time.Duration), failures *[]string) {
	t.Helper()
	shared, err := NewMemory(MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if local, err = NewMemory(MemoryOptions{}); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	failures = &[]string{}
	remote = &flaky{Store: shared}
	d = NewDegrading(remote, local, func(op string, err error) {
		if err != nil {
			*failures = append(*failures, op)
		}
	})
	d.now = func() time.Time { return now }
	return d, remote, local, func(x time.Duration) { now = now.Add(x) }, failures
}

func TestEveryOperationGoesOnWithoutTheRemoteStore(t *testing.T) {
	gone := errors.New("gone")
	for name, run := range map[string]func(d *Degrading) error{
		"get":    func(d *Degrading) error { _, _, err := d.Get(t.Context(), "k"); return err },
		"set":    func(d *Degrading) error { return d.Set(t.Context(), "k", nil, 0) },
		"delete": func(d *Degrading) error { return d.Delete(t.Context(), "k") },
		"claim":  func(d *Degrading) error { _, err := d.Claim(t.Context(), "k", nil, 0); return err },
		"swap":   func(d *Degrading) error { _, err := d.Swap(t.Context(), "k", nil, nil, 0); return err },
		"add":    func(d *Degrading) error { _, err := d.Add(t.Context(), "n", 1, 0); return err },
	} {
		d, remote, _, tick, failures := newDegrading(t)
		remote.err = gone
		if err := run(d); err != nil || !d.Degraded() || len(*failures) != 1 || (*failures)[0] != name {
			t.Errorf("%s: %v, degraded %v, told of %v", name, err, d.Degraded(), *failures)
		}
		if err := run(d); err != nil || remote.calls != 1 {
			t.Errorf("%s: the remote store was asked %d times within its pause", name, remote.calls)
		}
		tick(pause)
		if !d.Degraded() {
			t.Errorf("%s: a store that nobody has tried again counts as back", name)
		}
		if err := run(d); err != nil || remote.calls != 2 || !d.Degraded() {
			t.Errorf("%s: still gone after the pause: %v, asked %d times, degraded %v", name, err, remote.calls, d.Degraded())
		}
		tick(pause)
		remote.err = nil
		if err := run(d); err != nil || remote.calls != 3 || d.Degraded() {
			t.Errorf("%s: after the pause: %v, asked %d times, degraded %v", name, err, remote.calls, d.Degraded())
		}
	}
}

func TestWhatWasStoredIsThereWhileTheRemoteStoreIsAway(t *testing.T) {
	d, remote, _, tick, _ := newDegrading(t)
	if err := d.Set(t.Context(), "k", []byte("v"), time.Hour); err != nil {
		t.Fatal(err)
	}
	remote.err = errors.New("gone")
	if got, found, err := d.Get(t.Context(), "k"); string(got) != "v" || !found || err != nil {
		t.Errorf("%q, %v, %v", got, found, err)
	}
	tick(pause)
	// Back, but empty: what it says counts, or servers would contradict each other.
	remote.err = nil
	if err := remote.Store.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if _, found, err := d.Get(t.Context(), "k"); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestAClaimOfAnotherServerHoldsWhileTheRemoteStoreIsAway(t *testing.T) {
	d, remote, _, _, _ := newDegrading(t)
	if _, err := remote.Claim(t.Context(), "theirs", nil, time.Hour); err != nil {
		t.Fatal(err)
	}
	claim := func(key string) bool {
		t.Helper()
		claimed, err := d.Claim(t.Context(), key, nil, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return claimed
	}
	if claim("theirs") || !claim("ours") {
		t.Error("the remote store does not decide")
	}
	remote.err = errors.New("gone")
	for key, want := range map[string]bool{"theirs": false, "ours": false, "nobody's": true} {
		if claim(key) != want {
			t.Errorf("%s: claimed %v while the store is away", key, !want)
		}
	}
	if err := d.Delete(t.Context(), "ours"); err != nil || !claim("ours") {
		t.Errorf("what was given up cannot be claimed: %v", err)
	}
}

func TestTheCallersEndAndRefusalsAreNoFailures(t *testing.T) {
	d, remote, _, _, failures := newDegrading(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.Get(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	remote.err = ErrTooLarge
	if err := d.Set(t.Context(), "k", nil, 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
	remote.err = ErrNoNumber
	if _, err := d.Add(t.Context(), "k", 1, 0); !errors.Is(err, ErrNoNumber) {
		t.Errorf("%v", err)
	}
	if d.Degraded() || len(*failures) != 0 {
		t.Errorf("degraded %v after %v", d.Degraded(), *failures)
	}
}

// hanging is a store that answers a read when the test says so.
type hanging struct {
	Store
	asked   chan struct{}
	answers chan error
}

func (h *hanging) Get(context.Context, string) ([]byte, bool, error) {
	h.asked <- struct{}{}
	return nil, false, <-h.answers
}

func TestOneOperationTriesAStoreThatWasAway(t *testing.T) {
	d, remote, _, tick, _ := newDegrading(t)
	remote.err = errors.New("gone")
	get := func() error { _, _, err := d.Get(t.Context(), "k"); return err }
	if err := get(); err != nil {
		t.Fatal(err)
	}
	h := &hanging{Store: remote.Store, asked: make(chan struct{}), answers: make(chan error)}
	d.remote = h
	for _, outcome := range []error{errors.New("still gone"), nil} {
		tick(pause)
		tried := make(chan error, 1)
		go func() { tried <- get() }()
		<-h.asked
		for range 3 { // they would hang if they asked
			if err := get(); err != nil || !d.Degraded() {
				t.Errorf("%v, degraded %v", err, d.Degraded())
			}
		}
		h.answers <- outcome
		if err := <-tried; err != nil || d.Degraded() != (outcome != nil) {
			t.Errorf("the store answers %v: %v, degraded %v", outcome, err, d.Degraded())
		}
	}
}

func TestAValueThatCannotBeReadIsThisServersOwn(t *testing.T) {
	d, remote, _, _, failures := newDegrading(t)
	if err := d.Set(t.Context(), "k", []byte("ours"), time.Hour); err != nil {
		t.Fatal(err)
	}
	remote.err = ErrUnreadable
	if got, found, err := d.Get(t.Context(), "k"); string(got) != "ours" || !found || err != nil {
		t.Errorf("%q, %v, %v", got, found, err)
	}
	if _, found, err := d.Get(t.Context(), "theirs alone"); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if swapped, err := d.Swap(t.Context(), "k", []byte("ours"), []byte("newer"), time.Hour); !swapped || err != nil {
		t.Errorf("swapped %v, %v", swapped, err)
	}
	if got, _, err := d.Get(t.Context(), "k"); string(got) != "newer" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if d.Degraded() || len(*failures) != 4 {
		t.Errorf("degraded %v, told of %v", d.Degraded(), *failures)
	}
}

func TestASwapCountsForBoth(t *testing.T) {
	d, remote, _, _, _ := newDegrading(t)
	if err := d.Set(t.Context(), "k", []byte("one"), time.Hour); err != nil {
		t.Fatal(err)
	}
	swap := func(old, value string) bool {
		t.Helper()
		swapped, err := d.Swap(t.Context(), "k", []byte(old), []byte(value), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return swapped
	}
	if !swap("one", "two") || swap("one", "three") {
		t.Error("the remote store does not decide")
	}
	remote.err = errors.New("gone")
	if swap("one", "three") || !swap("two", "three") {
		t.Error("the memory does not know what was swapped")
	}
	if swapped, err := d.Swap(t.Context(), "k", []byte("three"), nil, 0); !swapped || err != nil {
		t.Errorf("removed %v, %v", swapped, err)
	}
	if _, found, err := d.Get(t.Context(), "k"); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestAValueThatIsTooLargeLeavesNoneBehind(t *testing.T) {
	d, remote, _, _, _ := newDegrading(t)
	if err := d.Set(t.Context(), "k", []byte("small"), time.Hour); err != nil {
		t.Fatal(err)
	}
	remote.err = ErrTooLarge
	if err := d.Set(t.Context(), "k", []byte("large"), time.Hour); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	remote.err = errors.New("gone")
	if got, found, err := d.Get(t.Context(), "k"); found || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
