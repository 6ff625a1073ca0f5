package redis

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/elbowroom/elbowroom/store"
)

// The defaults of [Options].
const (
	DefaultPrefix   = "elbowroom:"
	DefaultTimeout  = 100 * time.Millisecond
	DefaultMaxValue = 8 << 20
)

// connectAgain is how long a server that cannot be reached is left alone.
const connectAgain = time.Second

// Options say where the store is.
type Options struct {
	// URL of the server: redis://USER:PASSWORD@HOST:PORT/DB, or rediss:// for TLS.
	URL string
	// Prefix begins every key. Default "elbowroom:".
	Prefix string
	// Timeout bounds every operation. Default 100 milliseconds.
	Timeout time.Duration
	// MaxValue bounds a value in bytes. Default 8 MiB.
	MaxValue int
	// Keys encrypt values with AES-256-GCM: the first encrypts, all decrypt. Without
	// one values are stored as they are.
	Keys [][]byte
}

// Store is a [store.Store] in Redis. It connects when it is first used and again
// after the server was away. Close it in the end.
type Store struct {
	connect  func() (rueidis.Client, error)
	prefix   string
	timeout  time.Duration
	maxValue int
	box      box

	mu         sync.Mutex
	client     rueidis.Client
	connecting *attempt // nil while none is under way
	connected  time.Time
	closed     bool
}

// attempt is an attempt to connect; done is closed when err is set.
type attempt struct {
	done chan struct{}
	err  error
}

var _ store.Store = (*Store)(nil)

// ErrUnreachable is returned while there is no connection.
var ErrUnreachable = errors.New("redis cannot be reached")

// Open returns a store. The error is a URL that cannot be read, or a key of the wrong
// size; a server that cannot be reached is none.
func Open(o Options) (*Store, error) {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxValue <= 0 {
		o.MaxValue = DefaultMaxValue
	}
	client, err := rueidis.ParseURL(o.URL)
	if err != nil {
		return nil, errors.New("the URL is not of the form redis://USER:PASSWORD@HOST:PORT/DB") // it holds the password
	}
	client.DisableCache = true
	client.ClientName = "elbowroom"
	client.Dialer.Timeout = max(o.Timeout, time.Second)
	client.ConnWriteTimeout = max(o.Timeout, time.Second)
	sealed, err := newBox(o.Keys)
	if err != nil {
		return nil, err
	}
	return &Store{
		connect: func() (rueidis.Client, error) { return rueidis.NewClient(client) },
		prefix:  o.Prefix, timeout: o.Timeout, maxValue: o.MaxValue, box: sealed,
	}, nil
}

// Close ends the connection. Later operations fail.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.client != nil {
		s.client.Close()
		s.client = nil
	}
}

// use returns a connection. The first one is made while callers wait as long as they
// may; a server that could not be reached is tried again once a [connectAgain].
func (s *Store) use(ctx context.Context) (rueidis.Client, error) {
	s.mu.Lock()
	client, under := s.client, s.connecting
	switch {
	case client != nil:
		s.mu.Unlock()
		return client, nil
	case s.closed, under == nil && time.Since(s.connected) < connectAgain:
		s.mu.Unlock()
		return nil, ErrUnreachable
	case under == nil:
		under = &attempt{done: make(chan struct{})}
		s.connecting = under
		go s.open(under)
	}
	s.mu.Unlock()
	select {
	case <-under.done:
		return under.client(s)
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, ctx.Err())
	}
}

// open connects, which may take longer than the operations that wait for it.
func (s *Store) open(under *attempt) {
	client, err := s.connect()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(under.done)
	s.connecting, s.connected, under.err = nil, time.Now(), err
	switch {
	case err != nil:
	case s.closed:
		client.Close()
	default:
		s.client = client
	}
}

// client is what the attempt led to.
func (a *attempt) client(s *Store) (rueidis.Client, error) {
	if a.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, a.err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return nil, ErrUnreachable // closed meanwhile
	}
	return s.client, nil
}

// do runs one operation within the time limit.
func (s *Store) do(ctx context.Context, op string, run func(ctx context.Context, c rueidis.Client) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	client, err := s.use(limited)
	if err == nil {
		err = run(limited, client)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return fmt.Errorf("redis %s: %w", op, err)
	}
}

