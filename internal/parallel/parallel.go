// Package parallel shares work that falls into independent pieces among the
// processors. What comes of it never depends on their number: every piece has a
// place of its own to leave its result, and the caller reads them in order.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls work once for every i below n, on the goroutine of the caller and as many
// others as there are processors for, and returns when all calls have. Pieces are
// handed out in order, one at a time. When one panics, Each does, on the caller's
// goroutine, where somebody may be waiting to recover.
func Each(n int, work func(i int)) {
	others := min(runtime.GOMAXPROCS(0), n) - 1
	if others < 1 {
		for i := range n {
			work(i)
		}
		return
	}
	var next atomic.Int64
	var failed atomic.Pointer[string]
	run := func() {
		defer func() {
			if p := recover(); p != nil {
				report := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
				failed.CompareAndSwap(nil, &report)
				next.Store(int64(n)) // nobody begins another piece
			}
		}()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			work(i)
		}
	}
	var group sync.WaitGroup
	for range others {
		group.Go(run)
	}
	run()
	group.Wait()
	if report := failed.Load(); report != nil {
		panic(*report)
	}
}

// Both calls two functions at once and returns when both have.
func Both(one, other func()) {
	Each(2, func(i int) {
		if i == 0 {
			one()
		} else {
			other()
		}
	})
}
