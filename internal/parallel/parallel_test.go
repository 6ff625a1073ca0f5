package parallel_test

import (
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
