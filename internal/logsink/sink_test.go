package logsink_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/internal/logsink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// writer is what a sink writes to: it waits for the gate, and fails while err is set.
type writer struct {
	gate chan struct{}

	mu   sync.Mutex
	err  error
	text bytes.Buffer
}

func (w *writer) Write(p []byte) (int, error) {
	if w.gate != nil {
		<-w.gate
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	return w.text.Write(p)
}

func line(i int) string { return fmt.Sprintf("line %d\n", i) }

func TestLinesArriveInOrderAndWhole(t *testing.T) {
	var to writer
	s := logsink.New(&to)
	var want strings.Builder
	for i := range 10_000 {
		want.WriteString(line(i))
		if n, err := s.Write([]byte(line(i))); n != len(line(i)) || err != nil {
			t.Fatalf("Write returned %d, %v", n, err)
		}
	}
	s.Close(t.Context())
	if got := to.text.String(); got != want.String() || s.Lost() != 0 {
		t.Errorf("%d of %d bytes arrived, %d lines lost", len(got), want.Len(), s.Lost())
	}
}

func TestAWriterThatBlocksCostsLinesAndHoldsNobodyUp(t *testing.T) {
	to := &writer{gate: make(chan struct{})}
	s := logsink.New(to)
	long := []byte(strings.Repeat("x", 1023) + "\n")
	const lines = 5 * logsink.Limit / 1024
	for range lines {
		_, _ = s.Write(long) // would never return
	}
	// What is being written and what waits: at most twice the limit.
	if lost := s.Lost(); lost < 3*logsink.Limit/1024 || lost >= lines {
		t.Errorf("%d of %d lines lost", lost, lines)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.Close(ended) // would never return
	close(to.gate)
	s.Close(t.Context())
	if got := int64(bytes.Count(to.text.Bytes(), []byte("\n"))); got+s.Lost() != lines {
		t.Errorf("%d lines arrived and %d were lost, of %d", got, s.Lost(), lines)
	}
}

func TestAWriterThatFailsCostsLinesUntilItWorksAgain(t *testing.T) {
	to := &writer{gate: make(chan struct{}), err: errors.New("no space left on device")}
	s := logsink.New(to)
	_, _ = s.Write([]byte("one\n"))
	to.gate <- struct{}{}
	for s.Lost() == 0 {
		_, _ = s.Write([]byte("two\nthree\n"))
		select {
		case to.gate <- struct{}{}:
		case <-t.Context().Done():
		}
	}
	to.mu.Lock()
	to.err = nil
	to.mu.Unlock()
	close(to.gate)
	_, _ = s.Write([]byte("last\n"))
	s.Close(t.Context())
	if got := to.text.String(); !strings.HasSuffix(got, "last\n") {
		t.Errorf("written: %q", got)
	}
}

func TestLinesAfterTheEndAreLost(t *testing.T) {
	var to writer
	s := logsink.New(&to)
	s.Close(t.Context())
	_, _ = s.Write([]byte("late\nand cut"))
	s.Close(t.Context())
	if to.text.Len() != 0 || s.Lost() != 2 {
		t.Errorf("written %q, %d lost", to.text.String(), s.Lost())
	}
}

// short takes the first bytes of the first write, as a disk does that becomes full.
type short struct {
	bytes.Buffer
	left int
}

func (w *short) Write(p []byte) (int, error) {
	if w.left < 0 {
		return w.Buffer.Write(p)
	}
	n, _ := w.Buffer.Write(p[:w.left])
	w.left = -1
	return n, errors.New("no space left on device")
}

func TestALineThatWasCutDoesNotRunIntoTheNext(t *testing.T) {
	to := short{left: 6}
	s := logsink.New(&to)
	_, _ = s.Write([]byte("one\ntwo\n"))
	for s.Lost() == 0 {
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
		}
	}
	_, _ = s.Write([]byte("three\n"))
	s.Close(t.Context())
	if got := to.String(); got != "one\ntw\nthree\n" || s.Lost() != 1 {
		t.Errorf("written %q, %d lost", got, s.Lost())
	}
}
