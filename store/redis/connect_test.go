package redis

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/rueidis"
)

// A server that takes connections and says nothing costs each operation its own time
// and no more.
func TestOperationsDoNotWaitForAConnectionLongerThanTheyMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(Options{URL: "redis://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		var attempts atomic.Int32
		refused := errors.New("refused in the end")
		s.connect = func() (rueidis.Client, error) {
			attempts.Add(1)
			<-time.After(10 * time.Second)
			return nil, refused
		}
		start := time.Now()
		for range 3 {
			_, _, err := s.Get(t.Context(), "k")
			if !errors.Is(err, ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, want ErrUnreachable within the time", err)
			}
		}
		if waited := time.Since(start); waited != 3*DefaultTimeout || attempts.Load() != 1 {
			t.Errorf("three operations took %v and %d attempts", waited, attempts.Load())
		}
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, _, err := s.Get(short, "k"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnreachable) {
			t.Errorf("a caller without time: %v", err)
		}
		<-time.After(10*time.Second - DefaultTimeout/2 - time.Since(start))
		if _, _, err := s.Get(t.Context(), "k"); !errors.Is(err, refused) {
			t.Errorf("%v, want how the attempt ended", err)
		}
		if _, _, err := s.Get(t.Context(), "k"); !errors.Is(err, ErrUnreachable) || attempts.Load() != 1 {
			t.Errorf("right after it: %v, %d attempts", err, attempts.Load())
		}
		<-time.After(connectAgain)
		if _, _, err := s.Get(t.Context(), "k"); !errors.Is(err, ErrUnreachable) || attempts.Load() != 2 {
			t.Errorf("a while after it: %v, %d attempts", err, attempts.Load())
		}
		s.Close()
		<-time.After(10 * time.Second)
	})
}
