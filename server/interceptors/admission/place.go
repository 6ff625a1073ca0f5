package admission

import (
	"context"
	"sync"
	"time"
)

// place is what a call that is being worked on holds.
type place struct {
	lane *lane

	mu    sync.Mutex
	since time.Time // when it got the place
	aside int       // how many wait for somebody else on behalf of the call
	left  bool
}

type placeKey struct{}

// Aside gives the place of a call away while it waits for somebody else, such as a
// language model. The call goes on with what it returns, which takes a place without
// waiting for one. A context without a place has none to give away.
func Aside(ctx context.Context) (back func()) {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return func() {}
	}
	p.stepAside()
	return sync.OnceFunc(p.comeBack)
}

func (p *place) stepAside() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aside++; p.aside == 1 && !p.left {
		p.lane.leave(time.Since(p.since))
	}
}

func (p *place) comeBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aside--; p.aside == 0 && !p.left {
		p.since = time.Now()
		p.lane.again()
	}
}

// leave ends the call.
func (p *place) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left = true; p.aside == 0 {
		p.lane.leave(time.Since(p.since))
	}
}
