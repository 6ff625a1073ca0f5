package replicas

import (
	"bytes"
	"sync"
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// TestIdenticalRequestsOverTwoReplicasMakeOneCall sends one request 200 times, over both
// servers and for four tenants. Each tenant pays for one call, and no tenant gets what was
// written for another.
func TestIdenticalRequestsOverTwoReplicasMakeOneCall(t *testing.T) {
	t.Parallel()
	const requests = 200
	p := newPair(t, "--store-redis-timeout", patient)
	gate := make(chan struct{})
	p.model.follow(func(c call) wiredouble.Step { return writes(c).Until(gate) })
	req := about("identity")
	answers := make([]*elbowroomv1.CompressResponse, requests)
	ctx, cancel := bounded(t)
	defer cancel()
	var group sync.WaitGroup
	for i := range requests {
		group.Go(func() {
			var err error
			if answers[i], err = p.nodes[i%2].service(tenants[i/2%len(tenants)]).Compress(ctx, req); err != nil {
				t.Error(err)
			}
		})
	}
	size := float64(len(bodyOf(req.GetConversation())))
	await(t, "all requests", func() bool { return t.Failed() || p.metric(t, "elbowroom_in_flight_bytes") >= requests*size })
	await(t, "a call for every tenant", func() bool { return t.Failed() || p.model.Active() >= len(tenants) })
	close(gate)
	group.Wait()
	if t.Failed() {
		return
	}

	if n := p.model.total(); n != len(tenants) {
		t.Errorf("%d calls of the model for %d tenants", n, len(tenants))
	}
	first, billed := map[string][]byte{}, map[string]int32{}
	for i, a := range answers {
		judge(t, req, a)
		tenant := tenants[i/2%len(tenants)]
		billed[tenant] += a.GetReport().GetSummarizerUsage().GetCalls()
		body := bodyOf(a.GetConversation())
		if first[tenant] == nil {
			first[tenant] = body
		}
		if !bytes.Equal(body, first[tenant]) {
			t.Fatalf("answer %d is not that of the others of %s", i, tenant)
		}
	}
	for i, tenant := range tenants {
		if billed[tenant] != 1 {
			t.Errorf("%s was billed %d calls", tenant, billed[tenant])
		}
		for _, other := range tenants[:i] {
			if bytes.Equal(first[tenant], first[other]) {
				t.Errorf("%s got what was written for %s", tenant, other)
			}
		}
	}
	for i, n := range p.nodes {
		if served := n.metric(t, "rpc_server_call_duration_seconds_count", `rpc_method="elbowroom.v1.ContextService/Compress"`); served != requests/2 {
			t.Errorf("server %d answered %v calls", i, served)
		}
		if d := n.metric(t, "elbowroom_store_degraded"); d != 0 {
			t.Errorf("server %d went on without Redis", i)
		}
	}
	if n := p.metric(t, "elbowroom_summarizer_calls_total"); n != float64(len(tenants)) {
		t.Errorf("the metrics tell of %v calls", n)
	}

	// Who comes later finds it again, wherever.
	for _, n := range p.nodes {
		resp := n.compress(t, tenants[0], req)
		hit(t, resp)
		if !bytes.Equal(bodyOf(resp.GetConversation()), first[tenants[0]]) {
			t.Error("a later answer differs")
		}
	}
	if n := p.model.total(); n != len(tenants) {
		t.Errorf("%d calls of the model in the end", n)
	}
}
