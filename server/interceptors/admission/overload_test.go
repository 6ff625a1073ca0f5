package admission

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAcceptedCallsWaitNoLongerUnderOverload lets calls come to one place, as many of
// them as it can take at most times 0.75 and times three, as `make load` does. One in a
// hundred is long, and who is refused comes again when told. The clock is that of
// synctest, so that only the waiting counts.
func TestAcceptedCallsWaitNoLongerUnderOverload(t *testing.T) {
	run := func(t *testing.T, load float64) *crowd {
		t.Helper()
		c := &crowd{}
		synctest.Test(t, func(t *testing.T) { c.come(&lane{places: 1}, load) })
		if c.refused+len(c.waits) == 0 {
			t.Fatal("nobody came")
		}
		return c
	}
	ordinary, overload := run(t, 0.75), run(t, 3)
	for _, share := range []float64{0.5, 0.99} {
		was, is := ordinary.wait(share), overload.wait(share)
		if is > 2*max(was, 10*time.Millisecond) {
			t.Errorf("of accepted calls, the wait that %v of them do not exceed is %v, and %v under overload", share, was, is)
		}
	}
	if refused := ordinary.refusedShare(); refused > 0.15 {
		t.Errorf("%.2f of the attempts are refused in ordinary times", refused)
	}
	if worked := overload.worked.Seconds() / crowdTime.Seconds(); worked < 0.95 {
		t.Errorf("under overload the place is taken for %.2f of the time", worked)
	}
	if last := overload.refused; last < 2*len(overload.waits) {
		t.Errorf("%d were accepted and %d refused at three times the capacity", len(overload.waits), last)
	}
}

// crowdTime is how long calls come.
const crowdTime = 15 * time.Second

// crowd are calls and what became of them.
type crowd struct {
	mu      sync.Mutex
	waits   []time.Duration
	refused int
	worked  time.Duration
}

// come makes calls at random moments.
func (c *crowd) come(l *lane, load float64) {
	const mean = 2.6e-3 // seconds
	r := rand.New(rand.NewPCG(3, 2))
	var calls sync.WaitGroup
	end := time.Now().Add(crowdTime)
	for at := time.Now(); at.Before(end); {
		hold := 0.8 * mean * math.Exp(r.NormFloat64()-0.5)
		if r.IntN(100) == 0 {
			hold += 0.2 * mean * 100
		}
		reading := r.ExpFloat64() * 1e-3
		calls.Go(func() { c.call(l, seconds(hold), seconds(reading), end) })
		at = at.Add(seconds(r.ExpFloat64() * mean / load))
		<-time.After(time.Until(at))
	}
	calls.Wait()
}

// call makes one call until it is accepted, or it is too late.
func (c *crowd) call(l *lane, hold, reading time.Duration, end time.Time) {
	for time.Now().Before(end) {
		retry := l.arrive(time.Now())
		if retry == 0 {
			<-time.After(reading)
			l.arrived()
			came := time.Now()
			if retry, _ = l.enter(context.Background()); retry == 0 {
				c.mu.Lock()
				c.waits = append(c.waits, time.Since(came))
				c.worked += hold
				c.mu.Unlock()
				<-time.After(hold)
				l.leave(hold)
				return
			}
		}
		c.mu.Lock()
		c.refused++
		c.mu.Unlock()
		<-time.After(retry)
	}
}

// wait is what a share of the accepted calls does not exceed.
func (c *crowd) wait(share float64) time.Duration {
	slices.Sort(c.waits)
	return c.waits[int(share*float64(len(c.waits)-1))]
}

func (c *crowd) refusedShare() float64 {
	return float64(c.refused) / float64(c.refused+len(c.waits))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
