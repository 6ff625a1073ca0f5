package replicas

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// TestKillingTheReplicaThatWorksLosesNothing kills a server while the model has calls of
// its in hand, callers of the other server wait for them, and clients of both ask for
// other things. Every call is answered when it is made again, and nothing that was finished
// is paid for again.
func TestKillingTheReplicaThatWorksLosesNothing(t *testing.T) {
	t.Parallel()
	const lost, finished, clients = 4, 6, 4
	p := newPair(t, "--store-redis-timeout", patient)
	dying, other := p.nodes[0], p.nodes[1]
	// The first call about a matter that is to be lost never ends.
	p.model.follow(func(c call) wiredouble.Step {
		if c.number == 1 && strings.HasPrefix(c.matter, "lost") {
			return wiredouble.Hang()
		}
		return writes(c)
	})
	answers := &answers{first: map[string][]byte{}, calls: map[string]int{}}
	for i := range finished {
		answers.add(t, p, matter("done", i), p.nodes[i%2].compress(t, "team-a", about(matter("done", i))))
	}

	ctx, cancel := bounded(t)
	defer cancel()
	var group sync.WaitGroup
	var failed atomic.Int32
	// retried asks until there is an answer, at the servers in turn.
	retried := func(matter string, turn int) {
		for ; ctx.Err() == nil; turn++ {
			n := p.nodes[turn%2]
			resp, err := n.service("team-a").Compress(ctx, about(matter))
			if err == nil {
				answers.add(t, p, matter, resp)
				return
			}
			if n != dying || status.Code(err) != codes.Unavailable {
				t.Errorf("%s: %v", matter, err)
				return
			}
			failed.Add(1)
		}
		t.Errorf("%s: no answer", matter)
	}
	for i := range lost {
		group.Go(func() { retried(matter("lost", i), 0) })
	}
	await(t, "the calls that will be lost", func() bool { return p.model.Active() == lost })
	for i := range lost { // who asks for the same at the other server waits for them
		group.Go(func() { retried(matter("lost", i), 1) })
	}
	stop, served := make(chan struct{}), make(chan struct{}, 3*clients)
	for c := range clients {
		group.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if i%2 == 0 {
					retried(matter("done", i/2%finished), c+i)
				} else {
					retried(matter(fmt.Sprintf("new%c", 'a'+rune(c)), i), c+i/2)
				}
				select {
				case served <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 3 * clients {
		<-served
	}

	dying.Kill()
	size := float64(len(bodyOf(about(matter("lost", 0)).GetConversation())))
	await(t, "the retries of what was lost", func() bool {
		return t.Failed() || other.metric(t, "elbowroom_in_flight_bytes") >= 2*lost*size
	})
	close(stop)
	group.Wait() // until the leases of the dead server have run out
	if t.Failed() {
		return
	}
	if failed.Load() < lost {
		t.Errorf("%d calls failed and were made again, want those that were lost at least", failed.Load())
	}
	for i := range lost {
		if n := p.model.called(matter("lost", i)); n != 2 {
			t.Errorf("%d calls about what was lost, want that of the dead server and one more", n)
		}
	}
	answers.again(t, p, other)

	// A new server finds everything.
	answers.again(t, p, p.start(t, "--store-encryption-key-file", p.file("key-1"), "--store-redis-timeout", patient))
}

// answers are the bodies that callers got, by matter, and how often the model had been
// called about it by then.
type answers struct {
	mu    sync.Mutex
	first map[string][]byte
	calls map[string]int
}

// add judges an answer: every caller gets the same.
func (a *answers) add(t *testing.T, p *pair, matter string, resp *elbowroomv1.CompressResponse) {
	t.Helper()
	judge(t, about(matter), resp)
	written(t, resp)
	calls := p.model.called(matter)
	a.mu.Lock()
	defer a.mu.Unlock()
	body := bodyOf(resp.GetConversation())
	if a.first[matter] == nil {
		a.first[matter], a.calls[matter] = body, calls
	}
	if !bytes.Equal(body, a.first[matter]) {
		t.Errorf("%s: another answer than the first one", matter)
	}
	if calls != a.calls[matter] {
		t.Errorf("%s: %d calls, and %d when the first caller had its answer", matter, calls, a.calls[matter])
	}
}

// again asks a server for everything: nothing is called once more.
func (a *answers) again(t *testing.T, p *pair, n *node) {
	t.Helper()
	for matter := range a.first {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		resp, err := n.service("team-a").Compress(ctx, about(matter))
		cancel()
		if err != nil {
			t.Errorf("%s: %v", matter, err)
			continue
		}
		hit(t, resp)
		a.add(t, p, matter, resp)
	}
}
