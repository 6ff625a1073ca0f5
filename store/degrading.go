package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// pause is how long a remote store that failed is left alone, so that a call does
// not wait for it again and again.
const pause = time.Second

// Degrading is a [Store] shared by many servers that goes on alone when it cannot be
// reached: with what this server stored itself since. Losing the shared one costs
// work that is done twice, never an answer. What stands there and cannot be read is as
// good as away: this server has its own.
type Degrading struct {
	remote, local Store
	observe       func(op string, err error)
	now           func() time.Time
	// until is the end of the pause in Unix nanoseconds, 0 as long as the remote store
	// works.
	until atomic.Int64
}

var _ Store = (*Degrading)(nil)

// NewDegrading returns a store that uses remote, and local where that fails.
// observe, when not nil, is told of every operation on the remote store: the error
// is nil for one that succeeded, [ErrUnreadable] for one that found what it cannot read.
// Operations in a pause are not told.
func NewDegrading(remote, local Store, observe func(op string, err error)) *Degrading {
	if observe == nil {
		observe = func(string, error) {}
	}
	return &Degrading{remote: remote, local: local, observe: observe, now: time.Now}
}

// Degraded reports whether the remote store is being done without: since an operation
// failed, and until one that tries it again after a pause succeeds.
func (d *Degrading) Degraded() bool { return d.until.Load() != 0 }

// enter reports whether an operation may use the remote store. Of those that come when a
// pause is over one tries it, with the end of the next pause for a ticket, and the others
// go on alone: all of them would wait for a store that still hangs.
func (d *Degrading) enter() (ticket int64, ok bool) {
	until := d.until.Load()
	if until == 0 {
		return 0, true
	}
	now := d.now()
	ticket = now.Add(pause).UnixNano()
	return ticket, now.UnixNano() >= until && d.until.CompareAndSwap(until, ticket)
}

// try runs an operation on the remote store and reports whether its result counts.
// The caller's own end, and a refusal that would be the same anywhere, count.
func (d *Degrading) try(ctx context.Context, op string, run func() error) (ok bool, err error) {
	ticket, ok := d.enter()
	if !ok {
		return false, nil
	}
	err = run()
	switch {
	case err == nil, errors.Is(err, ErrUnreadable):
		if ticket != 0 {
			d.until.CompareAndSwap(ticket, 0)
		}
		d.observe(op, err)
		return err == nil, nil
	case ctx.Err() != nil:
		return true, ctx.Err()
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrNoNumber):
		return true, err
	default:
		d.until.Store(d.now().Add(pause).UnixNano())
		d.observe(op, err)
		return false, nil
	}
}

// Get implements [Store].
func (d *Degrading) Get(ctx context.Context, key string) (value []byte, found bool, err error) {
	ok, err := d.try(ctx, "get", func() (err error) { value, found, err = d.remote.Get(ctx, key); return err })
	if ok {
		return value, found, err
	}
	return d.local.Get(ctx, key)
}

// Set implements [Store].
func (d *Degrading) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if ok, err := d.try(ctx, "set", func() error { return d.remote.Set(ctx, key, value, ttl) }); ok && err != nil {
		if errors.Is(err, ErrTooLarge) {
			_ = d.local.Delete(ctx, key) // the key has no value there, and is to have none here
		}
		return err
	}
	// Here too, for the time when the remote store is away.
	return d.local.Set(ctx, key, value, ttl)
}

// Delete implements [Store].
func (d *Degrading) Delete(ctx context.Context, key string) error {
	if ok, err := d.try(ctx, "delete", func() error { return d.remote.Delete(ctx, key) }); ok && err != nil {
		return err
	}
	return d.local.Delete(ctx, key)
}

// Claim implements [Store].
func (d *Degrading) Claim(ctx context.Context, key string, value []byte, ttl time.Duration) (claimed bool, err error) {
	ok, err := d.try(ctx, "claim", func() (err error) { claimed, err = d.remote.Claim(ctx, key, value, ttl); return err })
	if ok && err == nil {
		// Somebody has it, whoever: while the remote store is away nobody here gets it.
		_ = d.local.Set(ctx, key, value, ttl) // the claim counts without it
	}
	if ok {
		return claimed, err
	}
	return d.local.Claim(ctx, key, value, ttl)
}

// Swap implements [Store].
func (d *Degrading) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (swapped bool, err error) {
	ok, err := d.try(ctx, "swap", func() (err error) { swapped, err = d.remote.Swap(ctx, key, old, value, ttl); return err })
	switch {
	case !ok:
		return d.local.Swap(ctx, key, old, value, ttl)
	case !swapped:
	case value == nil:
		_ = d.local.Delete(ctx, key) // the swap counts without it
	default:
		_ = d.local.Set(ctx, key, value, ttl) // likewise
	}
	return swapped, err
}

// Add implements [Store].
func (d *Degrading) Add(ctx context.Context, key string, n int64, ttl time.Duration) (sum int64, err error) {
	ok, err := d.try(ctx, "add", func() (err error) { sum, err = d.remote.Add(ctx, key, n, ttl); return err })
	if ok {
		return sum, err
	}
	return d.local.Add(ctx, key, n, ttl)
}
