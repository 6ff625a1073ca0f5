package replicas

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestReplicasGoOnAloneWithoutTheirRedis takes Redis away from two servers that have callers
// all the time. Each goes on with what it knows and says so; when Redis is back they share
// again.
func TestReplicasGoOnAloneWithoutTheirRedis(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name        string
		result      string // of the operations that fail
		take, bring func(t *testing.T, p *pair)
	}{
		{
			name: "killed", result: "error",
			take:  func(_ *testing.T, p *pair) { p.redis.Kill() },
			bring: func(t *testing.T, p *pair) { p.redis.Restart(t) },
		},
		{
			name: "hanging", result: "timeout",
			take:  func(_ *testing.T, p *pair) { p.redis.Pause() },
			bring: func(_ *testing.T, p *pair) { p.redis.Continue() },
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, "--store-redis-timeout", "500ms")
			stop := p.load(t)
			defer stop()
			a, b := p.nodes[0], p.nodes[1]
			ask := func(n *node, matter string) []byte {
				t.Helper()
				resp := n.compress(t, "team-a", about(matter))
				written(t, resp)
				return bodyOf(resp.GetConversation())
			}
			before := ask(a, "before")
			if !bytes.Equal(ask(b, "before"), before) || p.model.called("before") != 1 {
				t.Fatalf("the servers do not share: %d calls", p.model.called("before"))
			}

			x.take(t, p)
			for i, n := range p.nodes {
				await(t, fmt.Sprintf("server %d alone", i), func() bool { return n.metric(t, "elbowroom_store_degraded") == 1 })
				if n.metric(t, "elbowroom_store_operations_total", `result="`+x.result+`"`) == 0 {
					t.Errorf("server %d counts no %s", i, x.result)
				}
			}
			// The one that made it has it still; the other one makes its own.
			if !bytes.Equal(ask(a, "before"), before) || p.model.called("before") != 1 {
				t.Errorf("what a server made itself: %d calls", p.model.called("before"))
			}
			for _, n := range p.nodes {
				first := ask(n, "meanwhile")
				if !bytes.Equal(ask(n, "meanwhile"), first) {
					t.Error("a server alone gives another answer to the same request")
				}
			}
			if n := p.model.called("meanwhile"); n != 2 {
				t.Errorf("%d calls of two servers that are alone", n)
			}
			for i, n := range p.nodes {
				if n.metric(t, "elbowroom_store_degraded") != 1 {
					t.Errorf("server %d says that Redis is back", i)
				}
			}

			x.bring(t, p)
			for i, n := range p.nodes {
				await(t, fmt.Sprintf("server %d with Redis again", i), func() bool { return n.metric(t, "elbowroom_store_degraded") == 0 })
			}
			after := ask(a, "afterwards")
			resp := b.compress(t, "team-a", about("afterwards"))
			hit(t, resp)
			if !bytes.Equal(bodyOf(resp.GetConversation()), after) || p.model.called("afterwards") != 1 {
				t.Errorf("the servers do not share again: %d calls", p.model.called("afterwards"))
			}
			for i, n := range p.nodes {
				if log := n.Log(); strings.Count(log, "the shared store failed") != 1 || strings.Contains(log, "panic") {
					t.Errorf("server %d logs:\n%s", i, log)
				}
			}
		})
	}
}

// load has a caller at each server until stop, whose every call must succeed: new work and
// what was asked before in turn.
func (p *pair) load(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := bounded(t)
	var group sync.WaitGroup
	stopping := make(chan struct{})
	for i, n := range p.nodes {
		group.Go(func() {
			for turn := 0; ; turn++ {
				select {
				case <-stopping:
					return
				default:
				}
				req := about(matter(fmt.Sprintf("load%c", 'a'+rune(i)), turn/2%100))
				resp, err := n.service("team-b").Compress(ctx, req)
				if err != nil {
					t.Errorf("server %d: %v", i, err)
					return
				}
				judge(t, req, resp)
				written(t, resp)
			}
		})
	}
	return sync.OnceFunc(func() {
		close(stopping)
		group.Wait()
		cancel()
	})
}
