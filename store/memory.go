package store

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The defaults of [MemoryOptions].
const (
	DefaultMaxBytes   = 64 << 20
	DefaultMaxEntries = 100_000
)

// entryOverhead is what an entry costs beside its key and value, in bytes: its
// places in map and list and the headers of key and value. It is an estimate
// on the high side for a 64-bit machine, so that the bound is kept in fact.
const entryOverhead = 200

// MemoryOptions bound a [Memory]. The zero value takes the defaults.
type MemoryOptions struct {
	// MaxBytes bounds keys, values and their bookkeeping together. Default 64 MiB.
	MaxBytes int64
	// MaxEntries bounds the number of entries. Default 100,000.
	MaxEntries int64
	// Now is the clock that decides expiry. Default time.Now.
	Now func() time.Time
}

// Memory is a [Store] in the memory of this process, bounded by bytes and by
// entries. What was not used for longest goes first. (A policy that keeps what was used
// often would turn away what is new, and it is the newest entry that the next turn of a
// conversation asks for.) It runs no goroutine of its own and needs no closing.
type Memory struct {
	now      func() time.Time
	maxBytes int64
	// share is the least weight of an entry: with it the bound on bytes is a bound
	// on entries too, and one policy keeps both.
	share int64

	mu    sync.Mutex
	bytes int64
	byKey map[string]*list.Element
	order *list.List // of *entry, the one used last in front
}

// entry is never changed once it is held.
type entry struct {
	key   string
	value []byte
	// until is the end of its life; zero for none.
	until time.Time
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory(o MemoryOptions) (*Memory, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxEntries == 0 {
		o.MaxEntries = DefaultMaxEntries
	}
	if o.MaxBytes < 0 || o.MaxEntries < 0 {
		return nil, fmt.Errorf("new memory store: negative bound (%d bytes, %d entries)", o.MaxBytes, o.MaxEntries)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Memory{
		now: o.Now, maxBytes: o.MaxBytes, share: (o.MaxBytes + o.MaxEntries - 1) / o.MaxEntries,
		byKey: make(map[string]*list.Element), order: list.New(),
	}, nil
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	m.mu.Lock()
	e := m.find(key)
	m.mu.Unlock()
	if e == nil {
		return nil, false, nil
	}
	return slices.Clone(e.value), true, nil
}

// Set implements [Store].
func (m *Memory) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.fits(key, value); err != nil {
		m.remove(key)
		return err
	}
	e := m.entry(key, value, ttl)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hold(e)
	return nil
}

// fits refuses a value that there can never be room for.
func (m *Memory) fits(key string, value []byte) error {
	if m.weight(key, value) > m.maxBytes {
		return fmt.Errorf("%w: %d bytes, capacity %d", ErrTooLarge, len(key)+len(value), m.maxBytes)
	}
	return nil
}

// entry is a value of its own with its life. A value that is present and empty stays
// apart from none at all.
func (m *Memory) entry(key string, value []byte, ttl time.Duration) *entry {
	e := &entry{key: key, value: append([]byte{}, value...)}
	if ttl > 0 {
		e.until = m.now().Add(ttl)
	}
	return e
}

// find returns the entry of a key that is alive, nil for none, and counts that as a use.
func (m *Memory) find(key string) *entry {
	at := m.byKey[key]
	if at == nil {
		return nil
	}
	if m.expired(at) {
		m.drop(at)
		return nil
	}
	m.order.MoveToFront(at)
	return at.Value.(*entry)
}

// hold puts an entry in the place of the one of its key, and makes room for it.
func (m *Memory) hold(e *entry) {
	if at := m.byKey[e.key]; at != nil {
		m.drop(at)
	}
	m.byKey[e.key] = m.order.PushFront(e)
	m.bytes += m.weight(e.key, e.value)
	for m.bytes > m.maxBytes || m.expired(m.order.Back()) {
		m.drop(m.order.Back())
	}
}

func (m *Memory) expired(at *list.Element) bool {
	if at == nil {
		return false
	}
	until := at.Value.(*entry).until
	return !until.IsZero() && !m.now().Before(until)
}

func (m *Memory) drop(at *list.Element) {
	e := m.order.Remove(at).(*entry)
	delete(m.byKey, e.key)
	m.bytes -= m.weight(e.key, e.value)
}

func (m *Memory) remove(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.byKey[key]; at != nil {
		m.drop(at)
	}
}

// Claim implements [Store].
func (m *Memory) Claim(ctx context.Context, key string, value []byte, ttl time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := m.fits(key, value); err != nil {
		return false, err
	}
	e := m.entry(key, value, ttl)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.find(key) != nil {
		return false, nil
	}
	m.hold(e)
	return true, nil
}

// Swap implements [Store].
func (m *Memory) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := m.fits(key, value); err != nil {
		return false, err
	}
	e := m.entry(key, value, ttl)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch now := m.find(key); {
	case now == nil || !bytes.Equal(now.value, old):
		return false, nil
	case value == nil:
		m.drop(m.byKey[key])
	default:
		m.hold(e)
	}
	return true, nil
}

// Add implements [Store].
func (m *Memory) Add(ctx context.Context, key string, n int64, ttl time.Duration) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.find(key)
	before := int64(0)
	if old != nil {
		var err error
		if before, err = strconv.ParseInt(string(old.value), 10, 64); err != nil {
			return 0, fmt.Errorf("%w: %.40q", ErrNoNumber, old.value)
		}
	}
	sum := before + n
	fresh := m.entry(key, strconv.AppendInt(nil, sum, 10), ttl)
	if old != nil {
		fresh.until = old.until
	}
	m.hold(fresh)
	return sum, nil
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.remove(key)
	return nil
}

// Usage is what a [Memory] holds at the moment.
type Usage struct {
	// Entries counts expired entries too, until they are cleared away.
	Entries int
	// Bytes is the weight that the bound is kept on.
	Bytes int64
}

// Usage returns what the store holds.
func (m *Memory) Usage() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Usage{Entries: m.order.Len(), Bytes: m.bytes}
}

func (m *Memory) weight(key string, value []byte) int64 {
	return max(int64(len(key)+len(value)+entryOverhead), m.share)
}
