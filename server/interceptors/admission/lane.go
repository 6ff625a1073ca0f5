package admission

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// patience is how long a call waits for its place at most.
	patience = time.Second
	// rush is how long calls may be waiting, one or the other, before it is overload: a
	// queue that has not been empty for so long does not become so by waiting.
	rush = 500 * time.Millisecond
	// calm is how long it is then taken for overload, before the queue is given another
	// try.
	calm = 2 * time.Second
	// patienceInOverload is how long a call waits then. A place becomes free every few
	// milliseconds; who has waited longer would only make the others wait as long.
	patienceInOverload = 5 * time.Millisecond
	// mostWaiting bounds the queue.
	mostWaiting = 1024
)

// What a refused caller is told to wait, at least and at most.
const (
	leastDelay = 50 * time.Millisecond
	mostDelay  = 30 * time.Second
)

const (
	// holdWeight is the part that one call has in the mean of how long places are held,
	// as one over this.
	holdWeight = 16
	// firstHold is taken for the mean before the first call has ended.
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
	// crowded is since when somebody is waiting; it says nothing where nobody is.
	crowded time.Time
	// overload is until when there is.
	overload time.Time
	// held is the mean of how long a call holds a place.
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
	if l.places = places; places <= 0 {
		l.overload = time.Time{} // nobody waits any more
	}
	l.admit()
}

// arrive lets a request be read, or says how long its caller should stay away: under
// overload nothing is read that there will be no place for.
func (l *lane) arrive(now time.Time) (retry time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look(now)
	if now.Before(l.overload) && l.taken >= l.places && l.arriving+len(l.waiting) >= max(1, l.places/2) {
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
			l.admit()
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
	if l.places <= 0 || l.taken < l.places {
		l.taken++
		return nil, 0, 0
	}
	if len(l.waiting) == 0 {
		l.crowded = now
	}
	l.look(now)
	if len(l.waiting) >= mostWaiting {
		return nil, 0, l.refuse(now)
	}
	wait = patience
	if now.Before(l.overload) {
		wait = patienceInOverload
	}
	w = &waiter{since: now, decided: make(chan struct{})}
	l.waiting = append(l.waiting, w)
	return w, wait, 0
}

// look sees whether overload begins, and then sends those away who have waited for
// longer than they would be let to.
func (l *lane) look(now time.Time) {
	if len(l.waiting) == 0 || now.Sub(l.crowded) < rush {
		return
	}
	if !now.Before(l.overload) {
		l.waiting = slices.DeleteFunc(l.waiting, func(w *waiter) bool {
			w.refused = now.Sub(w.since) > patienceInOverload
			if w.refused {
				close(w.decided)
			}
			return w.refused
		})
	}
	l.overload = now.Add(calm)
	l.crowded = now // overload that goes on is seen after another rush
}

// leave gives a place back that was held for so long.
func (l *lane) leave(held time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == 0 {
		l.held = held
	}
	l.held += (held - l.held) / holdWeight
	l.taken--
	l.admit()
}

// again takes a place for a call that had one before. It does not wait: its work is
// half done.
func (l *lane) again() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken++
}

// admit gives free places to those who wait, the newest first: in a short queue that
// makes little difference, and in a long one the oldest are those whose callers are the
// nearest to giving up.
func (l *lane) admit() {
	for len(l.waiting) > 0 && (l.places <= 0 || l.taken < l.places) {
		last := len(l.waiting) - 1
		close(l.waiting[last].decided)
		l.waiting = slices.Delete(l.waiting, last, last+1)
		l.taken++
	}
}

// refuse promises the next place that nobody else was promised and returns the time
// until then.
func (l *lane) refuse(now time.Time) time.Duration {
	if l.promised.Before(now) {
		l.promised = now
	}
	held := l.held
	if held == 0 {
		held = firstHold
	}
	l.promised = l.promised.Add(held / time.Duration(max(l.places, 1)))
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
