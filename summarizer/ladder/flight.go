package ladder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/elbowroom/elbowroom/summarizer"
)

// flights lets identical requests share one call. The call does not belong to the
// request that started it: it goes on when that one leaves and others wait. When
// all of them ran out of time it lingers, because an answer that comes now is
// stored and the retry finds it. Where the last one was cancelled nobody will come
// back, and the call ends.
type flights struct {
	// linger bounds a call that nobody waits for.
	linger time.Duration
	group  singleflight.Group

	mu      sync.Mutex
	limit   time.Duration // bounds a call, whoever waits for it
	closed  bool          // no call is made
	work    sync.WaitGroup
	running map[string]*flight
}

// errClosing is a call that was ended, or not made, because the server shuts down.
var errClosing = errors.New("the server is shutting down")

func (f *flights) setLimit(limit time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = limit
}

// flight is one call and those who wait for it.
type flight struct {
	ctx     context.Context //nolint:containedctx // the call's own life, not a caller's
	cancel  context.CancelFunc
	waiting int // guarded by flights.mu

	mu      sync.Mutex
	pieces  []piece
	changed chan struct{} // closed and replaced when a piece arrives
}

// piece is a piece of text on its way to those who watch.
type piece struct {
	text    string
	restart bool
}

// flightCall is a call that can be shared.
// reused says that nothing was called for it.
type flightCall func(ctx context.Context, onText func(text string, restart bool)) (response summarizer.Response, reused bool, err error)

// errPanic is a summarizer that panicked. The value may hold text of the
// conversation, so only its type is told.
var errPanic = errors.New("the summarizer panicked")

// landed is the result of a call.
type landed struct {
	response summarizer.Response
	reused   bool
	err      error
}

// do returns the result of call for the key, made now or already under way; shared
// says that somebody else had started it. The error is the call's, or ctx's when
// that ends first.
func (f *flights) do(
	ctx context.Context, key string, onText func(string, bool), call flightCall,
) (response summarizer.Response, shared bool, err error) {
	fl, results, first, err := f.join(ctx, key, call)
	if err != nil {
		return summarizer.Response{}, false, err
	}
	seen := 0
	tell := func() (changed <-chan struct{}) {
		if onText == nil {
			return nil
		}
		news, changed := fl.since(seen)
		seen += len(news)
		for _, p := range news {
			onText(p.text, p.restart)
		}
		return changed
	}
	for {
		changed := tell()
		select {
		case r := <-results:
			tell() // the last pieces and the result can come at one time
			f.leave(key, fl, nil)
			done, _ := r.Val.(landed)
			if done.err != nil && f.isClosed() {
				done.err = errClosing
			}
			return done.response, !first || done.reused, done.err
		case <-ctx.Done():
			f.leave(key, fl, ctx.Err())
			return summarizer.Response{}, !first, ctx.Err()
		case <-changed:
		}
	}
}

// join finds the call under way or starts it. Finding, starting and forgetting a
// call exclude each other: nobody joins one that is over.
func (f *flights) join(ctx context.Context, key string, call flightCall) (fl *flight, results <-chan singleflight.Result, first bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, false, errClosing
	}
	fl, ok := f.running[key]
	if !ok {
		fl = &flight{changed: make(chan struct{})}
		fl.ctx, fl.cancel = context.WithTimeout(context.WithoutCancel(ctx), f.limit)
		if f.running == nil {
			f.running = make(map[string]*flight)
		}
		f.running[key] = fl
		f.work.Add(1)
	}
	fl.waiting++
	return fl, f.group.DoChan(key, func() (any, error) {
		defer f.work.Done()
		defer f.forget(key, fl)
		return fl.land(call), nil
	}), !ok, nil
}

// land makes the call. A panic in a summarizer fails the call and nothing else.
func (fl *flight) land(call flightCall) (result landed) {
	defer func() {
		if r := recover(); r != nil {
			result = landed{err: fmt.Errorf("%w: %T", errPanic, r)}
		}
	}()
	response, reused, err := call(fl.ctx, fl.add)
	return landed{response, reused, err}
}

// close ends every call; later ones are not made.
func (f *flights) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, fl := range f.running {
		fl.cancel()
	}
}

// wait returns when the calls of a closed ladder are over, or when ctx ends.
func (f *flights) wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.work.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (f *flights) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *flights) leave(key string, fl *flight, cause error) {
	f.mu.Lock()
	fl.waiting--
	last := fl.waiting == 0
	f.mu.Unlock()
	switch {
	case !last:
	case errors.Is(cause, context.DeadlineExceeded):
		time.AfterFunc(f.linger, func() { f.abandon(key, fl) })
	default:
		f.forget(key, fl)
	}
}

// abandon ends a call that still nobody waits for.
func (f *flights) abandon(key string, fl *flight) {
	f.mu.Lock()
	alone := fl.waiting == 0
	f.mu.Unlock()
	if alone {
		f.forget(key, fl)
	}
}

// forget ends a call's life: later requests start their own.
func (f *flights) forget(key string, fl *flight) {
	f.mu.Lock()
	if f.running[key] == fl {
		delete(f.running, key)
		f.group.Forget(key)
	}
	f.mu.Unlock()
	fl.cancel()
}

func (fl *flight) add(text string, restart bool) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if restart {
		fl.pieces = append(fl.pieces, piece{restart: true})
	}
	if text != "" {
		fl.pieces = append(fl.pieces, piece{text: text})
	}
	close(fl.changed)
	fl.changed = make(chan struct{})
}

// since returns the pieces after the first n and a channel that closes when more
// have come.
func (fl *flight) since(n int) ([]piece, <-chan struct{}) {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	return fl.pieces[n:len(fl.pieces):len(fl.pieces)], fl.changed
}
