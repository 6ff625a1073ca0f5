package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/telemetry"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/store/redis"
)

// state is where a server keeps what outlives a call.
type state struct {
	store.Store
	// where says so for the announcement.
	where string
	close func()
}

// openState opens the stores that a configuration describes. A Redis that cannot be
// reached is no error: it may come later.
func openState(ctx context.Context, c *config.Config, log *slog.Logger, recorder *telemetry.Recorder) (*state, error) {
	memory, err := store.NewMemory(store.MemoryOptions{MaxBytes: int64(c.Store.MaxBytes), MaxEntries: int64(c.Store.MaxEntries)})
	if err != nil {
		return nil, err
	}
	shared, host, err := openRedis(c)
	if err != nil {
		return nil, err
	}
	if shared == nil {
		return &state{
			Store: memory, where: fmt.Sprintf("in memory, %v, %d entries", c.Store.MaxBytes, c.Store.MaxEntries),
			close: func() {},
		}, nil
	}
	watch := &storeWatch{log: log}
	both := store.NewDegrading(asideStore{shared}, memory, func(op string, err error) { //nolint:contextcheck // told of operations of any call
		watch.observe(op, err)
		recorder.StoreOperation(op, err)
	})
	if err := recorder.WatchStore(both.Degraded); err != nil {
		shared.Close()
		return nil, err
	}
	// Once at the start, so that a wrong address is in the log before the first call.
	_, _, _ = both.Get(ctx, "start")
	encrypted := "encrypted"
	if c.Store.EncryptionKeyFile == "" {
		encrypted = "NOT encrypted"
	}
	return &state{
		Store: both, where: fmt.Sprintf("Redis at %s, %s; this process's memory, %v, when it is away", host, encrypted, c.Store.MaxBytes),
		close: shared.Close,
	}, nil
}

// openRedis returns the shared store and its host, nil where none is configured.
func openRedis(c *config.Config) (*redis.Store, string, error) {
	where, err := c.RedisURL()
	if err != nil || where == "" {
		return nil, "", usage(err)
	}
	keys, err := c.EncryptionKeys()
	if err != nil {
		return nil, "", usage(err)
	}
	shared, err := redis.Open(redis.Options{URL: where, Prefix: c.Store.RedisPrefix, Timeout: c.Store.RedisTimeout, Keys: keys})
	if err != nil {
		return nil, "", usage(fmt.Errorf("store.redis_url: %w", err))
	}
	host := ""
	if u, err := url.Parse(where); err == nil {
		host = u.Host
	}
	return shared, host, nil
}

// usage makes a usage error of one that is not nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// settled is how long a shared store must have worked before it counts as back: one
// that refuses writes and answers reads is neither back nor away anew with each call.
const settled = 5 * time.Second

// storeWatch writes to the log when a shared store goes away and when it is back, a
// line for each and none for each operation.
type storeWatch struct {
	log *slog.Logger

	mu sync.Mutex
	// unreadable is set when the line about it has been written.
	unreadable bool

	away   bool
	since  time.Time // when it went away
	failed time.Time // when it failed last
}

// observe is told of every operation.
func (w *storeWatch) observe(op string, err error) {
	ctx := context.Background() // no call's: the store is everybody's
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if errors.Is(err, store.ErrUnreadable) {
		if !w.unreadable {
			w.unreadable = true
			w.log.WarnContext(ctx, "entries of the shared store cannot be read, so this server goes on with its own: has another one another encryption key?")
		}
		err = nil // the store works
	}
	switch {
	case err != nil:
		w.failed = now
		if !w.away {
			w.away, w.since = true, now
			w.log.WarnContext(ctx, "the shared store failed: this process's memory serves until it is back", "operation", op, "error", err.Error())
		}
	case w.away && now.Sub(w.failed) >= settled:
		w.away = false
		w.log.InfoContext(ctx, "the shared store is back", "away_ms", now.Sub(w.since).Milliseconds())
	}
}
