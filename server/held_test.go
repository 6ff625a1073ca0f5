package server

import (
	"fmt"
	"testing"
	"time"
)

func TestATenantThatHoldsMuchPushesOutItsOwn(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := newHoldings(20*(1_000+heldOverhead), func() time.Time { return now })
	text := make([]byte, 1_000)
	h.set("small", "s1", text, time.Hour)
	h.set("small", "s2", text, time.Hour)
	for i := range 100 {
		h.set("large", fmt.Sprint(i), text, time.Hour)
	}
	for _, name := range []string{"s1", "s2"} {
		if _, held := h.get("small", name); !held {
			t.Errorf("the other tenant has lost %s", name)
		}
	}
	if _, held := h.get("large", "99"); !held {
		t.Error("the newest is gone")
	}
	if _, held := h.get("large", "0"); held {
		t.Error("the oldest is held")
	}
	if u := h.usage(); u.Entries != 20 || u.Bytes != 20*(1_000+heldOverhead) {
		t.Errorf("%+v", u)
	}
	if _, held := h.get("large", "s1"); held {
		t.Error("a tenant gets another's")
	}
}

func TestWhatWasUsedLatelyStays(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := newHoldings(3*(1_000+heldOverhead), func() time.Time { return now })
	text := make([]byte, 1_000)
	for _, name := range []string{"a", "b", "c"} {
		h.set("t", name, text, time.Hour)
	}
	h.get("t", "a")
	h.set("t", "b", text, time.Hour)
	h.set("t", "d", text, time.Hour)
	for name, want := range map[string]bool{"a": true, "b": true, "c": false, "d": true} {
		if _, held := h.get("t", name); held != want {
			t.Errorf("%s is held: %v", name, held)
		}
	}
	h.set("t", "too large", make([]byte, 10_000), time.Hour)
	if u := h.usage(); u.Entries != 3 {
		t.Errorf("%+v after a body that does not fit", u)
	}
}

func TestBodiesExpire(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	h := newHoldings(3*(1_000+heldOverhead), func() time.Time { return now })
	text := make([]byte, 1_000)
	h.set("old", "a", text, time.Hour)
	h.set("new", "b", text, 3*time.Hour)
	h.set("new", "c", text, 3*time.Hour)
	now = now.Add(2 * time.Hour)
	h.set("new", "d", text, time.Hour) // in the place of what has expired, though "new" holds more
	for name, want := range map[string]bool{"b": true, "c": true, "d": true} {
		if _, held := h.get("new", name); held != want {
			t.Errorf("%s is held: %v", name, held)
		}
	}
	now = now.Add(2 * time.Hour)
	if _, held := h.get("new", "b"); held {
		t.Error("an expired body is given out")
	}
	if u := h.usage(); u.Entries != 2 {
		t.Errorf("%+v", u)
	}
}
