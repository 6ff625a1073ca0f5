package ladder

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
)

const (
	// leaseLife is how long a server that has died keeps others from making its call.
	leaseLife = 10 * time.Second
	// leaseRenewal is how often one that lives renews its lease.
	leaseRenewal = leaseLife / 4
	// leasePoll is how often those who wait look for the answer. A summary takes
	// seconds, so a tenth of one more is not felt.
	leasePoll = 100 * time.Millisecond
)

// leases see to it that of the servers that share a store one makes a call and the
// others find its answer. A store that fails costs a second call, never an answer.
type leases struct {
	store    store.Store
	finished finished
}

// take waits until this server may make the call, or another one's answer is there.
// The release must be called when the call is over, its answer stored. Where ctx
// ends first there is neither, and the call, made with that ctx, ends as well.
func (l leases) take(ctx context.Context, key string) (release func(), found summarizer.Response, ok bool) {
	h := held{l.store, "calling/" + key, []byte(rand.Text())}
	for {
		// The answer may have been stored just before the lease ended.
		claimed, err := h.claim(ctx)
		if found, ok := l.finished.get(ctx, key); ok {
			if claimed {
				h.end(ctx)
			}
			return nothing, found, true
		}
		if err != nil {
			return nothing, summarizer.Response{}, false
		}
		if claimed {
			return h.renew(ctx), summarizer.Response{}, false
		}
		select {
		case <-ctx.Done():
			return nothing, summarizer.Response{}, false
		case <-time.After(leasePoll):
		}
	}
}

// held is a lease of one holder. A server that did nothing for longer than a lease lives
// has lost it, and must neither prolong nor end the one that another server has by then.
type held struct {
	store store.Store
	lease string
	// holder is a text of this holder alone.
	holder []byte
}

func (h held) claim(ctx context.Context) (claimed bool, err error) {
	return h.store.Claim(ctx, h.lease, h.holder, leaseLife)
}

// renew keeps a lease alive until it is released.
func (h held) renew(ctx context.Context) (release func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(leaseRenewal)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if !h.keep(ctx) {
					return
				}
			}
		}
	}()
	return func() {
		cancel()
		<-done
		h.end(ctx)
	}
}

// keep prolongs a lease, or takes it again where the store has lost it. It reports false
// when somebody else has it.
func (h held) keep(ctx context.Context) bool {
	kept, err := h.store.Swap(ctx, h.lease, h.holder, h.holder, leaseLife)
	if err == nil && !kept {
		kept, err = h.claim(ctx)
	}
	return kept || err != nil // see the type leases
}

func (h held) end(ctx context.Context) {
	_, _ = h.store.Swap(context.WithoutCancel(ctx), h.lease, h.holder, nil, 0) // see the type leases
}

func nothing() {}