// name is a key's in Redis. Keys hold tenants and sessions, and are of any length;
// names are all alike.
func (s *Store) name(key string) string {
	sum := sha256.Sum256([]byte(key))
	return s.prefix + hex.EncodeToString(sum[:])
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, key string) (value []byte, found bool, err error) {
	err = s.do(ctx, "get", func(ctx context.Context, c rueidis.Client) error {
		stored, err := c.Do(ctx, c.B().Get().Key(s.name(key)).Build()).AsBytes()
		if rueidis.IsRedisNil(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if value, found = s.box.open(key, stored); !found {
			return store.ErrUnreadable
		}
		return nil
	})
	return value, found, err
}

// Set implements [store.Store].
func (s *Store) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	sealed, err := s.seal(key, value)
	if err != nil {
		if deleted := s.Delete(ctx, key); deleted != nil {
			return deleted
		}
		return err
	}
	return s.do(ctx, "set", func(ctx context.Context, c rueidis.Client) error {
		set := c.B().Set().Key(s.name(key)).Value(sealed)
		if ttl <= 0 {
			return c.Do(ctx, set.Build()).Error()
		}
		return c.Do(ctx, set.PxMilliseconds(milliseconds(ttl)).Build()).Error()
	})
}

// Claim implements [store.Store].
func (s *Store) Claim(ctx context.Context, key string, value []byte, ttl time.Duration) (claimed bool, err error) {
	sealed, err := s.seal(key, value)
	if err != nil {
		return false, err
	}
	err = s.do(ctx, "claim", func(ctx context.Context, c rueidis.Client) error {
		set := c.B().Set().Key(s.name(key)).Value(sealed).Nx()
		var err error
		if ttl > 0 {
			err = c.Do(ctx, set.PxMilliseconds(milliseconds(ttl)).Build()).Error()
		} else {
			err = c.Do(ctx, set.Build()).Error()
		}
		claimed = err == nil
		if rueidis.IsRedisNil(err) {
			return nil
		}
		return err
	})
	return claimed, err
}

// swapScript replaces a value, or removes it, as long as it is the one that was read.
const swapScript = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if #ARGV == 1 then redis.call('DEL', KEYS[1])
elseif tonumber(ARGV[3]) > 0 then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
else redis.call('SET', KEYS[1], ARGV[2]) end
return 1`

// Swap implements [store.Store]. A value is never encrypted alike twice, so what stands in
// Redis is read first and compared there as it is.
func (s *Store) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (swapped bool, err error) {
	sealed, err := s.seal(key, value)
	if err != nil {
		return false, err
	}
	err = s.do(ctx, "swap", func(ctx context.Context, c rueidis.Client) error {
		stored, err := c.Do(ctx, c.B().Get().Key(s.name(key)).Build()).AsBytes()
		if rueidis.IsRedisNil(err) {
			return nil
		}
		if err != nil {
			return err
		}
		switch now, ok := s.box.open(key, stored); {
		case !ok:
			return store.ErrUnreadable
		case !bytes.Equal(now, old):
			return nil
		}
		args := []string{rueidis.BinaryString(stored)}
		if value != nil {
			args = append(args, sealed, strconv.FormatInt(milliseconds(ttl), 10))
		}
		done, err := c.Do(ctx, c.B().Eval().Script(swapScript).Numkeys(1).Key(s.name(key)).Arg(args...).Build()).AsInt64()
		swapped = done == 1
		return err
	})
	return swapped, err
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.do(ctx, "delete", func(ctx context.Context, c rueidis.Client) error {
		return c.Do(ctx, c.B().Del().Key(s.name(key)).Build()).Error()
	})
}

// addScript gives a new number its life: the two steps must not be parted.
const addScript = `local new = redis.call('EXISTS', KEYS[1]) == 0
local sum = redis.call('INCRBY', KEYS[1], ARGV[1])
if new and tonumber(ARGV[2]) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return sum`

// Add implements [store.Store].
func (s *Store) Add(ctx context.Context, key string, n int64, ttl time.Duration) (sum int64, err error) {
	life := milliseconds(ttl)
	err = s.do(ctx, "add", func(ctx context.Context, c rueidis.Client) error {
		command := c.B().Eval().Script(addScript).Numkeys(1).Key(s.name(key)).
			Arg(strconv.FormatInt(n, 10), strconv.FormatInt(life, 10)).Build()
		var err error
		sum, err = c.Do(ctx, command).AsInt64()
		if err != nil && strings.Contains(err.Error(), "not an integer") {
			return store.ErrNoNumber
		}
		return err
	})
	return sum, err
}

// seal makes a value what is stored.
func (s *Store) seal(key string, value []byte) (string, error) {
	if len(value) > s.maxValue {
		return "", fmt.Errorf("%w: %d bytes, at most %d are stored", store.ErrTooLarge, len(value), s.maxValue)
	}
	return rueidis.BinaryString(s.box.seal(key, value)), nil
}

// milliseconds rounds up: a life above zero stays one. No life is 0.
func milliseconds(d time.Duration) int64 {
	return int64((max(d, 0) + time.Millisecond - 1) / time.Millisecond)
}
