package redis_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/elbowroom/elbowroom/internal/testutil/redistest"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/store/redis"
	"github.com/elbowroom/elbowroom/store/storetest"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

func open(t *testing.T, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// admin is a plain connection to the server.
func admin(t *testing.T, server *redistest.Server) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr()}, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// advance takes time off the life of every key, as a clock would.
func advance(t *testing.T, c rueidis.Client, d time.Duration) {
	t.Helper()
	ctx := t.Context()
	names, err := c.Do(ctx, c.B().Keys().Pattern("*").Build()).AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		left, err := c.Do(ctx, c.B().Pttl().Key(name).Build()).AsInt64()
		if err != nil {
			t.Fatal(err)
		}
		if left < 0 { // for ever
			continue
		}
		command := c.B().Pexpire().Key(name).Milliseconds(left - d.Milliseconds()).Build() // at once where none is left
		if err := c.Do(ctx, command).Error(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConformance(t *testing.T) {
	server := redistest.Start(t)
	c := admin(t, server)
	for name, keys := range map[string][][]byte{"plain": nil, "encrypted": {secret}} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Fixture {
				if err := c.Do(t.Context(), c.B().Flushall().Build()).Error(); err != nil {
					t.Fatal(err)
				}
				return storetest.Fixture{
					Store:   open(t, redis.Options{URL: server.URL(), Keys: keys, Timeout: 5 * time.Second}),
					Advance: func(d time.Duration) { advance(t, c, d) },
				}
			})
		})
	}
}

func TestWhatIsStoredCannotBeReadWithoutTheKey(t *testing.T) {
	server := redistest.Start(t)
	c := admin(t, server)
	s := open(t, redis.Options{URL: server.URL(), Keys: [][]byte{secret}, Timeout: 5 * time.Second})
	const key, value = "session/team-a/canary-key", "canary-value of some length"
	for _, k := range []string{key, key + "2"} {
		if err := s.Set(t.Context(), k, []byte(value), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	names, err := c.Do(t.Context(), c.B().Keys().Pattern("*").Build()).AsStrSlice()
	if err != nil || len(names) != 2 {
		t.Fatalf("%v, %v", names, err)
	}
	var raw [][]byte
	for _, name := range names {
		stored, err := c.Do(t.Context(), c.B().Get().Key(name).Build()).AsBytes()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name+string(stored), "canary") || !strings.HasPrefix(name, redis.DefaultPrefix) {
			t.Errorf("%q holds %q", name, stored)
		}
		raw = append(raw, stored)
	}
	if bytes.Equal(raw[0], raw[1]) {
		t.Error("equal values are stored alike")
	}

	want := func(what string, o redis.Options, found bool) {
		t.Helper()
		o.URL, o.Timeout = server.URL(), 5*time.Second
		s := open(t, o)
		got, ok, err := s.Get(t.Context(), key)
		if ok != found || errors.Is(err, store.ErrUnreadable) == found || found && string(got) != value {
			t.Errorf("%s: %q, %v, %v", what, got, ok, err)
		}
		if found {
			return
		}
		if swapped, err := s.Swap(t.Context(), key, []byte(value), []byte("new"), time.Minute); swapped || !errors.Is(err, store.ErrUnreadable) {
			t.Errorf("%s: swapped %v, %v", what, swapped, err)
		}
	}
	other := []byte(strings.Repeat("another key ", 4))
	want("the key rotated away from the front", redis.Options{Keys: [][]byte{other, secret}}, true)
	want("another key", redis.Options{Keys: [][]byte{other}}, false)
	want("no key", redis.Options{}, false)

	// A value that was put under another name, or changed, is none.
	swap := func(name string, value []byte) {
		if err := c.Do(t.Context(), c.B().Set().Key(name).Value(rueidis.BinaryString(value)).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	swap(names[0], raw[1])
	swap(names[1], raw[0])
	want("a value under another name", redis.Options{Keys: [][]byte{secret}}, false)
	for i, name := range names {
		changed := bytes.Clone(raw[i])
		changed[len(changed)-1] ^= 1
		swap(name, changed)
	}
	want("a changed value", redis.Options{Keys: [][]byte{secret}}, false)
}

func TestAValueThatIsTooLargeIsRefused(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, redis.Options{URL: server.URL(), MaxValue: 10, Timeout: 5 * time.Second})
	if err := s.Set(t.Context(), "k", []byte("small"), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(t.Context(), "k", make([]byte, 11), 0); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("%v, want ErrTooLarge", err)
	}
	if _, found, err := s.Get(t.Context(), "k"); found || err != nil {
		t.Errorf("the earlier value stayed: %v, %v", found, err)
	}
}

func TestTheStoreComesBackWithItsServer(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, redis.Options{URL: server.URL()})
	try := func() error { return s.Set(t.Context(), "k", []byte("v"), time.Minute) }
	if err := try(); err != nil {
		t.Fatal(err)
	}
	eventually := func(what string, ok func(error) bool) {
		t.Helper()
		var err error
		for range 100 {
			if err = try(); ok(err) {
				return
			}
			<-time.After(50 * time.Millisecond)
		}
		t.Fatalf("%s: %v", what, err)
	}
	server.Pause()
	if err := try(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that hangs: %v", err)
	}
	server.Continue()
	eventually("after the pause", func(err error) bool { return err == nil })
	server.Kill()
	eventually("without a server", func(err error) bool { return err != nil })
	server.Restart(t)
	eventually("after the restart", func(err error) bool { return err == nil })
}

func TestAServerThatIsNotThereIsNoErrorAtTheStart(t *testing.T) {
	s := open(t, redis.Options{URL: "redis://127.0.0.1:1"})
	for range 3 {
		if _, _, err := s.Get(t.Context(), "k"); !errors.Is(err, redis.ErrUnreachable) {
			t.Errorf("%v, want ErrUnreachable", err)
		}
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for name, o := range map[string]redis.Options{
		"no URL":      {URL: "http://:secret@host"},
		"a short key": {URL: "redis://127.0.0.1:1", Keys: [][]byte{[]byte("short")}},
	} {
		if _, err := redis.Open(o); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
