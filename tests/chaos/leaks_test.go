package chaos

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// cacheBytes bounds each of the two caches of the service that hold conversations.
const cacheBytes = 8 << 20

// What a process may hold more after the faults than before them, with no caller there
// either time.
const (
	// Connections to the model and to Redis that are kept for the next call: two
	// goroutines and a file each.
	moreGoroutines, moreFiles = 16, 8
	// The two caches may have been empty before and be full after, and counts of
	// messages that are remembered take some more.
	moreHeap = 2*cacheBytes + 16<<20
	// When they are full.
	moreHeapLater = 8 << 20
)

// held is what a process holds.
type held struct {
	goroutines, files int
	heap, resident    int64
}

func (h held) String() string {
	return fmt.Sprintf("%d goroutines, %d files, heap %.1f MiB, resident %.1f MiB", h.goroutines, h.files, mib(h.heap), mib(h.resident))
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// held asks the process, after it has collected its garbage.
func (s *stand) held(t *testing.T) held {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if _, err := s.server.Get(ctx, "/debug/pprof/heap?gc=1"); err != nil {
		t.Fatal(err)
	}
	m, err := s.server.Metrics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	h := held{goroutines: int(m.Sum("go_goroutines")), heap: int64(m.Sum("go_memstats_heap_alloc_bytes"))}
	if memory, err := s.server.Memory(); err == nil {
		h.resident = memory.Resident
	}
	if files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.server.PID)); err == nil {
		h.files = len(files)
	}
	return h
}

// rest waits until the process holds the same twice in a row, since callers have left.
func (s *stand) rest(t *testing.T) held {
	t.Helper()
	await(t, "the last call", func() bool { return s.metric(t, "elbowroom_in_flight_bytes") == 0 && s.model.Active() == 0 })
	last := s.held(t)
	await(t, "rest", func() bool {
		now := s.held(t)
		same := now.goroutines == last.goroutines && now.files == last.files
		last = now
		return same
	})
	return last
}

// notMore fails when the process holds more than before, and of heap more than so much
// more.
func (s *stand) notMore(t *testing.T, before held, moreHeap int64) held {
	t.Helper()
	after := s.rest(t)
	fits := func() bool {
		return after.goroutines <= before.goroutines+moreGoroutines && after.files <= before.files+moreFiles && after.heap <= before.heap+moreHeap
	}
	end := leakLooks
	for ; !fits() && end > 0; end-- { // what is ending may take a moment
		after = s.rest(t)
	}
	if !fits() {
		stacks, _ := s.server.Get(t.Context(), "/debug/pprof/goroutine?debug=1")
		t.Errorf("before: %v\nafter:  %v\n%s", before, after, stacks)
	}
	return after
}

// leakLooks is how often a process that holds too much is looked at again.
const leakLooks = 50
