package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/store"
)

// Fixture is one store under test.
type Fixture struct {
	Store store.Store
	// Advance moves the clock that the store expires its entries by.
	Advance func(time.Duration)
}

// Run checks that the stores made by open behave as package store promises. Each
// case gets a store of its own, which must be empty, hold at least 1 MiB and keep
// a thousand small entries.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t *testing.T, f Fixture)
	}{
		{"a missing key is not found and is no error", missing},
		{"what was set is found", found},
		{"any bytes are a key and a value", anyBytes},
		{"an empty value is present", emptyValue},
		{"setting again replaces value and ttl", replace},
		{"an entry expires after its ttl", expire},
		{"reading does not prolong an entry", readDoesNotProlong},
		{"a ttl of zero keeps the entry", noTTL},
		{"a deleted key is gone and deleting again is no error", remove},
		{"values are copied in and out", copies},
		{"a key is claimed once", claim},
		{"a claim ends with its ttl or when it is deleted", claimEnds},
		{"of many who claim a key one succeeds", claimRace},
		{"a value is swapped for the one that it was", swap},
		{"a swapped value has a life of its own", swapExpires},
		{"of many who swap a value one succeeds", swapRace},
		{"numbers are added up", add},
		{"a sum lives from its first addition on", addExpires},
		{"text is no number", addText},
		{"no addition is lost", addRace},
		{"a cancelled call fails with the context's error", cancelled},
		{"concurrent use is safe", concurrent},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// want fails the test unless the key has the value; nil means no value.
func want(t *testing.T, s store.Store, key string, value []byte) {
	t.Helper()
	got, found, err := s.Get(t.Context(), key)
	switch {
	case err != nil:
		t.Fatalf("Get(%q): %v", key, err)
	case found != (value != nil):
		t.Fatalf("Get(%q) found = %v, want %v", key, found, value != nil)
	case !bytes.Equal(got, value):
		t.Fatalf("Get(%q) = %q, want %q", key, got, value)
	}
}

func set(t *testing.T, s store.Store, key string, value []byte, ttl time.Duration) {
	t.Helper()
	if err := s.Set(t.Context(), key, value, ttl); err != nil {
		t.Fatalf("Set(%q): %v", key, err)
	}
}

func missing(t *testing.T, f Fixture) {
	want(t, f.Store, "absent", nil)
	want(t, f.Store, "", nil)
}

func found(t *testing.T, f Fixture) {
	set(t, f.Store, "a", []byte("one"), time.Minute)
	set(t, f.Store, "b", []byte("two"), time.Minute)
	want(t, f.Store, "a", []byte("one"))
	want(t, f.Store, "b", []byte("two"))
}

func anyBytes(t *testing.T, f Fixture) {
	value := make([]byte, 256)
	for i := range value {
		value[i] = byte(i)
	}
	for _, key := range []string{"", " ", "a:b", "a\x00b", "\xff\xfe", "schlüssel", "键", string(value), strings.Repeat("k", 4096)} {
		set(t, f.Store, key, value, time.Minute)
		want(t, f.Store, key, value)
	}
	large := bytes.Repeat(value, 1024) // 256 KiB
	set(t, f.Store, "large", large, time.Minute)
	want(t, f.Store, "large", large)
}

func emptyValue(t *testing.T, f Fixture) {
	set(t, f.Store, "empty", []byte{}, time.Minute)
	want(t, f.Store, "empty", []byte{})
	set(t, f.Store, "nil", nil, time.Minute)
	want(t, f.Store, "nil", []byte{})
}

func replace(t *testing.T, f Fixture) {
	set(t, f.Store, "k", []byte("short life"), 10*time.Second)
	set(t, f.Store, "k", []byte("long life"), time.Hour)
	want(t, f.Store, "k", []byte("long life"))
	f.Advance(time.Minute)
	want(t, f.Store, "k", []byte("long life"))
	set(t, f.Store, "k", []byte("short again"), 10*time.Second)
	f.Advance(time.Minute)
	want(t, f.Store, "k", nil)
}

func expire(t *testing.T, f Fixture) {
	set(t, f.Store, "soon", []byte("1"), 30*time.Second)
	set(t, f.Store, "late", []byte("2"), time.Hour)
	f.Advance(20 * time.Second)
	want(t, f.Store, "soon", []byte("1"))
	f.Advance(11 * time.Second)
	want(t, f.Store, "soon", nil)
	want(t, f.Store, "late", []byte("2"))
}

func readDoesNotProlong(t *testing.T, f Fixture) {
	set(t, f.Store, "k", []byte("v"), 30*time.Second)
	for range 2 {
		f.Advance(14 * time.Second)
		want(t, f.Store, "k", []byte("v"))
	}
	f.Advance(3 * time.Second)
	want(t, f.Store, "k", nil)
}

func noTTL(t *testing.T, f Fixture) {
	set(t, f.Store, "zero", []byte("v"), 0)
	set(t, f.Store, "negative", []byte("v"), -time.Second)
	f.Advance(1000 * time.Hour)
	want(t, f.Store, "zero", []byte("v"))
	want(t, f.Store, "negative", []byte("v"))
}

func remove(t *testing.T, f Fixture) {
	set(t, f.Store, "k", []byte("v"), time.Minute)
	set(t, f.Store, "other", []byte("v"), time.Minute)
	for range 2 {
		if err := f.Store.Delete(t.Context(), "k"); err != nil {
			t.Fatalf("Delete: %v", err)
		}
	}
	want(t, f.Store, "k", nil)
	want(t, f.Store, "other", []byte("v"))
}

func copies(t *testing.T, f Fixture) {
	value := []byte("value")
	set(t, f.Store, "k", value, time.Minute)
	value[0] = 'X'
	want(t, f.Store, "k", []byte("value"))
	got, _, err := f.Store.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	got[0] = 'Y'
	want(t, f.Store, "k", []byte("value"))
}

func cancelled(t *testing.T, f Fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Store.Get(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("Get: %v, want context.Canceled", err)
	}
	if err := f.Store.Set(ctx, "k", nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Set: %v, want context.Canceled", err)
	}
	if err := f.Store.Delete(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("Delete: %v, want context.Canceled", err)
	}
	if _, err := f.Store.Claim(ctx, "k", nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Claim: %v, want context.Canceled", err)
	}
	if _, err := f.Store.Swap(ctx, "k", nil, nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Swap: %v, want context.Canceled", err)
	}
	if _, err := f.Store.Add(ctx, "k", 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Add: %v, want context.Canceled", err)
	}
}

// concurrent has several writers of the same keys and checks that a reader only
// ever sees a whole value. The race detector does the rest.
func concurrent(t *testing.T, f Fixture) {
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			value := bytes.Repeat([]byte{byte('a' + w)}, 1000)
			for i := range 200 {
				key := fmt.Sprint("key", i%20)
				if err := f.Store.Set(t.Context(), key, value, time.Minute); err != nil {
					t.Errorf("Set: %v", err)
					return
				}
				got, found, err := f.Store.Get(t.Context(), key)
				if err != nil {
					t.Errorf("Get: %v", err)
					return
				}
				if found && !bytes.Equal(got, bytes.Repeat(got[:1], 1000)) {
					t.Errorf("Get(%q) is a mixture of two values", key)
					return
				}
				if i%50 == 49 {
					if err := f.Store.Delete(t.Context(), key); err != nil {
						t.Errorf("Delete: %v", err)
						return
					}
				}
			}
		})
	}
	group.Wait()
}

