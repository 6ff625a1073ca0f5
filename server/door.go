package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"github.com/elbowroom/elbowroom/server/interceptors/admission"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
)

// door takes requests in. gRPC reads the whole message of a unary call before the
// first interceptor sees the call, so that a stranger could make the server hold what it
// will refuse, and a peer that sends half a message could hold it for ever. Services
// that are registered here know who calls before a message is read, and wait for it no
// longer than a time limit. Under overload calls are refused here, too, unread. Whatever
// a call fails with passes here on its way out and gets its [pushback].
type door struct {
	server *grpc.Server
	// recognize puts who calls a service into the context of a call.
	recognize func(ctx context.Context, service string) context.Context
	// admit turns a caller's call away while there is no place for it.
	admit func(ctx context.Context, method string) (context.Context, error)
	// limit is how long a message may take to arrive.
	limit time.Duration
	// ended is closed when the server drains.
	ended <-chan struct{}
}

// lastArrivals is how long messages may take to arrive once the server drains. Health
// checks are answered then, too, and calls whose requests are long on their way are
// refused anyway: nobody who sends half a message may keep the server from stopping.
const lastArrivals = time.Second

var _ reflection.GRPCServer = (*door)(nil)

// GetServiceInfo lists the services for reflection.
func (d *door) GetServiceInfo() map[string]grpc.ServiceInfo { return d.server.GetServiceInfo() }

// RegisterService implements [grpc.ServiceRegistrar].
func (d *door) RegisterService(desc *grpc.ServiceDesc, impl any) {
	guarded := *desc
	guarded.Methods = slices.Clone(desc.Methods)
	for i := range guarded.Methods {
		inner, method := desc.Methods[i].Handler, "/"+desc.ServiceName+"/"+desc.Methods[i].MethodName
		guarded.Methods[i].Handler = func(srv any, ctx context.Context, read func(any) error, chain grpc.UnaryServerInterceptor) (_ any, err error) {
			defer func(call context.Context) {
				if when := pushback(err); when != nil {
					_ = grpc.SetTrailer(call, when) // who does not learn it goes by its own backoff
				}
			}(ctx)
			ctx, err = d.enter(ctx, method)
			if err != nil {
				return nil, err
			}
			return inner(srv, ctx, func(into any) error {
				if auth.Refused(ctx) {
					return nil // the interceptor refuses it, for which nothing is read
				}
				return d.receive(read, into)
			}, chain)
		}
	}
	d.server.RegisterService(&guarded, impl)
}

// enter asks who calls, and then whether there is a place. Strangers are left to the
// interceptor that refuses them: they do not count as callers who want a place.
func (d *door) enter(ctx context.Context, method string) (context.Context, error) {
	if ctx = d.recognize(ctx, serviceOf(method)); auth.Refused(ctx) {
		return ctx, nil
	}
	return d.admit(ctx, method)
}

// serviceOf is the service of a method by its full name.
func serviceOf(method string) string {
	service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	return service
}

// stream is the interceptor of streams: their first message has the same time, those
// after it any time.
func (d *door) stream(srv any, stream grpc.ServerStream, call *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer func() {
		if when := pushback(err); when != nil {
			stream.SetTrailer(when)
		}
	}()
	ctx, err := d.enter(stream.Context(), call.FullMethod)
	if err != nil {
		return err
	}
	return handler(srv, &opening{ServerStream: stream, ctx: ctx, door: d})
}

type opening struct {
	grpc.ServerStream
	ctx   context.Context //nolint:containedctx // a stream carries its context
	door  *door
	begun atomic.Bool
}

// Context implements [grpc.ServerStream].
func (o *opening) Context() context.Context { return o.ctx }

func (o *opening) RecvMsg(into any) error {
	if o.begun.Swap(true) {
		return o.ServerStream.RecvMsg(into)
	}
	return o.door.receive(o.ServerStream.RecvMsg, into)
}

// receive reads a message within a time limit. When that has passed the caller must
// return, which ends the stream and with it the reading.
func (d *door) receive(read func(any) error, into any) error {
	done := make(chan error, 1)
	go func() { done <- read(into) }()
	timer := time.NewTimer(d.limit)
	defer timer.Stop()
	late := status.Error(codes.DeadlineExceeded, fmt.Sprintf("the request did not arrive within %v (limits.receive_timeout)", d.limit))
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return late
	case <-d.ended:
	}
	if d.limit > lastArrivals {
		timer.Reset(lastArrivals)
		late = admission.ShuttingDown()
	}
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return late
	}
}
