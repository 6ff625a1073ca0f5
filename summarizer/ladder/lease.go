package ladder

import (
	"context"
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
	lease := "calling/" + key
	for {
		// The answer may have been stored just before the lease ended.
		claimed, err := l.store.Claim(ctx, lease, []byte("1"), leaseLife)
		if found, ok := l.finished.get(ctx, key); ok {
			if claimed {
				l.end(ctx, lease)
			}
			return nothing, found, true
		}
		if err != nil {
			return nothing, summarizer.Response{}, false
		}
		if claimed {
			return l.renew(ctx, lease), summarizer.Response{}, false
		}
		select {
		case <-ctx.Done():
			return nothing, summarizer.Response{}, false
		case <-time.After(leasePoll):
		}
	}
}

// renew keeps a lease alive until it is released.
func (l leases) renew(ctx context.Context, lease string) (release func()) {
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
				_ = l.store.Set(ctx, lease, []byte("1"), leaseLife) // see the type's comment
			}
		}
	}()
	return func() {
		cancel()
		<-done
		l.end(ctx, lease)
	}
}

func (l leases) end(ctx context.Context, lease string) {
	_ = l.store.Delete(context.WithoutCancel(ctx), lease) // see the type's comment
}

func nothing() {}
