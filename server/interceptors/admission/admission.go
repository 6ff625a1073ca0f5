package admission

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// retryDelay is what a refused caller is told to wait. A call takes milliseconds,
// so a second is many calls' time; clients add jitter of their own.
const retryDelay = time.Second

// Gate lets calls in. Its methods are safe for concurrent use.
type Gate struct {
	limit    int64
	inFlight atomic.Int64
	draining atomic.Bool
}

// NewGate returns a gate that lets in calls whose requests hold at most
// limitBytes together. A limit of 0 or less sets no bound.
func NewGate(limitBytes int64) *Gate { return &Gate{limit: limitBytes} }

// Drain refuses every call from now on. Those that are in stay.
func (g *Gate) Drain() { g.draining.Store(true) }

// Draining reports whether every call is refused.
func (g *Gate) Draining() bool { return g.draining.Load() }

// Limit is the bound on [Gate.InFlight], 0 or less for none.
func (g *Gate) Limit() int64 { return g.limit }

// InFlight is the number of request bytes being worked on.
func (g *Gate) InFlight() int64 { return g.inFlight.Load() }

var _ grpc.UnaryServerInterceptor = (*Gate)(nil).Unary

// Unary is the interceptor of unary calls. The size of a call is that of its
// request in the protobuf encoding.
func (g *Gate) Unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if g.draining.Load() {
		return nil, refuse(codes.Unavailable, "the server is shutting down")
	}
	size := int64(0)
	if m, ok := req.(proto.Message); ok {
		size = int64(proto.Size(m))
	}
	if err := g.Acquire(size); err != nil {
		return nil, err
	}
	defer g.Release(size)
	return handler(ctx, req)
}

// Acquire counts bytes of work that a call turned out to hold, or refuses them with
// RESOURCE_EXHAUSTED. What was acquired must be released.
func (g *Gate) Acquire(size int64) error {
	held := g.inFlight.Add(size)
	if g.limit <= 0 || held <= g.limit {
		return nil
	}
	g.inFlight.Add(-size)
	return refuse(codes.ResourceExhausted, fmt.Sprintf(
		"the server is working on %d bytes of requests, this one has %d and the limit is %d", held-size, size, g.limit))
}

// Release ends the work on bytes that were acquired.
func (g *Gate) Release(size int64) { g.inFlight.Add(-size) }

// refuse makes the error of a call that may be tried again.
func refuse(code codes.Code, reason string) error {
	st := status.New(code, reason)
	if detailed, err := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(retryDelay)}); err == nil {
		st = detailed
	}
	return st.Err()
}
