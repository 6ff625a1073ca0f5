package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// entered is what became of a call in a lane.
type entered struct {
	retry time.Duration
	err   error
}

// enterSoon makes a call that waits in the background.
func (l *lane) enterSoon(ctx context.Context) <-chan entered {
	out := make(chan entered, 1)
	go func() {
		retry, err := l.enter(ctx)
		out <- entered{retry, err}
	}()
	synctest.Wait()
	return out
}

// now returns what is in the channel now, or fails.
func now(t *testing.T, c <-chan entered) entered {
	t.Helper()
	synctest.Wait()
	select {
	case e := <-c:
		return e
	default:
		t.Fatal("the call is still waiting")
		return entered{}
	}
}

func waits(t *testing.T, c <-chan entered) {
	t.Helper()
	synctest.Wait()
	if len(c) > 0 {
		t.Fatalf("the call does not wait: %+v", <-c)
	}
}

func TestTheOldestCallGetsTheNextFreePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1}
		if e := now(t, l.enterSoon(t.Context())); e != (entered{}) {
			t.Fatalf("the first call: %+v", e)
		}
		older := l.enterSoon(t.Context())
		newer := l.enterSoon(t.Context())
		waits(t, older)
		l.leave(time.Millisecond)
		if e := now(t, older); e != (entered{}) {
			t.Errorf("the oldest call: %+v", e)
		}
		waits(t, newer)
		l.leave(time.Millisecond)
		if e := now(t, newer); e != (entered{}) {
			t.Errorf("the newer call: %+v", e)
		}
		l.leave(time.Millisecond)
		if taken, waiting := l.load(); taken != 0 || waiting != 0 {
			t.Errorf("%d places are taken, %d calls wait", taken, waiting)
		}
	})
}

func TestACallIsRefusedWhenItHasWaitedLongEnough(t *testing.T) {
	for name, c := range map[string]struct{ held, want time.Duration }{
		"short calls": {time.Millisecond, patience},
		"long calls":  {time.Second, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lane{places: 1, held: c.held}
				<-l.enterSoon(t.Context())
				waiting := l.enterSoon(t.Context())
				<-time.After(c.want - time.Millisecond)
				waits(t, waiting)
				<-time.After(time.Millisecond)
				if e := now(t, waiting); e.retry < leastDelay || e.err != nil {
					t.Errorf("%+v, want to be told when to come again", e)
				}
			})
		})
	}
}

func TestUnderOverloadTheNewestGoesFirstAndNobodyWaitsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1, held: time.Millisecond}
		<-l.enterSoon(t.Context())
		first := l.enterSoon(t.Context())
		<-time.After(patience - patience/hurry - time.Millisecond)
		second := l.enterSoon(t.Context())
		<-time.After(patience / hurry)
		third := l.enterSoon(t.Context())
		<-time.After(time.Millisecond)
		if e := now(t, first); e.retry == 0 {
			t.Errorf("the call that waited in vain: %+v", e)
		}
		if e := now(t, second); e.retry == 0 {
			t.Errorf("a call that has waited for longer than one may from now on: %+v", e)
		}
		waits(t, third)
		fourth := l.enterSoon(t.Context())
		l.leave(firstHold)
		if e := now(t, fourth); e != (entered{}) {
			t.Errorf("the newest call: %+v", e)
		}
		waits(t, third)
		fifth := l.enterSoon(t.Context())
		<-time.After(patience/hurry - time.Millisecond)
		waits(t, fifth)
		<-time.After(time.Millisecond)
		if e := now(t, fifth); e.retry == 0 {
			t.Errorf("a call under overload: %+v", e)
		}
	})
}

func TestOverloadIsOverWhenNobodyWasRefusedForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1}
		<-l.enterSoon(t.Context())
		if e := <-l.enterSoon(t.Context()); e.retry == 0 {
			t.Fatalf("%+v", e)
		}
		<-time.After(calm)
		a := l.enterSoon(t.Context())
		<-time.After(patience - time.Millisecond)
		waits(t, a)
		b := l.enterSoon(t.Context())
		l.leave(firstHold)
		if e := now(t, a); e != (entered{}) {
			t.Errorf("the oldest call: %+v", e)
		}
		waits(t, b)
	})
}

