package server

import (
	"container/list"
	"sync"
	"time"

	"github.com/elbowroom/elbowroom/store"
)

// holdings keeps the bodies of tenants within a bound of bytes for all of them. When it
// is full, the tenant that holds the most loses what it has not used for longest, so one
// that sends much pushes out its own and nobody else's. It is safe for concurrent use.
type holdings struct {
	limit int64
	now   func() time.Time

	mu      sync.Mutex
	bytes   int64
	entries int
	tenants map[string]*holding
}

// holding is what one tenant has, used last in front.
type holding struct {
	bytes  int64
	recent list.List // of *heldBody
	byName map[string]*list.Element
}

type heldBody struct {
	name string // its digest
	body []byte
	ends time.Time
}

// heldOverhead is about what an entry costs besides its body, in bytes.
const heldOverhead = 256

func (b *heldBody) size() int64 { return int64(len(b.body)) + heldOverhead }

func newHoldings(limit int64, now func() time.Time) *holdings {
	return &holdings{limit: limit, now: now, tenants: map[string]*holding{}}
}

// get returns a body that a tenant holds.
func (h *holdings) get(tenant, name string) ([]byte, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tenants[tenant]
	if t == nil {
		return nil, false
	}
	at := t.byName[name]
	if at == nil {
		return nil, false
	}
	if b := body(at); b.ends.After(h.now()) {
		t.recent.MoveToFront(at)
		return b.body, true
	}
	h.drop(tenant, t, at)
	return nil, false
}

// set holds a body for some time. One that is larger than the bound is not held.
func (h *holdings) set(tenant, name string, text []byte, life time.Duration) {
	b := &heldBody{name: name, body: text, ends: h.now().Add(life)}
	if b.size() > h.limit {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tenants[tenant]
	if t == nil {
		t = &holding{byName: map[string]*list.Element{}}
		h.tenants[tenant] = t
	}
	if at := t.byName[name]; at != nil {
		body(at).ends = b.ends // the same bytes, by their digest
		t.recent.MoveToFront(at)
		return
	}
	t.byName[name] = t.recent.PushFront(b)
	t.bytes += b.size()
	h.bytes += b.size()
	h.entries++
	for h.bytes > h.limit {
		h.makeRoom()
	}
}

// makeRoom drops the oldest body of the tenant that holds the most, those that have
// expired first.
func (h *holdings) makeRoom() {
	now, most, largest := h.now(), "", (*holding)(nil)
	for tenant, t := range h.tenants {
		if at := t.recent.Back(); !body(at).ends.After(now) {
			h.drop(tenant, t, at)
			return
		}
		if largest == nil || t.bytes > largest.bytes || t.bytes == largest.bytes && tenant < most {
			most, largest = tenant, t
		}
	}
	h.drop(most, largest, largest.recent.Back())
}

func (h *holdings) drop(tenant string, t *holding, at *list.Element) {
	b := body(at)
	t.recent.Remove(at)
	delete(t.byName, b.name)
	t.bytes -= b.size()
	h.bytes -= b.size()
	h.entries--
	if t.recent.Len() == 0 {
		delete(h.tenants, tenant)
	}
}

// usage is what is held.
func (h *holdings) usage() store.Usage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return store.Usage{Entries: h.entries, Bytes: h.bytes}
}

func body(at *list.Element) *heldBody { return at.Value.(*heldBody) }
