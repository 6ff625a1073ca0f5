// Package logsink keeps whoever writes a log line from waiting for whoever reads it. A
// pipe that is not emptied, a full disk or a reader that died costs lines, which are
// counted, and never the time of a call.
package logsink

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// Limit is how many bytes of lines wait for their turn before the next ones are lost:
// some thousand lines.
const Limit = 1 << 20

// Sink is an [io.Writer] of lines in front of another one, which it writes to from a
// goroutine of its own, several lines at a time. It is safe for concurrent use. Close it
// in the end.
type Sink struct {
	to io.Writer

	mu      sync.Mutex
	waiting []byte
	lost    int64
	closed  bool
	// wake holds one token when there is something to do; done is closed at the end.
	wake, done chan struct{}
}

// New returns a sink that writes to another writer, which may block and may fail.
func New(to io.Writer) *Sink {
	s := &Sink{to: to, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go s.run()
	return s
}

// Write takes whole lines. It never blocks and never fails: lines that find no room, or
// come after [Sink.Close], are lost.
func (s *Sink) Write(lines []byte) (int, error) {
	s.mu.Lock()
	if s.closed || len(s.waiting)+len(lines) > Limit {
		s.lost += count(lines)
	} else {
		s.waiting = append(s.waiting, lines...)
	}
	s.mu.Unlock()
	s.rouse()
	return len(lines), nil
}

// Lost is how many lines were not written: there was no room for them, or writing failed.
func (s *Sink) Lost() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// Close takes no more lines and waits until those it has are written, or ctx ends. A
// writer that blocks then keeps its goroutine.
func (s *Sink) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.rouse()
	select {
	case <-s.done:
	case <-ctx.Done():
	}
}

func (s *Sink) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run writes what waits until the sink is closed and empty.
func (s *Sink) run() {
	defer close(s.done)
	var lines []byte
	for range s.wake {
		for {
			var closed bool
			if lines, closed = s.take(lines[:0]); len(lines) == 0 {
				if closed {
					return
				}
				break
			}
			s.write(lines)
		}
	}
}

func (s *Sink) write(lines []byte) {
	n, err := s.to.Write(lines)
	if err == nil && n == len(lines) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost += count(lines[n:])
	if n > 0 && lines[n-1] != '\n' {
		// What comes next must not run on from a line that was cut.
		s.waiting = append([]byte{'\n'}, s.waiting...)
	}
}

// take returns what waits and lets the next lines wait in the given memory.
func (s *Sink) take(free []byte) (lines []byte, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, s.waiting = s.waiting, free
	return lines, s.closed
}

// count is the number of lines, the last of which may lack its end.
func count(lines []byte) int64 {
	n := bytes.Count(lines, []byte("\n"))
	if len(lines) > 0 && lines[len(lines)-1] != '\n' {
		n++
	}
	return int64(n)
}
