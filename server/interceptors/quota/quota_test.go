package quota

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/server/interceptors/auth"
)

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func keeper(t *testing.T, limits Limits) (*Keeper, *clock) {
	t.Helper()
	c := &clock{time.Unix(1_700_000_000, 0)}
	k, err := newAt(limits, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return k, c
}

// call makes one as a tenant, with a request of about so many bytes.
func call(t *testing.T, k *Keeper, tenant, method string, bytes int, inside func()) error {
	t.Helper()
	text := strings.Repeat("x", bytes)
	ctx := auth.NewContext(t.Context(), auth.Identity{Tenant: tenant})
	_, err := k.Unary(ctx, &elbowroomv1.CountTokensRequest{Text: &text}, &grpc.UnaryServerInfo{FullMethod: "/elbowroom.v1.ContextService/" + method},
		func(context.Context, any) (any, error) {
			if inside != nil {
				inside()
			}
			return nil, nil
		})
	return err
}

// wantRefused checks the code and both details, and returns how long to wait.
func wantRefused(t *testing.T, err error, tenant string) time.Duration {
	t.Helper()
	st, wait, subject := status.Convert(err), time.Duration(0), ""
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.RetryInfo:
			wait = d.GetRetryDelay().AsDuration()
		case *errdetails.QuotaFailure:
			subject = d.GetViolations()[0].GetSubject()
		}
	}
	if st.Code() != codes.ResourceExhausted || wait <= 0 || subject != "tenant:"+tenant {
		t.Fatalf("got %v, wait %v, subject %q", err, wait, subject)
	}
	return wait
}

func TestATenantPaysForItsCalls(t *testing.T) {
	k, c := keeper(t, Limits{Rate: 2, Burst: 12})
	for range 2 { // 5 units each
		if err := call(t, k, "a", "Compress", 10, nil); err != nil {
			t.Fatal(err)
		}
	}
	wait := wantRefused(t, call(t, k, "a", "Compress", 10, nil), "a")
	if wait != 1500*time.Millisecond {
		t.Errorf("wait %v for 3 missing units at 2 a second", wait)
	}
	if err := call(t, k, "a", "CountTokens", 10, nil); err != nil {
		t.Errorf("a call that can still be paid: %v", err)
	}
	if err := call(t, k, "b", "Compress", 10, nil); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	c.at = c.at.Add(2 * time.Second)
	if err := call(t, k, "a", "Compress", 10, nil); err != nil {
		t.Errorf("after the wait: %v", err)
	}
}

func TestARefusedCallCostsNothing(t *testing.T) {
	k, c := keeper(t, Limits{Rate: 1, Burst: 5})
	if err := call(t, k, "a", "Prepare", 0, nil); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		wantRefused(t, call(t, k, "a", "Prepare", 0, nil), "a")
	}
	c.at = c.at.Add(5 * time.Second)
	if err := call(t, k, "a", "Prepare", 0, nil); err != nil {
		t.Error(err)
	}
}

func TestBytesCount(t *testing.T) {
	k, _ := keeper(t, Limits{Rate: 1, Burst: 10})
	if err := call(t, k, "a", "CountTokens", 8*costBytes, nil); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, call(t, k, "a", "CountTokens", costBytes, nil), "a")
}

func TestACallThatCostsMoreThanTheBucketHoldsIsLetInWhenItIsFull(t *testing.T) {
	k, _ := keeper(t, Limits{Rate: 1, Burst: 3})
	if err := call(t, k, "a", "Compress", 100*costBytes, nil); err != nil {
		t.Error(err)
	}
	wantRefused(t, call(t, k, "a", "CountTokens", 0, nil), "a")
}

func TestCallsAtOneTimeAreBounded(t *testing.T) {
	k, _ := keeper(t, Limits{Concurrency: 2})
	err := call(t, k, "a", "CountTokens", 0, func() {
		if err := call(t, k, "a", "CountTokens", 0, func() {
			wantRefused(t, call(t, k, "a", "CountTokens", 0, nil), "a")
			if err := call(t, k, "b", "CountTokens", 0, nil); err != nil {
				t.Errorf("another tenant: %v", err)
			}
		}); err != nil {
			t.Error(err)
		}
		if err := call(t, k, "a", "CountTokens", 0, nil); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWithoutLimitsNobodyIsCounted(t *testing.T) {
	k, _ := keeper(t, Limits{})
	for range 1000 {
		if err := call(t, k, "a", "Compress", costBytes, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := k.tenants.EstimatedSize(); n != 0 {
		t.Errorf("%d tenants remembered", n)
	}
}

func TestNewLimitsCountWhatTenantsHaveUsed(t *testing.T) {
	k, clock := keeper(t, Limits{})
	if err := call(t, k, "a", "CountTokens", 1, func() {
		k.SetLimits(Limits{Rate: 1, Burst: 2, Concurrency: 1})
		if err := call(t, k, "a", "CountTokens", 1, func() {
			wantRefused(t, call(t, k, "a", "CountTokens", 1, nil), "a")
		}); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := call(t, k, "a", "CountTokens", 1, nil); err != nil {
		t.Error(err)
	}
	wantRefused(t, call(t, k, "a", "CountTokens", 1, nil), "a")
	// A larger bucket is not a full one; a higher rate fills it sooner.
	k.SetLimits(Limits{Rate: 10, Burst: 20})
	wantRefused(t, call(t, k, "a", "CountTokens", 1, nil), "a")
	clock.at = clock.at.Add(200 * time.Millisecond)
	for range 2 {
		if err := call(t, k, "a", "CountTokens", 1, nil); err != nil {
			t.Error(err)
		}
	}
	wantRefused(t, call(t, k, "a", "CountTokens", 1, nil), "a")
	k.SetLimits(Limits{})
	if err := call(t, k, "a", "CountTokens", 1, nil); err != nil {
		t.Errorf("without limits: %v", err)
	}
}

// What a delta stands for is known behind the quota, and is paid by the calls after it.
func TestACallPaysForWhatItTurnsOutToStandFor(t *testing.T) {
	k, c := keeper(t, Limits{Rate: 1, Burst: 10})
	ctx := auth.NewContext(t.Context(), auth.Identity{Tenant: "a"})
	if err := call(t, k, "a", "Compress", 10, func() { k.Charge(ctx, 8*costBytes) }); err != nil {
		t.Fatal(err)
	}
	if wait := wantRefused(t, call(t, k, "a", "CountTokens", 10, nil), "a"); wait != 4*time.Second {
		t.Errorf("wait %v for a unit, with 3 owed", wait)
	}
	if err := call(t, k, "b", "CountTokens", 10, nil); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	c.at = c.at.Add(4 * time.Second)
	if err := call(t, k, "a", "CountTokens", 10, nil); err != nil {
		t.Errorf("after the wait: %v", err)
	}
	k.Charge(ctx, 1000*costBytes) // no more than the bucket holds at once
	c.at = c.at.Add(11 * time.Second)
	if err := call(t, k, "a", "CountTokens", 10, nil); err != nil {
		t.Errorf("a large body is owed for longer than the bucket takes to fill: %v", err)
	}
}