func claim(t *testing.T, f Fixture) {
	for i, wantClaimed := range []bool{true, false, false} {
		claimed, err := f.Store.Claim(t.Context(), "k", fmt.Append(nil, i), time.Minute)
		if err != nil || claimed != wantClaimed {
			t.Fatalf("claim %d: %v, %v", i, claimed, err)
		}
	}
	want(t, f.Store, "k", []byte("0"))
	set(t, f.Store, "taken", []byte("v"), time.Minute)
	if claimed, err := f.Store.Claim(t.Context(), "taken", nil, time.Minute); err != nil || claimed {
		t.Errorf("a key that was set: %v, %v", claimed, err)
	}
}

func claimEnds(t *testing.T, f Fixture) {
	for _, end := range []func(){
		func() { f.Advance(time.Minute) },
		func() {
			if err := f.Store.Delete(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		if claimed, err := f.Store.Claim(t.Context(), "k", []byte("v"), 30*time.Second); err != nil || !claimed {
			t.Fatalf("%v, %v", claimed, err)
		}
		end()
		want(t, f.Store, "k", nil)
	}
}

func claimRace(t *testing.T, f Fixture) {
	var group sync.WaitGroup
	var claims atomic.Int64
	for range 16 {
		group.Go(func() {
			claimed, err := f.Store.Claim(t.Context(), "k", []byte("v"), time.Minute)
			if err != nil {
				t.Error(err)
			}
			if claimed {
				claims.Add(1)
			}
		})
	}
	group.Wait()
	if claims.Load() != 1 {
		t.Errorf("%d claims succeeded", claims.Load())
	}
}

// swaps swaps and checks whether it was done.
func swaps(t *testing.T, s store.Store, key string, old, value []byte, ttl time.Duration, wantSwapped bool) {
	t.Helper()
	if swapped, err := s.Swap(t.Context(), key, old, value, ttl); err != nil || swapped != wantSwapped {
		t.Errorf("Swap(%q, %q, %q) = %v, %v; want %v", key, old, value, swapped, err, wantSwapped)
	}
}

func swap(t *testing.T, f Fixture) {
	swaps(t, f.Store, "absent", nil, []byte("v"), time.Minute, false)
	want(t, f.Store, "absent", nil)
	set(t, f.Store, "k", []byte("one"), time.Minute)
	swaps(t, f.Store, "k", []byte("another"), []byte("two"), time.Minute, false)
	want(t, f.Store, "k", []byte("one"))
	swaps(t, f.Store, "k", []byte("one"), []byte("two"), time.Minute, true)
	want(t, f.Store, "k", []byte("two"))
	swaps(t, f.Store, "k", []byte("two"), []byte{}, time.Minute, true)
	want(t, f.Store, "k", []byte{})
	swaps(t, f.Store, "k", []byte{}, []byte("41"), time.Minute, true)
	sum(t, f.Store, "k", 1, time.Minute, 42)
	swaps(t, f.Store, "k", []byte("41"), nil, 0, false)
	want(t, f.Store, "k", []byte("42"))
	swaps(t, f.Store, "k", []byte("42"), nil, 0, true)
	want(t, f.Store, "k", nil)
}

func swapExpires(t *testing.T, f Fixture) {
	set(t, f.Store, "k", []byte("one"), 10*time.Second)
	set(t, f.Store, "forever", []byte("one"), 10*time.Second)
	swaps(t, f.Store, "k", []byte("one"), []byte("two"), time.Minute, true)
	swaps(t, f.Store, "forever", []byte("one"), []byte("two"), 0, true)
	f.Advance(50 * time.Second)
	want(t, f.Store, "k", []byte("two"))
	swaps(t, f.Store, "k", []byte("other"), []byte("three"), time.Hour, false) // and leaves the life as it is
	f.Advance(11 * time.Second)
	want(t, f.Store, "k", nil)
	swaps(t, f.Store, "k", []byte("two"), []byte("three"), time.Minute, false)
	f.Advance(1000 * time.Hour)
	want(t, f.Store, "forever", []byte("two"))
}

func swapRace(t *testing.T, f Fixture) {
	set(t, f.Store, "k", []byte("old"), time.Minute)
	var group sync.WaitGroup
	var done atomic.Int64
	for i := range 16 {
		group.Go(func() {
			swapped, err := f.Store.Swap(t.Context(), "k", []byte("old"), fmt.Append(nil, "new ", i), time.Minute)
			if err != nil {
				t.Error(err)
			}
			if swapped {
				done.Add(1)
			}
		})
	}
	group.Wait()
	if done.Load() != 1 {
		t.Errorf("%d swaps succeeded", done.Load())
	}
}

// sum adds and checks the sum.
func sum(t *testing.T, s store.Store, key string, n int64, ttl time.Duration, wantSum int64) {
	t.Helper()
	if got, err := s.Add(t.Context(), key, n, ttl); err != nil || got != wantSum {
		t.Errorf("Add(%q, %d) = %d, %v; want %d", key, n, got, err, wantSum)
	}
}

func add(t *testing.T, f Fixture) {
	sum(t, f.Store, "k", 5, time.Minute, 5)
	sum(t, f.Store, "k", 0, time.Minute, 5)
	sum(t, f.Store, "k", -7, time.Minute, -2)
	sum(t, f.Store, "other", 1<<40, 0, 1<<40)
	want(t, f.Store, "k", []byte("-2"))
	set(t, f.Store, "k", []byte("41"), time.Minute)
	sum(t, f.Store, "k", 1, time.Minute, 42)
}

func addExpires(t *testing.T, f Fixture) {
	sum(t, f.Store, "k", 1, 30*time.Second, 1)
	sum(t, f.Store, "forever", 1, 0, 1)
	f.Advance(20 * time.Second)
	sum(t, f.Store, "k", 1, 30*time.Second, 2)
	f.Advance(11 * time.Second)
	sum(t, f.Store, "k", 1, 30*time.Second, 1)
	f.Advance(1000 * time.Hour)
	sum(t, f.Store, "forever", 1, time.Second, 2)
	f.Advance(time.Minute)
	want(t, f.Store, "forever", []byte("2"))
}

func addText(t *testing.T, f Fixture) {
	set(t, f.Store, "k", []byte("text"), time.Minute)
	if _, err := f.Store.Add(t.Context(), "k", 1, time.Minute); !errors.Is(err, store.ErrNoNumber) {
		t.Errorf("%v, want ErrNoNumber", err)
	}
	want(t, f.Store, "k", []byte("text"))
}

func addRace(t *testing.T, f Fixture) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if _, err := f.Store.Add(t.Context(), "k", 3, time.Minute); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	want(t, f.Store, "k", []byte("2400"))
}
