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

func TestACallWaitsForItsPlaceAndGetsTheNextFreeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1}
		if e := now(t, l.enterSoon(t.Context())); e != (entered{}) {
			t.Fatalf("the first call: %+v", e)
		}
		older := l.enterSoon(t.Context())
		newer := l.enterSoon(t.Context())
		waits(t, older)
		l.leave(time.Millisecond)
		if e := now(t, newer); e != (entered{}) {
			t.Errorf("the newest call: %+v", e)
		}
		waits(t, older)
		l.leave(time.Millisecond)
		if e := now(t, older); e != (entered{}) {
			t.Errorf("the older call: %+v", e)
		}
		l.leave(time.Millisecond)
		if taken, waiting := l.load(); taken != 0 || waiting != 0 {
			t.Errorf("%d places are taken, %d calls wait", taken, waiting)
		}
	})
}

func TestACallIsRefusedWhenItHasWaitedLongEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1}
		<-l.enterSoon(t.Context())
		c := l.enterSoon(t.Context())
		<-time.After(patience - time.Millisecond)
		waits(t, c)
		<-time.After(time.Millisecond)
		if e := now(t, c); e.retry < leastDelay || e.err != nil {
			t.Errorf("%+v, want to be told when to come again", e)
		}
	})
}

func TestUnderOverloadNobodyWaitsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1}
		<-l.enterSoon(t.Context())
		first := l.enterSoon(t.Context())
		<-time.After(rush)
		second := l.enterSoon(t.Context()) // sees that the queue has not been empty
		if e := now(t, first); e.retry == 0 {
			t.Errorf("the call that waited in vain: %+v", e)
		}
		waits(t, second)
		<-time.After(patienceInOverload)
		if e := now(t, second); e.retry == 0 {
			t.Errorf("a call under overload: %+v", e)
		}
		<-time.After(calm)
		third := l.enterSoon(t.Context())
		<-time.After(2 * patienceInOverload)
		waits(t, third)
		l.leave(0)
		now(t, third)
	})
}

func TestUnderOverloadRequestsAreNotReadForWhichThereIsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 4}
		for range 4 {
			<-l.enterSoon(t.Context())
		}
		for range 50 { // no overload yet
			if retry := l.arrive(time.Now()); retry != 0 {
				t.Fatalf("refused in a rush, to come again after %v", retry)
			}
		}
		for range 50 {
			l.arrived()
		}
		c := l.enterSoon(t.Context())
		<-time.After(rush)
		if retry := l.arrive(time.Now()); retry != 0 {
			t.Error("refused though nobody else is on the way")
		}
		if retry := l.arrive(time.Now()); retry != 0 {
			t.Error("refused though there is one on the way only, for half of four places")
		}
		if retry := l.arrive(time.Now()); retry == 0 {
			t.Error("a third request is read for which there is no place")
		}
		l.arrived()
		if retry := l.arrive(time.Now()); retry != 0 {
			t.Error("refused though one of two has arrived")
		}
		if e := now(t, c); e.retry == 0 {
			t.Errorf("the call that waited in vain: %+v", e)
		}
		l.leave(0)
		if retry := l.arrive(time.Now()); retry != 0 {
			t.Error("refused though a place is free")
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
	for range 200 {
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
		l.enterSoon(t.Context())
		<-time.After(rush)
		for range 2 {
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

func TestTheQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lane{places: 1}
		<-l.enterSoon(t.Context())
		for range mostWaiting {
			go func() { _, _ = l.enter(t.Context()) }()
		}
		synctest.Wait()
		if e := now(t, l.enterSoon(t.Context())); e.retry == 0 {
			t.Errorf("one more: %+v", e)
		}
	})
}
