package server

import (
	"strings"
	"testing"
	"time"
)

func TestTheTextNotUsedForLongestGoesFirst(t *testing.T) {
	text := strings.Repeat("x", 1000)
	h := newHeld(3 * (1000 + 1 + heldOverhead))
	for _, key := range []string{"a", "b", "c"} {
		h.set(key, text)
	}
	h.get("a")
	h.set("d", text)
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if _, found := h.get(key); found != want {
			t.Errorf("%s is held: %v, want %v", key, found, want)
		}
	}
	h.set("e", strings.Repeat(text, 4))
	if _, found := h.get("e"); found {
		t.Error("a text larger than all may be together is held")
	}
	h.set("a", "short")
	h.set("a", "short")
	if want := int64(2*(1000+1+heldOverhead) + 5 + 1 + heldOverhead); h.bytes != want || len(h.byKey) != 3 || h.order.Len() != 3 {
		t.Errorf("%d texts of %d bytes, want 3 of %d", len(h.byKey), h.bytes, want)
	}
}

func TestATextThatIsTooOldIsNotHeld(t *testing.T) {
	h := newHeld(1 << 20)
	now := time.Unix(1000, 0)
	h.now = func() time.Time { return now }
	h.set("a", "text")
	now = now.Add(keptFor - 1)
	if _, found := h.get("a"); !found {
		t.Error("it is gone before its time")
	}
	now = now.Add(1)
	h.set("b", "text")
	if _, found := h.get("a"); found || len(h.byKey) != 1 {
		t.Errorf("it is held for longer than its time (%v), %d texts", found, len(h.byKey))
	}
}
