package quota

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/elbowroom/elbowroom/server/interceptors/auth"
)

// costBytes is the size of a request that costs one unit more.
const costBytes = 64 << 10

const (
	// maxTenants bounds the tenants remembered. Those that called least, lately and
	// often, are forgotten first, and start with a full bucket again.
	maxTenants = 10_000
	// busyDelay is what a tenant with too many calls at one time is told to wait: a
	// call takes milliseconds, one with a summarizing model seconds.
	busyDelay = time.Second
)

// Limits are one tenant's. The zero value sets none.
type Limits struct {
	// Rate is how many units of cost a tenant may use a second, and Burst how many at
	// once after a pause. A call costs its [Cost]. 0: no bound.
	Rate  float64
	Burst int
	// Concurrency is how many calls of a tenant are worked on at one time. 0: no bound.
	Concurrency int
}

// Cost is what a call costs in units: one for what only looks at a conversation, five
// for what compresses or replays it, and one for every 64 KiB of its request.
func Cost(method string, bytes int) int {
	base := 1
	switch method {
	case "Compress", "StreamCompress", "Prepare", "SimulateCache":
		base = 5
	}
	return base + bytes/costBytes
}

// Keeper keeps tenants within their limits. It is safe for concurrent use.
type Keeper struct {
	limits  Limits
	now     func() time.Time
	tenants *otter.Cache[string, *tenant]
}

type tenant struct {
	bucket *rate.Limiter // nil: no bound
	calls  atomic.Int64
}

// New returns a keeper. All tenants have the same limits.
func New(limits Limits) (*Keeper, error) { return newAt(limits, time.Now) }

func newAt(limits Limits, now func() time.Time) (*Keeper, error) {
	tenants, err := otter.New(&otter.Options[string, *tenant]{
		MaximumSize: maxTenants, Executor: func(fn func()) { fn() }, // no goroutine to close
	})
	if err != nil {
		return nil, fmt.Errorf("new quota: %w", err)
	}
	return &Keeper{limits: limits, now: now, tenants: tenants}, nil
}

var _ grpc.UnaryServerInterceptor = (*Keeper)(nil).Unary

// Unary is the interceptor of unary calls. It stands behind the one that says who
// calls.
func (k *Keeper) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if k.limits == (Limits{}) {
		return handler(ctx, req)
	}
	name := auth.FromContext(ctx).Tenant
	t := k.tenant(name)
	if err := k.enter(name, t); err != nil {
		return nil, err
	}
	defer t.calls.Add(-1)
	if err := k.pay(name, t, req, info); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (k *Keeper) tenant(name string) *tenant {
	if t, found := k.tenants.GetIfPresent(name); found {
		return t
	}
	fresh := &tenant{}
	if k.limits.Rate > 0 {
		fresh.bucket = rate.NewLimiter(rate.Limit(k.limits.Rate), max(k.limits.Burst, 1))
	}
	t, _ := k.tenants.SetIfAbsent(name, fresh)
	return t
}

// enter counts a call in.
func (k *Keeper) enter(name string, t *tenant) error {
	if n := t.calls.Add(1); k.limits.Concurrency > 0 && n > int64(k.limits.Concurrency) {
		t.calls.Add(-1)
		return refuse(name, "concurrency", fmt.Sprintf("%d calls of the tenant are being worked on, which is the limit", k.limits.Concurrency), busyDelay)
	}
	return nil
}

// pay takes a call's cost from the bucket. A call that costs more than the bucket
// holds takes it all: it would never be let in otherwise.
func (k *Keeper) pay(name string, t *tenant, req any, info *grpc.UnaryServerInfo) error {
	if t.bucket == nil {
		return nil
	}
	size := 0
	if m, ok := req.(proto.Message); ok {
		size = proto.Size(m)
	}
	now := k.now()
	cost := min(Cost(methodOf(info.FullMethod), size), t.bucket.Burst())
	r := t.bucket.ReserveN(now, cost)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return refuse(name, "rate", fmt.Sprintf("the call costs %d units and the tenant may use %v a second", cost, k.limits.Rate), wait)
}

func methodOf(full string) string {
	for i := len(full) - 1; i >= 0; i-- {
		if full[i] == '/' {
			return full[i+1:]
		}
	}
	return full
}

// refuse says which quota is used up and when to try again.
func refuse(tenant, quota, reason string, wait time.Duration) error {
	st := status.New(codes.ResourceExhausted, quota+" quota: "+reason)
	detailed, err := st.WithDetails(
		&errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{Subject: "tenant:" + tenant, Description: quota + ": " + reason}}},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
	if err != nil {
		return st.Err()
	}
	return detailed.Err()
}
