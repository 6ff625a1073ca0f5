package replicas

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// TestAFailingModelIsLeftAloneByAllReplicas is about what servers tell each other of a
// model that fails: cooldowns of sessions, and not the breaker, which each has for itself.
func TestAFailingModelIsLeftAloneByAllReplicas(t *testing.T) {
	t.Parallel()
	p := newPair(t, "--store-redis-timeout", patient, "--summarizer-retries", "0", "--summarizer-breaker-delay", "1s")
	p.model.follow(func(call) wiredouble.Step { return wiredouble.Status(503) })
	a, b := p.nodes[0], p.nodes[1]
	matters := 0
	// fails makes a call that the embedded summarizer answers, and says whether the model
	// was asked.
	fails := func(n *node, tenant, session, want string, asked bool) {
		t.Helper()
		matters++
		before := p.model.total()
		resp := n.compress(t, tenant, in(session, about(matter("fail", matters))))
		if got := instead(resp); got != want || (p.model.total() > before) != asked {
			t.Errorf("call %d: %q instead of %q; the model was asked: %v", matters, got, want, !asked)
		}
	}
	fails(a, "team-a", "s", "overloaded", true)
	fails(b, "team-a", "s", "cooling_down", false)
	fails(a, "team-a", "s", "cooling_down", false)
	// Other sessions, other tenants and callers without a session are on their own.
	fails(b, "team-a", "another", "overloaded", true)
	fails(b, "team-b", "s", "overloaded", true)
	fails(b, "team-a", "", "overloaded", true)

	ctx, cancel := bounded(t)
	defer cancel()
	resp, err := b.service("team-a").Compress(ctx, orNothing(in("s", about("patience"))))
	if err != nil || resp.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COOLING_DOWN {
		t.Errorf("a caller who wants a model or nothing: %v, %v", resp.GetOutcome(), err)
	}

	// B has seen three failures, A one. With the fifth A's breaker opens, B's does not.
	for range 4 {
		fails(a, "team-a", "", "overloaded", true)
	}
	_, err = a.service("team-a").Compress(ctx, orNothing(about("breaker")))
	if r := refusalOf(err); status.Code(err) != codes.Unavailable || r.reason != "SUMMARIZER_FAILED" || r.retry <= 0 || r.retry > time.Minute {
		t.Errorf("behind an open breaker: %v, %+v", err, r)
	}
	fails(a, "team-a", "", "breaker_open", false)
	fails(b, "team-a", "", "overloaded", true)

	// The breaker lets one call through when its time is over. The session's time is not.
	p.model.follow(writes)
	await(t, "the breaker's end", func() bool {
		matters++
		return instead(a.compress(t, "team-a", about(matter("mend", matters)))) == ""
	})
	written(t, b.compress(t, "team-a", about("recovery")))
	for _, n := range p.nodes {
		fails(n, "team-a", "s", "cooling_down", false)
	}

	// What was written for somebody else of the tenant is found all the same.
	resp = a.compress(t, "team-a", in("s", about("recovery")))
	written(t, resp)
	if n := p.model.called("recovery"); n != 1 || !resp.GetReport().GetSummarizerUsage().GetReused() {
		t.Errorf("%d calls, %v", n, resp.GetReport().GetSummarizerUsage())
	}
}
