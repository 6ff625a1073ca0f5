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
	limits  atomic.Pointer[Limits]
	now     func() time.Time
	tenants *otter.Cache[string, *tenant]
}

type tenant struct {
	bucket *rate.Limiter
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
	k := &Keeper{now: now, tenants: tenants}
	k.SetLimits(limits)
	return k, nil
}

// SetLimits changes the limits for calls that come from now on. What tenants have
// used of them counts.
func (k *Keeper) SetLimits(limits Limits) { k.limits.Store(&limits) }

var _ grpc.UnaryServerInterceptor = (*Keeper)(nil).Unary

// Unary is the interceptor of unary calls. It stands behind the one that says who
// calls.
func (k *Keeper) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	limits := *k.limits.Load()
	if limits == (Limits{}) {
		return handler(ctx, req)
	}
	name := auth.FromContext(ctx).Tenant
	t := k.tenant(name, limits)
	if err := limits.enter(name, t); err != nil {
		return nil, err
	}
	defer t.calls.Add(-1)
	if err := limits.pay(name, t, req, info, k.now()); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// Charge takes the cost of bytes that a call turned out to stand for, a delta's body,
// from its tenant's bucket, which may go below empty for it: the calls behind it wait.
func (k *Keeper) Charge(ctx context.Context, bytes int) {
	limits := *k.limits.Load()
	cost := min(bytes/costBytes, max(limits.Burst, 1))
	if limits.Rate <= 0 || cost == 0 {
		return
	}
	k.tenant(auth.FromContext(ctx).Tenant, limits).bucket.ReserveN(k.now(), cost)
}

func (k *Keeper) tenant(name string, limits Limits) *tenant {
	if t, found := k.tenants.GetIfPresent(name); found {
		return t
	}
	t, _ := k.tenants.SetIfAbsent(name, &tenant{bucket: rate.NewLimiter(rate.Limit(limits.Rate), max(limits.Burst, 1))})
	return t
}

// enter counts a call in.
func (l Limits) enter(name string, t *tenant) error {
	if n := t.calls.Add(1); l.Concurrency > 0 && n > int64(l.Concurrency) {
		t.calls.Add(-1)
		return refuse(name, "concurrency", fmt.Sprintf("%d calls of the tenant are being worked on, which is the limit", l.Concurrency), busyDelay)
	}
	return nil
}

// pay takes a call's cost from the bucket. A call that costs more than the bucket
// holds takes it all: it would never be let in otherwise.
func (l Limits) pay(name string, t *tenant, req any, info *grpc.UnaryServerInfo, now time.Time) error {
	if l.Rate <= 0 {
		return nil
	}
	if limit, burst := rate.Limit(l.Rate), max(l.Burst, 1); t.bucket.Limit() != limit || t.bucket.Burst() != burst {
		t.bucket.SetLimitAt(now, limit) // the limits have changed since the last call
		t.bucket.SetBurstAt(now, burst)
	}
	size := 0
	if m, ok := req.(proto.Message); ok {
		size = proto.Size(m)
	}
	cost := min(Cost(methodOf(info.FullMethod), size), t.bucket.Burst())
	r := t.bucket.ReserveN(now, cost)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return refuse(name, "rate", fmt.Sprintf("the call costs %d units and the tenant may use %v a second", cost, l.Rate), wait)
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
