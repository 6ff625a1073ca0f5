package parallel_test

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/elbowroom/elbowroom/internal/parallel"
)

func TestEachPieceIsDoneOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		done := make([]atomic.Int32, n)
		parallel.Each(n, func(i int) { done[i].Add(1) })
		for i := range done {
			if done[i].Load() != 1 {
				t.Errorf("piece %d of %d was done %d times", i, n, done[i].Load())
			}
		}
	}
}

func TestOthersGetTheOnlyProcessorBetweenPieces(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before atomic.Bool
	go before.Store(true)
	parallel.Each(1000, func(int) {})
	if !before.Load() {
		t.Error("a goroutine that was ready had to wait for all pieces")
	}
}

func TestAPanicReachesTheCaller(t *testing.T) {
	for _, n := range []int{1, 100} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, "piece 0 is rotten") {
					t.Errorf("%d pieces: recovered %q", n, p)
				}
			}()
			parallel.Each(n, func(i int) {
				if i == 0 {
					panic("piece 0 is rotten")
				}
			})
		}()
	}
}

func TestBothAreDoneAndBothMayPanic(t *testing.T) {
	var a, b bool
	parallel.Both(func() { a = true }, func() { b = true })
	if !a || !b {
		t.Error("one of the two was left out")
	}
	fine, rotten := func() {}, func() { panic("rotten") }
	for _, pair := range [][2]func(){{fine, rotten}, {rotten, fine}, {rotten, rotten}} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.HasPrefix(p, "rotten") {
					t.Errorf("recovered %q", p)
				}
			}()
			parallel.Both(pair[0], pair[1])
		}()
	}
}

func TestBothAreDoneOnce(t *testing.T) {
	for range 2000 {
		var here, elsewhere atomic.Int32
		parallel.Both(func() { here.Add(1) }, func() { elsewhere.Add(1) })
		if here.Load() != 1 || elsewhere.Load() != 1 {
			t.Fatalf("done %d and %d times", here.Load(), elsewhere.Load())
		}
	}
}

func TestTheCallerDoesWhatNobodyBegan(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // nobody else can begin it while the caller runs
	own := 0
	for range 100 {
		parallel.Both(func() {}, func() {
			if strings.Contains(string(debug.Stack()), "testing.tRunner(") {
				own++
			}
		})
	}
	if own == 0 {
		t.Error("the caller waited each time")
	}
}
