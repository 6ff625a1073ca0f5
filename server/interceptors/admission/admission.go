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

// retryDelay is what a caller is told to wait where nothing says when there will be
// room. A call takes milliseconds, so a second is many calls' time.
const retryDelay = time.Second

// tooMany is what a caller is told for whom there is no place.
const tooMany = "the server has more calls than it can work on"

// SmallCall is the size of a request in bytes up to which it has a place among the
// small ones.
const SmallCall = 16 << 10

// smallPlaces is how many places small calls have for each one of the others. Their work
// takes a fraction of a millisecond, and with few places one that is interrupted in it
// keeps all of them waiting.
const smallPlaces = 8

// Limits bound the work that is let in. The zero value sets none.
type Limits struct {
	// Bytes is what the requests being worked on may hold together. 0 or less: no bound.
	Bytes int64
	// Calls is how many are worked on at one time. 0 or less: no bound.
	Calls int64
	// Working is how many of them have the processors at one time. Eight times as many
	// small ones have them besides. Those that wait, for their turn or for a language
	// model, are not counted. 0 or less: no bound.
	Working int
}

// Gate lets calls in. Its methods are safe for concurrent use.
type Gate struct {
	// Large, when not nil, reports requests whose work is larger than they are. It is
	// set before the first call.
	Large func(req any) bool

	maxBytes, maxCalls atomic.Int64
	inFlight, calls    atomic.Int64
	draining           atomic.Bool
	small, large       lane
}

// NewGate returns a gate that keeps the limits.
func NewGate(l Limits) *Gate {
	g := &Gate{}
	g.SetLimits(l)
	return g
}

// SetLimits changes the limits for calls that come from now on. Those that are in stay.
func (g *Gate) SetLimits(l Limits) {
	g.maxBytes.Store(l.Bytes)
	g.maxCalls.Store(l.Calls)
	g.small.resize(l.Working * smallPlaces)
	g.large.resize(l.Working)
}

// Drain refuses every call from now on. Those that are in stay.
func (g *Gate) Drain() { g.draining.Store(true) }

// Draining reports whether every call is refused.
func (g *Gate) Draining() bool { return g.draining.Load() }

// Limit is the bound on [Gate.InFlight], 0 or less for none.
func (g *Gate) Limit() int64 { return g.maxBytes.Load() }

// InFlight is the number of request bytes being worked on.
func (g *Gate) InFlight() int64 { return g.inFlight.Load() }

// Calls is the number of calls that are in, those that wait included.
func (g *Gate) Calls() int64 { return g.calls.Load() }

// Places is how many calls have the processors, and how many wait for them.
func (g *Gate) Places() (working, waiting int) {
	for _, l := range []*lane{&g.small, &g.large} {
		taken, queued := l.load()
		working, waiting = working+taken, waiting+queued
	}
	return working, waiting
}

var _ grpc.UnaryServerInterceptor = (*Gate)(nil).Unary

// Unary is the interceptor of unary calls. The size of a call is that of its
// request in the protobuf encoding.
func (g *Gate) Unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	arrived(ctx)
	if g.draining.Load() {
		return nil, ShuttingDown()
	}
	defer g.calls.Add(-1)
	if n, limit := g.calls.Add(1), g.maxCalls.Load(); limit > 0 && n > limit {
		return nil, refuse(codes.ResourceExhausted, fmt.Sprintf("the server is working on %d calls, which is the limit", limit), retryDelay)
	}
	size := int64(0)
	if m, ok := req.(proto.Message); ok {
		size = int64(proto.Size(m))
	}
	if err := g.Acquire(size); err != nil {
		return nil, err
	}
	defer g.Release(size)
	in := &place{lane: &g.small}
	if size > SmallCall || g.Large != nil && g.Large(req) {
		in.lane = &g.large
	}
	retry, err := in.lane.enter(ctx)
	switch {
	case err != nil:
		return nil, status.FromContextError(err).Err()
	case retry > 0:
		return nil, refuse(codes.ResourceExhausted, tooMany, retry)
	}
	in.since = time.Now()
	defer in.leave()
	return handler(context.WithValue(ctx, placeKey{}, in), req)
}

// Acquire counts bytes of work that a call turned out to hold, or refuses them with
// RESOURCE_EXHAUSTED. What was acquired must be released.
func (g *Gate) Acquire(size int64) error {
	held, limit := g.inFlight.Add(size), g.maxBytes.Load()
	if limit <= 0 || held <= limit {
		return nil
	}
	g.inFlight.Add(-size)
	return refuse(codes.ResourceExhausted, fmt.Sprintf(
		"the server is working on %d bytes of requests, this one has %d and the limit is %d", held-size, size, limit), retryDelay)
}

// Release ends the work on bytes that were acquired.
func (g *Gate) Release(size int64) { g.inFlight.Add(-size) }

// ShuttingDown is the error of calls that come while the server drains.
func ShuttingDown() error {
	return refuse(codes.Unavailable, "the server is shutting down", retryDelay)
}

// refuse makes the error of a call that may be tried again.
func refuse(code codes.Code, reason string, retry time.Duration) error {
	st := status.New(code, reason)
	if detailed, err := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(retry)}); err == nil {
		st = detailed
	}
	return st.Err()
}
