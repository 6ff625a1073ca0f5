package elbowroom_test

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

// counter is shared: its vocabularies take a second to load under the race
// detector.
var counter = sync.OnceValue(func() *tokens.Counter { return tokens.NewCounter() })

// startServer runs the whole service as `elbowroom serve` does, with its store in
// memory and the embedded summarizer, on the listener.
func startServer(t testing.TB, lis net.Listener) (stop func()) {
	t.Helper()
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := ladder.New(ladder.Options{Rungs: []summarizer.Summarizer{extractive.New()}, Store: memory})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := compressor.New(compressor.Options{Counter: counter(), Ladder: steps, Store: memory, Continuity: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Compressor: engine, Counter: counter(), Registry: registry, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(lis) }()
	return sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		steps.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// listen opens a loopback port.
func listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	lis, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return lis
}

// running starts a server that the end of the test stops, and returns its address.
func running(t testing.TB) string {
	t.Helper()
	lis := listen(t, "127.0.0.1:0")
	t.Cleanup(startServer(t, lis))
	return lis.Addr().String()
}
