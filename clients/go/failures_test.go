package elbowroom_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testutil/localserver"
)

const small = `{"model":"claude-sonnet-4-5","max_tokens":64,"system":"Be brief.","messages":[{"role":"user","content":"hi"}]}`

// double answers Prepare and Compress as it is told.
type double struct {
	pb.UnimplementedContextServiceServer
	answer func(ctx context.Context, n int) error
	calls  atomic.Int32
}

func (d *double) Compress(ctx context.Context, req *pb.CompressRequest) (*pb.CompressResponse, error) {
	return &pb.CompressResponse{Outcome: pb.Outcome_OUTCOME_BELOW_THRESHOLD}, d.answer(ctx, int(d.calls.Add(1)))
}

// serveDouble runs a double until the test ends and returns its address.
func serveDouble(t *testing.T, d *double, options ...grpc.ServerOption) string {
	t.Helper()
	s := grpc.NewServer(options...)
	pb.RegisterContextServiceServer(s, d)
	healthv1.RegisterHealthServer(s, fine{})
	lis := localserver.Listen(t, "127.0.0.1:0")
	done := make(chan error, 1)
	go func() { done <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return lis.Addr().String()
}

// fine is a health service that finds every service well.
type fine struct {
	healthv1.UnimplementedHealthServer
}

func (fine) Watch(_ *healthv1.HealthCheckRequest, stream healthv1.Health_WatchServer) error {
	if err := stream.Send(&healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// nowhere is an address that nobody listens on.
func nowhere(t *testing.T) string {
	t.Helper()
	lis := localserver.Listen(t, "127.0.0.1:0")
	addr := lis.Addr().String()
	if err := lis.Close(); err != nil {
		t.Fatal(err)
	}
	return addr
}

func TestAServerThatIsDownIsUnavailable(t *testing.T) {
	client := connectTo(t, nowhere(t))
	_, err := client.Compress(t.Context(), small, nil)
	var unavailable *elbowroom.UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(unavailable.Err.Advice, "server runs") {
		t.Errorf("%v (%T)", err, err)
	}
	var base *elbowroom.Error
	if !errors.As(err, &base) || status.Code(err) != codes.Unavailable {
		t.Errorf("%v leads to no base error or status", err)
	}
}

func TestAServerThatComesBackIsFoundAgain(t *testing.T) {
	lis := localserver.Listen(t, "127.0.0.1:0")
	addr := lis.Addr().String()
	stop := localserver.Serve(t, lis)
	client := connectTo(t, addr)
	c := client.NewConversation(nil, elbowroom.WithFailOpen())
	if _, err := c.BeforeRequest(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	stop()
	body, err := c.BeforeRequest(t.Context(), small)
	var unavailable *elbowroom.UnavailableError
	if err != nil || len(body) == 0 || !errors.As(c.Last().Err, &unavailable) {
		t.Errorf("stopped: %s, %v, %v", body, err, c.Last().Err)
	}
	t.Cleanup(localserver.Serve(t, localserver.Listen(t, addr)))
	// The connection is made anew in its own time, which waiting for it bounds.
	body, err = c.BeforeRequest(t.Context(), small, elbowroom.WithCallOptions(grpc.WaitForReady(true)))
	if err != nil || c.Last().Err != nil || !strings.Contains(string(body), "cache_control") {
		t.Errorf("restarted: %s, %v, %v", body, err, c.Last().Err)
	}
}

func TestACallThatFailsForNowIsTriedAgain(t *testing.T) {
	d := &double{answer: func(_ context.Context, n int) error {
		if n < 3 {
			return status.Error(codes.Unavailable, "the server is shutting down")
		}
		return nil
	}}
	client := connectTo(t, serveDouble(t, d))
	if _, err := client.Compress(t.Context(), small, nil); err != nil || d.calls.Load() != 3 {
		t.Errorf("%v after %d calls", err, d.calls.Load())
	}
}

// refusal is how the service refuses a call under overload.
func refusal(ctx context.Context, t *testing.T, wait time.Duration, pushback string) error {
	t.Helper()
	if err := grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", pushback)); err != nil {
		t.Error(err)
	}
	st := status.New(codes.ResourceExhausted, "busy")
	if wait > 0 {
		detailed, err := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
		if err != nil {
			t.Error(err)
		}
		st = detailed
	}
	return st.Err()
}

func TestAnOverloadedServerIsTriedAgainWhenItSays(t *testing.T) {
	for name, c := range map[string]struct {
		wait     time.Duration
		pushback string
		refused  int // calls, before one is answered
		want     int32
	}{
		"twice":    {time.Millisecond, "1", 2, 3},
		"always":   {time.Millisecond, "1", 100, 4},
		"for long": {time.Minute, "-1", 100, 1},
		"no time":  {0, "-1", 100, 1},
	} {
		d := &double{answer: func(ctx context.Context, n int) error {
			if n > c.refused {
				return nil
			}
			return refusal(ctx, t, c.wait, c.pushback)
		}}
		client := connectTo(t, serveDouble(t, d))
		_, err := client.Compress(t.Context(), small, nil)
		var overloaded *elbowroom.OverloadedError
		if failed := c.refused >= int(c.want); d.calls.Load() != c.want || errors.As(err, &overloaded) != failed || failed != (err != nil) {
			t.Errorf("%s: %v after %d calls, want %d", name, err, d.calls.Load(), c.want)
		} else if failed && overloaded.RetryAfter != c.wait {
			t.Errorf("%s: to be tried again after %v, want %v", name, overloaded.RetryAfter, c.wait)
		}
	}
}

func TestALargeCallIsTriedAgainToo(t *testing.T) {
	d := &double{answer: func(ctx context.Context, n int) error {
		if n == 1 {
			return refusal(ctx, t, time.Millisecond, "1")
		}
		return nil
	}}
	client := connectTo(t, serveDouble(t, d, grpc.MaxRecvMsgSize(64<<20)))
	large := `{"model":"claude-sonnet-4-5","max_tokens":64,"system":"` + strings.Repeat("x", 8<<20) + `","messages":[{"role":"user","content":"hi"}]}`
	if _, err := client.Compress(t.Context(), large, nil); err != nil || d.calls.Load() != 2 {
		t.Errorf("%v after %d calls", err, d.calls.Load())
	}
}

func TestASlowServerEndsInADeadline(t *testing.T) {
	d := &double{answer: func(ctx context.Context, _ int) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	addr := serveDouble(t, d)
	client := connectTo(t, addr, elbowroom.WithTimeout(50*time.Millisecond))
	ours, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for name, call := range map[string]func() error{
		"the client's timeout": func() error {
			_, err := client.Compress(t.Context(), small, nil)
			return err
		},
		"the call's timeout": func() error {
			_, err := connectTo(t, addr).Compress(t.Context(), small, nil, elbowroom.WithCallTimeout(50*time.Millisecond))
			return err
		},
		"the context's deadline": func() error {
			_, err := connectTo(t, addr).Compress(ours, small, nil)
			return err
		},
	} {
		err := call()
		var slow *elbowroom.DeadlineExceededError
		if !errors.As(err, &slow) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(slow.Err.Advice, "more time") {
			t.Errorf("%s: %v (%T)", name, err, err)
		}
	}
}

func TestRefusalsAreTypedAndSayWhatToDo(t *testing.T) {
	cases := []struct {
		code   codes.Code
		is     func(err error) bool
		advice string
	}{
		{codes.Unauthenticated, is[*elbowroom.UnauthenticatedError], "credentials"},
		{codes.PermissionDenied, is[*elbowroom.PermissionDeniedError], "operator"},
		{codes.ResourceExhausted, is[*elbowroom.OverloadedError], "wait"},
		{codes.Internal, is[*elbowroom.InternalError], "error id"},
		{codes.InvalidArgument, is[*elbowroom.InvalidRequestError], "correct"},
		{codes.FailedPrecondition, is[*elbowroom.RefusedError], "reason"},
		{codes.Unimplemented, is[*elbowroom.Error], "older"},
	}
	var code atomic.Uint32
	d := &double{answer: func(context.Context, int) error {
		return status.Error(codes.Code(code.Load()), "no, logged as 0a1b2c")
	}}
	client := connectTo(t, serveDouble(t, d))
	for _, c := range cases {
		code.Store(uint32(c.code))
		_, err := client.Compress(t.Context(), small, nil)
		var base *elbowroom.Error
		if !c.is(err) || !errors.As(err, &base) || base.Code != c.code || !strings.Contains(base.Advice, c.advice) {
			t.Errorf("%v: %v (%T)", c.code, err, err)
		}
		var internal *elbowroom.InternalError
		if errors.As(err, &internal) && internal.ErrorID != "0a1b2c" {
			t.Errorf("error id %q", internal.ErrorID)
		}
	}
}

func is[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

func TestTokensTravelInMetadataAndNeverInTheOpen(t *testing.T) {
	got := make(chan string, 1)
	d := &double{answer: func(ctx context.Context, _ int) error {
		md, _ := metadata.FromIncomingContext(ctx)
		got <- strings.Join(append(md.Get("authorization"), md.Get("traceparent")...), " ")
		return nil
	}}
	client := connectTo(t, serveDouble(t, d), elbowroom.WithToken("secret"))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-1-2-01")
	if _, err := client.Compress(ctx, small, nil); err != nil {
		t.Fatal(err)
	}
	if sent := <-got; sent != "Bearer secret 00-1-2-01" {
		t.Errorf("%q", sent)
	}
	for target, allowed := range map[string]bool{
		"localhost:1": true, "127.0.0.1:1": true, "dns:///[::1]:1": true, "unix:/run/elbowroom": true,
		"elbowroom.example:1": false, "dns:///10.0.0.1:1": false, "localhost.example:1": false,
	} {
		c, err := elbowroom.Connect(target, elbowroom.WithToken("secret"))
		if (err == nil) != allowed {
			t.Errorf("%s: %v", target, err)
		}
		if err == nil {
			_ = c.Close()
		}
	}
	c, err := elbowroom.Connect("elbowroom.example:1", elbowroom.WithToken("secret"), elbowroom.WithTokenInTheOpen())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestConversationsFailOpenOnlyWhenAsked(t *testing.T) {
	addr := nowhere(t)
	closed := connectTo(t, addr, elbowroom.WithTimeout(100*time.Millisecond)).NewConversation(nil)
	if body, err := closed.BeforeRequest(t.Context(), small); err == nil || body != nil {
		t.Errorf("%s, %v", body, err)
	}
	open := connectTo(t, addr, elbowroom.WithTimeout(100*time.Millisecond)).NewConversation(nil, elbowroom.WithFailOpen())
	if body, err := open.BeforeRequest(t.Context(), small); err != nil || string(body) != small || open.Last().Err == nil {
		t.Errorf("%s, %v, %v", body, err, open.Last().Err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open.BeforeRequest(gone, small); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that went away got %v", err)
	}
}
