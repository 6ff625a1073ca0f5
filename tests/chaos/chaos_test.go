package chaos

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/serverprocess"
)

// fault is something that breaks during the load.
type fault struct {
	name string
	// inject breaks it, expect waits for what it is to do, heal mends it, and after waits
	// for what then must be. All but inject may be nil.
	inject, expect, heal, after func(t *testing.T, s *stand)
	// allowed are the failures that clients may see. They may have answers at all times
	// where there are none.
	allowed []failure
	// cut is set where nobody can have an answer.
	cut bool
	// long is set for those that -all runs alone.
	long bool
}

// enough is how many answers every client has to have.
func enough() int {
	if *all {
		return 3
	}
	return 1
}

// meet lets a fault happen as a part of a test, which ends there when it was not mended.
func (s *stand) meet(t *testing.T, f fault) {
	t.Helper()
	if f.long && !*all {
		return
	}
	mended := true // also where -run leaves it out
	t.Run(f.name, func(t *testing.T) {
		mended = false
		s.happen(t, f)
		mended = true
	})
	if !mended {
		broken, line := s.load.tell()
		t.Fatal(line, broken)
	}
}

// happen breaks the stand, mends it, and judges what the clients got meanwhile.
func (s *stand) happen(t *testing.T, f fault) {
	t.Helper()
	s.load.begin(f.allowed...)
	f.inject(t, s)
	if !f.cut {
		// Calls that began after the fault.
		s.load.begin(f.allowed...)
		s.load.answered(t, enough())
	}
	for i, step := range []func(*testing.T, *stand){f.expect, f.heal, nil, f.after} {
		switch {
		case i == 2: // everybody is answered again
			s.load.begin(f.allowed...)
			s.load.answered(t, enough())
			s.load.begin()
		case step != nil:
			step(t, s)
		}
	}
	broken, line := s.load.tell()
	for _, b := range broken {
		t.Error(b)
	}
	t.Log(line)
}

// TestFaultsUnderLoad breaks one thing after the other under a server that is loaded all
// the time.
func TestFaultsUnderLoad(t *testing.T) {
	t.Parallel()
	s := newStand(t)

	s.start(t, serverprocess.Options{})
	s.load = newLoad(t, s.addr, s.trust(), *clients)
	s.load.answered(t, 1)
	for range *rounds {
		for _, f := range processFaults() {
			s.meet(t, f)
		}
	}

	// What follows happens to one and the same process.
	s.load.stop()
	s.server.Kill()
	s.log = newPipe(t)
	s.start(t, serverprocess.Options{Log: s.log.write})
	_ = s.log.write.Close()
	s.load = newLoad(t, s.addr, s.trust(), *clients)
	s.load.answered(t, len(kinds))
	s.load.stop()
	before, most, answers := s.rest(t), int64(moreHeap), 0
	t.Logf("before: %v", before)
	ended := func() {
		s.load.stop()
		answers += s.load.total
		after := s.notMore(t, before, most)
		t.Logf("after %d answers: %v", answers, after)
		before.heap, most = after.heap, moreHeapLater
	}
	for range *rounds {
		s.load = newLoad(t, s.addr, s.trust(), *clients)
		for _, f := range slices.Concat(redisFaults(), modelFaults(), fileFaults()) {
			s.meet(t, f)
		}
		ended()
	}
	s.load = newLoad(t, s.addr, s.trust(), *clients)
	for _, f := range logFaults() {
		s.meet(t, f)
	}
	ended()
	if out := s.server.Output(); strings.Contains(out, "panic") {
		t.Error(out)
	}
	ctx, cancel := bounded(t)
	defer cancel()
	if code, err := s.server.Stop(ctx); code != 0 || err != nil {
		t.Errorf("exit code %d, error %v", code, err)
	}
	if broken, _ := s.load.tell(); len(broken) > 0 {
		t.Error(fmt.Sprint(broken))
	}
}
