package store

import (
	"context"
	"errors"
	"time"
)

// Store keeps small values by key. Implementations are safe for concurrent use.
// Keys are any bytes, the empty key included. Neither side keeps or changes the
// other's slice: values are copied on their way in and out.
type Store interface {
	// Get returns the value of a key and whether there is one. A missing, expired
	// or evicted key is not an error; a value that cannot be read is [ErrUnreadable].
	Get(ctx context.Context, key string) (value []byte, found bool, err error)
	// Set stores a value for ttl, in place of any earlier one and its ttl. A ttl
	// of 0 or less keeps it until it is evicted. A value that can never fit is
	// refused with [ErrTooLarge], and the key then has no value.
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
	// Delete removes a key. A key that is not there is not an error.
	Delete(ctx context.Context, key string) error
	// Claim stores a value for ttl unless the key has one, and reports whether it did: of
	// those who claim a key at one time, one succeeds.
	Claim(ctx context.Context, key string, value []byte, ttl time.Duration) (claimed bool, err error)
	// Swap stores a new value for ttl in the place of an old one, in one step, and reports
	// whether it did: not where the key has another value by now, or none. A nil value
	// removes the key.
	Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (swapped bool, err error)
	// Add adds n to the number that a key holds, 0 where it holds none, and returns the
	// sum. The first addition gives the key its ttl, which later ones do not prolong.
	// The value of the key is the sum in decimal; [ErrNoNumber] is returned for a key
	// that holds anything else.
	Add(ctx context.Context, key string, n int64, ttl time.Duration) (sum int64, err error)
}

// ErrTooLarge is returned for a value that exceeds the store's whole capacity.
var ErrTooLarge = errors.New("the value is larger than the store")

// ErrUnreadable is returned for a value that is there and cannot be read: another server
// wrote it with an encryption key that this one does not have, or somebody changed it.
var ErrUnreadable = errors.New("the value cannot be read")

// ErrNoNumber is returned by Add for a key whose value is no number.
var ErrNoNumber = errors.New("the value is no number")
