// Package localserver runs the whole service inside a test, on a loopback port, as
// `elbowroom serve` does without configuration.
package localserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

// counter is shared: its vocabularies take a second to load under the race
// detector.
var counter = sync.OnceValue(func() *tokens.Counter { return tokens.NewCounter() }) //nolint:gochecknoglobals // see above

// Listen opens a loopback port; "127.0.0.1:0" is any.
func Listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	lis, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return lis
}

// Start runs a server until the test ends and returns its address.
func Start(t testing.TB) string {
	t.Helper()
	lis := Listen(t, "127.0.0.1:0")
	t.Cleanup(Serve(t, lis))
	return lis.Addr().String()
}

// Serve runs a server on the listener until stop is called, which may be called twice.
func Serve(t testing.TB, lis net.Listener) (stop func()) {
	t.Helper()
	end, err := Run(lis)
	if err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
}

// Run is [Serve] for callers that are no test. It returns what stops the server.
func Run(lis net.Listener) (stop func() error, err error) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		return nil, err
	}
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		return nil, err
	}
	steps, err := ladder.New(ladder.Options{Rungs: []summarizer.Summarizer{extractive.New()}, Store: memory})
	if err != nil {
		return nil, err
	}
	engine, err := compressor.New(compressor.Options{Counter: counter(), Ladder: steps, Store: memory, Continuity: true, Memo: memo.New(memo.DefaultBytes)})
	if err != nil {
		return nil, err
	}
	s, err := server.New(server.Options{Compressor: engine, Counter: counter(), Registry: registry, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(lis) }()
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err := s.Shutdown(ctx)
		steps.Close()
		return errors.Join(err, <-done)
	}, nil
}