func TestNoMoreRequestsAreReadThanWillFindAPlaceInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 4, held: 20 * time.Millisecond}
		arrive := func(want int) {
			t.Helper()
			for n := range want {
				if retry := l.arrive(time.Now()); retry != 0 {
					t.Fatalf("refused with %d before it, to come again after %v", n, retry)
				}
			}
			if retry := l.arrive(time.Now()); retry == 0 {
				t.Fatalf("%d requests are read for which there will be no place", want+1)
			}
		}
		for range 100 { // nobody has to wait
			if retry := l.arrive(time.Now()); retry != 0 {
				t.Fatalf("refused though places are free, to come again after %v", retry)
			}
		}
		for range 100 {
			l.arrived()
		}
		for range 4 {
			<-l.enterSoon(t.Context())
		}
		arrive(40) // calls of 20 ms in four places, in 200 ms
		for range 40 {
			l.arrived()
		}
		arrive(4) // and under overload one for each place
		l.arrived()
		c := l.enterSoon(t.Context()) // as good as one on its way
		arrive(0)
		waits(t, c)
		l.leave(20 * time.Millisecond)
		now(t, c)
		arrive(1)
		for range 2 {
			l.leave(20 * time.Millisecond)
		}
		if retry := l.arrive(time.Now()); retry != 0 {
			t.Error("refused though a place is free")
		}
	})
}

func TestTheQueueIsNoLongerThanWillFindAPlaceInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1, held: 20 * time.Millisecond}
		<-l.enterSoon(t.Context())
		for range 10 {
			waits(t, l.enterSoon(t.Context()))
		}
		if e := now(t, l.enterSoon(t.Context())); e.retry == 0 {
			t.Errorf("one more: %+v", e)
		}
	})
}

func TestRefusedCallersAreToldToComeOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 2, held: 400 * time.Millisecond}
		start := time.Now()
		for i := range 5 {
			if got, want := l.refuse(start), time.Duration(i+1)*200*time.Millisecond; got != want {
				t.Errorf("caller %d comes again after %v, want %v", i, got, want)
			}
		}
		if got, want := l.refuse(start.Add(time.Second)), 200*time.Millisecond; got != want {
			t.Errorf("a second later: %v, want %v", got, want)
		}
		for range 1000 {
			l.refuse(start)
		}
		if got := l.refuse(start); got != mostDelay {
			t.Errorf("after a thousand: %v, want %v", got, mostDelay)
		}
		if got := (&lane{places: 2, held: time.Microsecond}).refuse(start); got != leastDelay {
			t.Errorf("where calls are short: %v, want %v", got, leastDelay)
		}
	})
}

func TestTheMeanFollowsHowLongPlacesAreHeld(t *testing.T) {
	l := &lane{places: 1}
	for range 1000 {
		l.again()
		l.leave(80 * time.Millisecond)
	}
	if got := l.refuse(time.Now()); got < 79*time.Millisecond || got > 80*time.Millisecond {
		t.Errorf("the next place is promised after %v, want after 80ms", got)
	}
}

func TestACallerWhoGoesAwayTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1}
		<-l.enterSoon(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		c := l.enterSoon(ctx)
		cancel()
		if e := now(t, c); !errors.Is(e.err, context.Canceled) {
			t.Errorf("%+v", e)
		}
		l.leave(0)
		if taken, waiting := l.load(); taken != 0 || waiting != 0 {
			t.Errorf("%d places are taken, %d calls wait", taken, waiting)
		}
	})
}

func TestMorePlacesLetTheWaitingIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1}
		<-l.enterSoon(t.Context())
		a, b := l.enterSoon(t.Context()), l.enterSoon(t.Context())
		l.resize(3)
		now(t, a)
		now(t, b)
		l.resize(0)
		for range 100 {
			now(t, l.enterSoon(t.Context()))
		}
	})
}

func TestOverloadEndsWithTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1}
		<-l.enterSoon(t.Context())
		<-l.enterSoon(t.Context())
		for range int(patience / hurry / firstHold) {
			l.arrive(time.Now())
		}
		if retry := l.arrive(time.Now()); retry == 0 {
			t.Fatal("there is no overload")
		}
		l.resize(0)
		for range 10 {
			if retry := l.arrive(time.Now()); retry != 0 {
				t.Fatalf("refused without a bound, to come again after %v", retry)
			}
		}
	})
}
