package replicas

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

const (
	// budget is what a tenant has in an hour, and callCosts what a call costs in the end,
	// which is less than what is reserved for it.
	budget    = 60_000
	callCosts = 6_000
	// asked is how many calls a tenant would like to make: more than a budget is for.
	asked = 16
)

// matter is one of as many matters as are wanted, all of one length.
func matter(prefix string, i int) string {
	return prefix + string([]rune{'a' + rune(i/26), 'a' + rune(i%26)})
}

// TestABudgetOfSummarizerTokensHoldsOverTwoReplicas lets one tenant use its budget up at
// one server and others over both: all have the same.
func TestABudgetOfSummarizerTokensHoldsOverTwoReplicas(t *testing.T) {
	t.Parallel()
	p := newPair(t, "--store-redis-timeout", patient, "--limits-tenant-summarizer-tokens", strconv.Itoa(budget))
	for range 2 { // once more where a new hour begins meanwhile
		hour := time.Now().Truncate(time.Hour)
		one := p.spend(t, "team-a", "alone", p.nodes[0], p.nodes[0])
		both := p.spend(t, "team-b", "twice", p.nodes[0], p.nodes[1])
		crowdAtOne := p.spendTogether(t, "team-c", "crowd", p.nodes[0], p.nodes[0])
		crowd := p.spendTogether(t, "team-d", "group", p.nodes[0], p.nodes[1])
		p.refusesEverywhere(t, "team-b", "sober")
		if !time.Now().Truncate(time.Hour).Equal(hour) {
			p.hourPasses(t)
			continue
		}
		// A call may begin where a reservation for it fits.
		if one < budget/callCosts-2 || one > budget/callCosts || both != one {
			t.Errorf("%d calls at one server, %d over both", one, both)
		}
		if crowd < 2 || crowd > budget/callCosts || crowd != crowdAtOne {
			t.Errorf("%d calls at one time at one server, %d over both", crowdAtOne, crowd)
		}
		p.hourPasses(t)
		for i, n := range p.nodes {
			written(t, n.compress(t, "team-b", about(matter("later", i))))
		}
		return
	}
	t.Error("two hours began within one test")
}

// spend makes calls one after the other, at two servers in turn, and returns how many the
// model got.
func (p *pair) spend(t *testing.T, tenant, prefix string, nodes ...*node) int {
	t.Helper()
	p.model.follow(func(c call) wiredouble.Step {
		return writes(c).Costing(callCosts-1000, 1000)
	})
	accepted := 0
	for i := range asked {
		req := about(matter(prefix, i))
		resp := nodes[i%len(nodes)].compress(t, tenant, req)
		switch code := instead(resp); code {
		case "budget":
		case "":
			written(t, resp)
			accepted++
		default:
			t.Errorf("call %d: %s", i, code)
		}
	}
	return accepted
}

// spendTogether makes the calls at one time, and returns how many the model got.
func (p *pair) spendTogether(t *testing.T, tenant, prefix string, nodes ...*node) int {
	t.Helper()
	gate := make(chan struct{})
	p.model.follow(func(c call) wiredouble.Step {
		return writes(c).Costing(callCosts-1000, 1000).Until(gate)
	})
	before := p.model.total()
	ctx, cancel := bounded(t)
	defer cancel()
	var group sync.WaitGroup
	refused := make(chan struct{}, asked)
	for i := range asked {
		req := orNothing(about(matter(prefix, i)))
		group.Go(func() {
			resp, err := nodes[i%len(nodes)].service(tenant).Compress(ctx, req)
			if err != nil {
				overBudget(t, err)
				refused <- struct{}{}
				return
			}
			for _, f := range faults(req, resp) {
				t.Error(f)
			}
		})
	}
	await(t, "an end for every call", func() bool { return t.Failed() || len(refused)+p.model.Active() == asked })
	accepted := p.model.total() - before
	close(gate)
	group.Wait()
	if n := p.model.total() - before; n != accepted || n+len(refused) != asked {
		t.Errorf("%d calls, %d of them at one time, %d refused", n, accepted, len(refused))
	}
	return accepted
}

