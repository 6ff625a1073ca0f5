package server

import (
	"container/list"
	"sync"
	"time"
)

// held are texts in memory, bound by their bytes: the one used last longest ago goes
// first. A cache that judges what is new by how often it was used is of no use here:
// a conversation goes on from its newest body, which nobody has used yet, and never
// again from those before.
type held struct {
	maxBytes int64
	now      func() time.Time

	mu    sync.Mutex
	bytes int64
	byKey map[string]*list.Element
	order *list.List // of *heldText, the one used last in front
}

type heldText struct {
	key, text string
	until     time.Time
}

// heldOverhead is what a text costs beside its key and itself, in bytes: its places in
// map and list. An estimate on the high side.
const heldOverhead = 200

func newHeld(maxBytes int64) *held {
	return &held{maxBytes: maxBytes, now: time.Now, byKey: make(map[string]*list.Element), order: list.New()}
}

func (t *heldText) weight() int64 { return int64(len(t.key) + len(t.text) + heldOverhead) }

// get returns a text that is held and not too old.
func (h *held) get(key string) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, found := h.byKey[key]
	if !found {
		return "", false
	}
	if h.stale(e) {
		h.drop(e)
		return "", false
	}
	h.order.MoveToFront(e)
	return e.Value.(*heldText).text, true
}

func (h *held) stale(e *list.Element) bool {
	return e != nil && !h.now().Before(e.Value.(*heldText).until)
}

// set holds a text for [keptFor], if it is not larger than all may be together.
func (h *held) set(key, text string) {
	t := &heldText{key: key, text: text, until: h.now().Add(keptFor)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e, found := h.byKey[key]; found {
		h.drop(e)
	}
	if t.weight() > h.maxBytes {
		return
	}
	h.byKey[key] = h.order.PushFront(t)
	h.bytes += t.weight()
	for h.bytes > h.maxBytes || h.stale(h.order.Back()) {
		h.drop(h.order.Back())
	}
}

func (h *held) drop(e *list.Element) {
	t := h.order.Remove(e).(*heldText)
	delete(h.byKey, t.key)
	h.bytes -= t.weight()
}
