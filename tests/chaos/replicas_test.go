package chaos

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	client "github.com/elbowroom/elbowroom/clients/go"
	"github.com/elbowroom/elbowroom/internal/serverprocess"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// TestKillingAReplicaLosesNothingThatARetryDoesNotRecover kills the replica whose call
// the model has in hand, while the other one waits for its result and a client that knows
// both has asked the one that dies.
func TestKillingAReplicaLosesNothingThatARetryDoesNotRecover(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.model.Script(wiredouble.Hang(), good())
	var replicas []*serverprocess.Process
	var addrs []resolver.Address
	for range 2 {
		s.addr = "127.0.0.1:0"
		// The call is to be under way when the replica dies, however busy the machine is.
		s.start(t, serverprocess.Options{Args: []string{"--summarizer-attempt-timeout", "1m", "--store-redis-timeout", "20s"}})
		replicas = append(replicas, s.server)
		addrs = append(addrs, resolver.Address{Addr: s.addr, ServerName: "localhost"})
	}
	both := manual.NewBuilderWithScheme("both")
	both.InitialState(resolver.State{Addresses: addrs})
	k := &talks(t)[0]
	body := k.body(len(k.turns)-1, 1)
	ctx, cancel := bounded(t)
	defer cancel()
	ask := func(target string, options ...grpc.DialOption) <-chan error {
		conn, err := client.Connect(target, client.WithTLS(s.trust()), client.WithTimeout(callLimit), client.WithDialOptions(options...))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		done := make(chan error, 1)
		go func() {
			resp, err := conn.Service().Compress(ctx, k.request(body))
			if err == nil {
				c := &caller{load: &load{}}
				c.judge("Compress", k, body, resp)
				for _, b := range c.broken {
					t.Error(b)
				}
				if rung := resp.GetReport().GetRung(); resp.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED || rung != elbowroomv1.Rung_RUNG_LLM {
					t.Errorf("outcome %v, rung %v after %v", resp.GetOutcome(), rung, resp.GetReport().GetFailedRungs())
				}
			}
			done <- err
		}()
		return done
	}

	retried := ask("both:///replicas", grpc.WithResolvers(both))
	await(t, "the model's call", func() bool { return s.model.Active() == 1 })
	dying, other := replicas[0], replicas[1]
	if inFlight(t, other) > 0 {
		dying, other = other, dying
	}
	once := ask("passthrough:///"+dying.GRPC, grpc.WithDisableRetry())
	waiting := ask("passthrough:///" + other.GRPC)
	await(t, "all callers", func() bool {
		return inFlight(t, dying) > 3*int64(len(body))/2 && inFlight(t, other) > int64(len(body))/2
	})
	if n := len(s.model.Requests()); n != 1 {
		t.Errorf("%d calls of the model before the kill, want 1", n)
	}

	dying.Kill()
	if err := <-once; status.Code(err) != codes.Unavailable {
		t.Errorf("a caller that does not try again: %v, want UNAVAILABLE", err)
	}
	// They wait until the lease of the dead replica has run out.
	if err := <-retried; err != nil {
		t.Errorf("the client that tries again: %v", err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("a caller of the other replica: %v", err)
	}
	if n := len(s.model.Requests()); n != 2 {
		t.Errorf("%d calls of the model, want 2: that of the dead replica and one for all", n)
	}
	ending, end := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer end()
	if code, err := other.Stop(ending); code != 0 || err != nil {
		t.Errorf("exit code %d, error %v", code, err)
	}
}

// inFlight are the bytes of requests that a replica works on.
func inFlight(t *testing.T, p *serverprocess.Process) int64 {
	t.Helper()
	ctx, cancel := bounded(t)
	defer cancel()
	m, err := p.Metrics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return int64(m.Sum("elbowroom_in_flight_bytes"))
}
