package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeClock is a clock that only moves when it is told to.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func open(t *testing.T, o store.MemoryOptions) (*store.Memory, *fakeClock) {
	t.Helper()
	clock := &fakeClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	o.Now = clock.Now
	m, err := store.NewMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	return m, clock
}

func TestMemoryConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Fixture {
		m, clock := open(t, store.MemoryOptions{})
		return storetest.Fixture{Store: m, Advance: clock.Advance}
	})
}

func TestMemoryKeepsItsBounds(t *testing.T) {
	for _, c := range []struct {
		name                 string
		maxBytes, maxEntries int64
		valueBytes           int
	}{
		{"many small values meet the bound on entries", 1 << 20, 100, 10},
		{"large values meet the bound on bytes", 1 << 20, 100_000, 50_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := open(t, store.MemoryOptions{MaxBytes: c.maxBytes, MaxEntries: c.maxEntries})
			value := bytes.Repeat([]byte("v"), c.valueBytes)
			for i := range 2000 {
				if err := m.Set(t.Context(), fmt.Sprint("key", i), value, time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			var entries, size int64
			for i := range 2000 {
				if v, found, _ := m.Get(t.Context(), fmt.Sprint("key", i)); found {
					entries++
					size += int64(len(v))
				}
			}
			if entries == 0 || entries > c.maxEntries {
				t.Errorf("%d entries are left, want 1 to %d", entries, c.maxEntries)
			}
			if size > c.maxBytes {
				t.Errorf("values of %d bytes are left, want at most %d", size, c.maxBytes)
			}
			if u := m.Usage(); u.Bytes > c.maxBytes || int64(u.Entries) > c.maxEntries {
				t.Errorf("Usage() = %+v exceeds the bounds", u)
			}
		})
	}
}

func TestMemoryRefusesWhatCannotFit(t *testing.T) {
	m, _ := open(t, store.MemoryOptions{MaxBytes: 10_000, MaxEntries: 10})
	if err := m.Set(t.Context(), "k", []byte("fits"), 0); err != nil {
		t.Fatal(err)
	}
	if err := m.Set(t.Context(), "k", make([]byte, 10_000), 0); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("Set of a value larger than the store: %v, want ErrTooLarge", err)
	}
	if _, found, _ := m.Get(t.Context(), "k"); found {
		t.Error("the earlier value outlived a refused one")
	}
}

func TestMemoryRefusesNegativeBounds(t *testing.T) {
	for _, o := range []store.MemoryOptions{{MaxBytes: -1}, {MaxEntries: -1}} {
		if _, err := store.NewMemory(o); err == nil {
			t.Errorf("NewMemory(%+v) succeeded", o)
		}
	}
}

func TestMemoryFreesExpiredEntries(t *testing.T) {
	m, clock := open(t, store.MemoryOptions{})
	for i := range 500 {
		if err := m.Set(t.Context(), fmt.Sprint("old", i), make([]byte, 1000), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(time.Hour)
	for i := range 500 {
		if err := m.Set(t.Context(), fmt.Sprint("new", i), make([]byte, 1000), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if u := m.Usage(); u.Entries > 600 {
		t.Errorf("%d entries are held after 500 of 1000 expired", u.Entries)
	}
}

// A conversation comes back for its newest entry, however many there were before.
func TestNewEntriesArePutBeforeOldOnesWhenTheRoomIsFull(t *testing.T) {
	m, _ := open(t, store.MemoryOptions{MaxBytes: 100 << 10})
	value := bytes.Repeat([]byte("x"), 1000)
	for i := range 1000 {
		key := fmt.Sprint(i)
		if err := m.Set(t.Context(), key, value, time.Hour); err != nil {
			t.Fatal(err)
		}
		for back := range min(i, 50) {
			if _, found, err := m.Get(t.Context(), fmt.Sprint(i-back)); err != nil || !found {
				t.Fatalf("the entry written %d writes ago is gone (%v)", back, err)
			}
		}
	}
}