// overBudget judges the refusal of a call whose tenant has used its budget up.
func overBudget(t *testing.T, err error) {
	t.Helper()
	r := refusalOf(err)
	if status.Code(err) != codes.Unavailable || r.reason != "SUMMARIZER_FAILED" || r.retry <= 0 || r.retry > time.Hour {
		t.Errorf("%v, %+v; want UNAVAILABLE, and to come again within the hour", err, r)
	}
}

// refusesEverywhere is for a tenant without any tokens left.
func (p *pair) refusesEverywhere(t *testing.T, tenant, prefix string) {
	t.Helper()
	before := p.model.total()
	ctx, cancel := bounded(t)
	defer cancel()
	for i, n := range p.nodes {
		if code := instead(n.compress(t, tenant, about(matter(prefix, i)))); code != "budget" {
			t.Errorf("server %d: %q", i, code)
		}
		_, err := n.service(tenant).Compress(ctx, orNothing(about(matter(prefix, i+2))))
		overBudget(t, err)
	}
	if n := p.model.total() - before; n != 0 {
		t.Errorf("%d calls beyond the budget", n)
	}
}

// hourPasses ends what is kept of budgets, as time does. They are the numbers in Redis.
func (p *pair) hourPasses(t *testing.T) {
	t.Helper()
	names, err := p.ask(t, "KEYS", "*").AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	budgets := 0
	for _, name := range names {
		value, err := p.ask(t, "GET", name).ToString()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := strconv.Atoi(value); err != nil {
			continue
		}
		budgets++
		left, err := p.ask(t, "PTTL", name).AsInt64()
		if err != nil || left <= time.Hour.Milliseconds() || left > 2*time.Hour.Milliseconds() {
			t.Errorf("a budget is kept for %d ms, %v; want an hour and what is left of this one", left, err)
		}
		p.ask(t, "PEXPIRE", name, "1")
	}
	if budgets < len(tenants) {
		t.Errorf("%d budgets in Redis, want one for every tenant", budgets)
	}
	await(t, "the end of the hour", func() bool {
		n, err := p.ask(t, "DBSIZE").AsInt64()
		return err == nil && int(n) <= len(names)-budgets
	})
}

// TestRatesAreEachReplicasOwn is about what is documented as not shared: two servers let a
// tenant call twice as often as one does, and each says when to come again.
func TestRatesAreEachReplicasOwn(t *testing.T) {
	t.Parallel()
	const burst, rate = 10, 0.5
	p := newPair(t, "--limits-tenant-rate", fmt.Sprint(rate), "--limits-tenant-burst", strconv.Itoa(burst))
	text := "hello"
	count := func(n *node, tenant string) error {
		ctx, cancel := bounded(t)
		defer cancel()
		_, err := n.service(tenant).CountTokens(ctx, &elbowroomv1.CountTokensRequest{Text: &text})
		return err
	}
	for i, n := range p.nodes {
		began, accepted := time.Now(), 0
		var refused error
		for refused == nil && accepted < 100 {
			if refused = count(n, "team-a"); refused == nil {
				accepted++
			}
		}
		r := refusalOf(refused)
		if most := burst + int(rate*time.Since(began).Seconds()) + 1; accepted < burst || accepted > most {
			t.Errorf("server %d accepted %d calls, want %d to %d", i, accepted, burst, most)
		}
		if status.Code(refused) != codes.ResourceExhausted || !strings.HasPrefix(r.quota, "tenant:team-a rate:") || r.retry <= 0 || r.retry > time.Duration(float64(time.Second)/rate) {
			t.Errorf("server %d refuses with %v, %+v", i, refused, r)
		}
		if err := count(n, "team-b"); err != nil {
			t.Errorf("server %d refuses another tenant: %v", i, err)
		}
		<-time.After(r.retry)
		await(t, "the rate", func() bool { return count(n, "team-a") == nil })
	}
}
