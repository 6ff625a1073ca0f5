package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/maypok86/otter/v2"
)

// The defaults of [MemoryOptions].
const (
	DefaultMaxBytes   = 64 << 20
	DefaultMaxEntries = 100_000
)

// entryOverhead is what an entry costs beside its key and value, in bytes: the
// hash table's node, the policy's links and two slice headers. It is an estimate
// on the high side for a 64-bit machine, so that the bound is kept in fact.
const entryOverhead = 160

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
// entries. What was used least, lately and often, goes first. It runs no
// goroutine of its own and needs no closing.
type Memory struct {
	cache    *otter.Cache[string, entry]
	maxBytes int64
	// share is the least weight of an entry: with it the bound on bytes is a bound
	// on entries too, and one policy keeps both.
	share int64
}

type entry struct {
	value []byte
	ttl   time.Duration
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
	m := &Memory{maxBytes: o.MaxBytes, share: (o.MaxBytes + o.MaxEntries - 1) / o.MaxEntries}
	cache, err := otter.New(&otter.Options[string, entry]{
		MaximumWeight: uint64(o.MaxBytes),
		Weigher:       func(key string, e entry) uint32 { return uint32(min(m.weight(key, e.value), math.MaxUint32)) },
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, entry]) time.Duration {
			return e.Value.ttl
		}),
		Clock:    clock{o.Now},
		Executor: func(fn func()) { fn() },
	})
	if err != nil {
		return nil, fmt.Errorf("new memory store: %w", err)
	}
	m.cache = cache
	return m, nil
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, key string) ([]byte, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	e, found := m.cache.GetIfPresent(key)
	if !found {
		return nil, false, nil
	}
	return slices.Clone(e.value), true, nil
}

// Set implements [Store].
func (m *Memory) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.weight(key, value) > m.maxBytes {
		m.cache.Invalidate(key)
		return fmt.Errorf("%w: %d bytes, capacity %d", ErrTooLarge, len(key)+len(value), m.maxBytes)
	}
	if ttl <= 0 {
		ttl = math.MaxInt64
	}
	// A value that is present and empty stays apart from none at all.
	m.cache.Set(key, entry{value: append([]byte{}, value...), ttl: ttl})
	return nil
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.cache.Invalidate(key)
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
	return Usage{Entries: m.cache.EstimatedSize(), Bytes: int64(m.cache.WeightedSize())}
}

func (m *Memory) weight(key string, value []byte) int64 {
	return max(int64(len(key)+len(value)+entryOverhead), m.share)
}

// clock gives the cache its time. It never ticks: an expired entry is invisible
// at once and its memory goes with the next writes, which the bounds make
// enough.
type clock struct{ now func() time.Time }

func (c clock) NowNano() int64 { return c.now().UnixNano() }

func (c clock) Tick(time.Duration) <-chan time.Time { return nil }
