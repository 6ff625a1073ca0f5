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

// piecesBetween is how many pieces are done before others may have the processor. The
// runtime takes one from nobody who has had it for less than 10 ms, which a small call
// should not have to wait for.
const piecesBetween = 64

// Each calls work once for every i below n, on the goroutine of the caller and as many
// others as there are processors for, and returns when all calls have. Pieces are
// handed out in order, one at a time. When one panics, Each does, on the caller's
// goroutine, where somebody may be waiting to recover.
func Each(n int, work func(i int)) {
	others := min(runtime.GOMAXPROCS(0), n) - 1
	if others < 1 {
		for i := range n {
			work(i)
			pause(i)
		}
		return
	}
	var next atomic.Int64
	var failure atomic.Pointer[string]
	run := func() {
		report := caught(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
				pause(i)
			}
		})
		if report != nil {
			failure.CompareAndSwap(nil, report)
			next.Store(int64(n)) // nobody begins another piece
		}
	}
	var group sync.WaitGroup
	for range others {
		group.Go(run)
	}
	run()
	group.Wait()
	again(failure.Load())
}

// pause lets others have the processor after some pieces.
func pause(i int) {
	if i%piecesBetween == piecesBetween-1 {
		runtime.Gosched()
	}
}

// Both calls here on the goroutine of the caller and elsewhere on another, and returns
// when both have. Where no processor was free to begin elsewhere before here was done,
// the caller does not wait for one and calls it itself. It panics as Each does.
func Both(here, elsewhere func()) {
	var begun atomic.Bool
	other := make(chan *string, 1)
	go func() {
		if begun.CompareAndSwap(false, true) {
			other <- caught(elsewhere)
		}
	}()
	report := caught(here)
	if begun.CompareAndSwap(false, true) {
		again(report)
		elsewhere()
		return
	}
	again(<-other)
	again(report)
}

// caught calls work and reports its panic, nil for none.
func caught(work func()) (report *string) {
	defer func() {
		if p := recover(); p != nil {
			text := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			report = &text
		}
	}()
	work()
	return nil
}

// again panics with what was reported.
func again(report *string) {
	if report != nil {
		panic(*report) //nolint:forbidigo // it was a panic when it was caught
	}
}
