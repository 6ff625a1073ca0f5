package admission

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// patience is how long a call waits for its place at most, and patienceHolds the same
	// in calls that come before it, where calls are long. Whatever is longer counts.
	patience      = 200 * time.Millisecond
	patienceHolds = 10
	// calm is how long it is taken for overload when a call was refused. In overload the
	// next refusal comes within a few milliseconds.
	calm = 50 * time.Millisecond
	// hurry is the part of the patience that calls have under overload, as one over this.
	hurry = 20
)

// What a refused caller is told to wait, at least and at most.
const (
	leastDelay = 50 * time.Millisecond
	mostDelay  = 30 * time.Second
)

const (
	// holdWeight is the part that one call has in the mean of how long places are held,
	// as one over this. A call in a hundred is a hundred times as long as the others.
	holdWeight = 64
	// firstHold is what the mean begins with.
	firstHold = 10 * time.Millisecond
)

// lane has places for calls and a queue before them. The zero value has no bound.
type lane struct {
	mu     sync.Mutex
	places int // 0 or less: no bound
	taken  int
	// arriving are calls whose requests are being read.
	arriving int
	waiting  []*waiter // oldest first
	// refused is when a call was refused last.
	refused time.Time
	// held is the mean of how long a call holds a place, 0 before the first.
	held time.Duration
	// promised is when the last caller that was refused may come again.
	promised time.Time
}

// waiter is a call in the queue. decided is closed when it has its place or is refused.
type waiter struct {
	since   time.Time
	decided chan struct{}
	refused bool // read after decided
}

// resize changes the number of places.
func (l *lane) resize(places int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.places = places
	l.admit(time.Now())
}

// arrive lets a request be read, or says how long its caller should stay away: nothing
// is read that would wait too long for a place.
func (l *lane) arrive(now time.Time) (retry time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full() && l.arriving+len(l.waiting) >= l.most(now) {
		return l.refuse(now)
	}
	l.arriving++
	return 0
}

// arrived ends what arrive began.
func (l *lane) arrived() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arriving--
}

// enter takes a place. Where there is none in time it returns how long the caller
// should stay away, and ctx's error when that ends first.
func (l *lane) enter(ctx context.Context) (retry time.Duration, err error) {
	w, wait, retry := l.queue(time.Now())
	if w == nil {
		return retry, nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-w.decided:
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-w.decided:
		switch {
		case w.refused:
			return l.refuse(time.Now()), nil
		case err != nil: // the place came too late
			l.taken--
			l.admit(time.Now())
		}
		return 0, err
	default:
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(x *waiter) bool { return x == w })
	if err != nil {
		return 0, err
	}
	return l.refuse(time.Now()), nil
}

// queue takes a free place, or stands a call in the queue for as long as it says, or
// refuses it: w is nil for the first and the last.
func (l *lane) queue(now time.Time) (w *waiter, wait, retry time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.full() {
		l.taken++
		return nil, 0, 0
	}
	if len(l.waiting) >= l.most(now) {
		return nil, 0, l.refuse(now)
	}
	w = &waiter{since: now, decided: make(chan struct{})}
	l.waiting = append(l.waiting, w)
	return w, l.patience(now), 0
}

// full reports whether a call has to wait.
func (l *lane) full() bool { return l.places > 0 && l.taken >= l.places }

// overload reports whether there is: somebody was refused a moment ago.
func (l *lane) overload(now time.Time) bool { return now.Sub(l.refused) < calm }

// hold is how long a call will hold a place, as far as can be seen.
func (l *lane) hold() time.Duration {
	if l.held == 0 {
		return firstHold
	}
	return l.held
}

// patience is how long a call waits. In ordinary times a rush is over by then. Who
// waits for longer under overload only makes the others wait as long.
func (l *lane) patience(now time.Time) time.Duration {
	most := max(patience, patienceHolds*l.hold())
	if l.overload(now) {
		most /= hurry
	}
	return most
}

// most is how many calls find a place within that time. For each place one may always be
// on its way, so that none stands empty.
func (l *lane) most(now time.Time) int {
	return max(l.places, int(l.patience(now)*time.Duration(l.places)/l.hold()))
}

// leave gives a place back that was held for so long.
func (l *lane) leave(held time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = max(l.hold()+(held-l.hold())/holdWeight, 1)
	l.taken--
	l.admit(time.Now())
}

// again takes a place for a call that had one before. It does not wait: its work is
// half done.
func (l *lane) again() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken++
}

// admit gives free places to those who wait, the oldest first. Under overload it is the
// newest: some will wait in vain, and those have done so for the longest.
func (l *lane) admit(now time.Time) {
	for len(l.waiting) > 0 && !l.full() {
		next := 0
		if l.overload(now) {
			next = len(l.waiting) - 1
		}
		close(l.waiting[next].decided)
		l.waiting = slices.Delete(l.waiting, next, next+1)
		l.taken++
	}
}

// refuse promises the next place that nobody else was promised and returns the time
// until then. It is overload from now on: who has waited for longer than one is let to
// then is sent away, too.
func (l *lane) refuse(now time.Time) time.Duration {
	begins := !l.overload(now)
	if l.refused = now; begins {
		l.waiting = slices.DeleteFunc(l.waiting, func(w *waiter) bool {
			w.refused = now.Sub(w.since) > l.patience(now)
			if w.refused {
				close(w.decided)
			}
			return w.refused
		})
	}
	if l.promised.Before(now) {
		l.promised = now
	}
	l.promised = l.promised.Add(l.hold() / time.Duration(max(l.places, 1)))
	if latest := now.Add(mostDelay); l.promised.After(latest) {
		l.promised = latest
	}
	return max(l.promised.Sub(now), leastDelay)
}

// load is how many calls have a place and how many wait for one.
func (l *lane) load() (taken, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken, len(l.waiting)
}
