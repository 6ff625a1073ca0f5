package admission

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
)

type arrivalKey struct{}

// Door is asked before the request of a call is read, which for a conversation is a
// good part of what it costs to refuse it. It refuses calls for which there will be no
// place. How large a request is cannot be told before it is read, so those that can be
// small and are worth letting in do not pass here.
//
// The context it returns goes to [Gate.Unary].
func (g *Gate) Door(ctx context.Context) (context.Context, error) {
	if retry := g.large.arrive(time.Now()); retry > 0 {
		return ctx, refuse(codes.ResourceExhausted, tooMany, retry)
	}
	arrived := sync.OnceFunc(g.large.arrived)
	time.AfterFunc(onTheWay, arrived)
	return context.WithValue(ctx, arrivalKey{}, arrived), nil
}

// onTheWay is how long a request counts as one that will be here in a moment, so that
// one that is stuck, or never comes, does not keep others away.
const onTheWay = 100 * time.Millisecond

// arrived says that the request of a call has been read.
func arrived(ctx context.Context) {
	if end, ok := ctx.Value(arrivalKey{}).(func()); ok {
		end()
	}
}
