package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	now      func() time.Time
	maxBytes int64
	// share is the least weight of an entry: with it the bound on bytes is a bound
	// on entries too, and one policy keeps both.
	share int64
}

type entry struct {
	value []byte
	// ttl is the life that the last write gave it, until its end; zero for none.
	ttl   time.Duration
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
	m := &Memory{now: o.Now, maxBytes: o.MaxBytes, share: (o.MaxBytes + o.MaxEntries - 1) / o.MaxEntries}
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
	m.cache.Set(key, m.entry(value, ttl))
	return nil
}

// entry is a value of its own with its life. A value that is present and empty stays
// apart from none at all.
func (m *Memory) entry(value []byte, ttl time.Duration) entry {
	e := entry{value: append([]byte{}, value...), ttl: ttl}
	if ttl <= 0 {
		e.ttl = math.MaxInt64
	} else {
		e.until = m.now().Add(ttl)
	}
	return e
}

// Claim implements [Store].
func (m *Memory) Claim(ctx context.Context, key string, value []byte, ttl time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if m.weight(key, value) > m.maxBytes {
		return false, fmt.Errorf("%w: %d bytes, capacity %d", ErrTooLarge, len(key)+len(value), m.maxBytes)
	}
	_, claimed := m.cache.SetIfAbsent(key, m.entry(value, ttl))
	return claimed, nil
}

// Add implements [Store].
func (m *Memory) Add(ctx context.Context, key string, n int64, ttl time.Duration) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var sum int64
	var err error
	m.cache.Compute(key, func(old entry, found bool) (entry, otter.ComputeOp) {
		before := int64(0)
		if found {
			if before, err = strconv.ParseInt(string(old.value), 10, 64); err != nil {
				err = fmt.Errorf("%w: %.40q", ErrNoNumber, old.value)
				return old, otter.CancelOp
			}
		}
		sum = before + n
		fresh := m.entry(strconv.AppendInt(nil, sum, 10), ttl)
		if found {
			fresh.ttl, fresh.until = old.ttl, old.until
			if !old.until.IsZero() {
				fresh.ttl = old.until.Sub(m.now())
			}
		}
		return fresh, otter.WriteOp
	})
	return sum, err
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
