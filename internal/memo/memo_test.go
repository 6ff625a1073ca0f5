package memo

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestRemembersByKindAndText(t *testing.T) {
	m := New(1 << 20)
	m.Put(m.Key(Clean, "tea"), 1, 0)
	m.Put(m.Key(Names, "tea"), 2, 0)
	for _, tt := range []struct {
		kind Kind
		text string
		want any
	}{{Clean, "tea", 1}, {Names, "tea", 2}, {ToolNames, "tea", nil}, {Clean, "Tea", nil}, {Clean, "", nil}} {
		if got, _ := m.Get(m.Key(tt.kind, tt.text)); got != tt.want {
			t.Errorf("%v of %q: got %v, want %v", tt.kind, tt.text, got, tt.want)
		}
	}
}

func TestOwnersShareRoomAndNothingElse(t *testing.T) {
	m := New(1 << 20)
	ann, bob := m.For("ann"), m.For("bob")
	ann.Put(ann.Key(Clean, "tea"), 1, 0)
	for name, other := range map[string]*Memo{"bob": bob, "nobody": m, "nobody by name": m.For("")} {
		if got, found := other.Get(other.Key(Clean, "tea")); found {
			t.Errorf("%s finds %v", name, got)
		}
		if other.Bytes() != ann.Bytes() {
			t.Errorf("%s: %d bytes in use, %d for ann", name, other.Bytes(), ann.Bytes())
		}
	}
	again := m.For("ann")
	if got, _ := again.Get(again.Key(Clean, "tea")); got != 1 {
		t.Errorf("ann finds %v", got)
	}
	var none *Memo
	if none.For("ann") != nil {
		t.Error("no memo became one")
	}
}

func TestStaysWithinItsSizeAndDropsWhatWasNotAskedFor(t *testing.T) {
	const limit = 64 << 10
	m := New(limit)
	wanted := m.Key(Clean, "wanted")
	m.Put(wanted, true, 100)
	for i := range 10_000 {
		m.Put(m.Key(Clean, fmt.Sprint(i)), i, i%500)
		if m.Bytes() > limit {
			t.Fatalf("%d bytes after %d entries", m.Bytes(), i)
		}
		if _, found := m.Get(wanted); !found {
			t.Fatalf("what is asked for all the time was dropped at entry %d", i)
		}
	}
	if _, found := m.Get(m.Key(Clean, "0")); found {
		t.Error("the oldest entry is still there")
	}
	if m.Bytes() < limit/2 {
		t.Errorf("only %d bytes of %d are in use", m.Bytes(), limit)
	}
}

func TestForgetsWhatIsTooLarge(t *testing.T) {
	m := New(64 << 10)
	key := m.Key(Clean, "large")
	m.Put(key, true, 3<<10)
	if _, found := m.Get(key); found || m.Bytes() != 0 {
		t.Error("an entry of three quarters of its share is remembered")
	}
}

func TestNilRemembersNothing(t *testing.T) {
	m := New(0)
	m.Put(m.Key(Clean, "tea"), true, 0)
	if _, found := m.Get(m.Key(Clean, "tea")); found || m.Bytes() != 0 {
		t.Error("a memo of no size remembers")
	}
}

func TestKeysDependOnOrderAndProcess(t *testing.T) {
	m := New(1 << 20)
	a, b := m.Key(Seen, "a"), m.Key(Seen, "b")
	if a.Join(b) == b.Join(a) || a.Join(b) == a || (Key{}).Join(a) == (Key{}).Join(b) {
		t.Error("joined keys collide")
	}
	if New(1<<20).Key(Seen, "a") == a {
		t.Error("another memo has the same key")
	}
}

func TestConcurrentUse(t *testing.T) {
	m := New(32 << 10)
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for i := range 2000 {
				text := strings.Repeat("x", (i*7+n)%90)
				key := m.Key(Clean, text)
				if got, found := m.Get(key); found && got != len(text) {
					t.Errorf("got %v for a text of %d bytes", got, len(text))
				}
				m.Put(key, len(text), i%300)
			}
		})
	}
	group.Wait()
}
