package admission_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/server/interceptors/admission"
)

func request(bytes int) *elbowroomv1.CountTokensRequest {
	text := strings.Repeat("x", bytes)
	return &elbowroomv1.CountTokensRequest{Text: &text}
}

func succeed(context.Context, any) (any, error) { return "done", nil }

// wantRefusal checks code and retry hint.
func wantRefusal(t *testing.T, err error, code codes.Code) {
	t.Helper()
	st := status.Convert(err)
	if st.Code() != code {
		t.Fatalf("error %v, want code %v", err, code)
	}
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok && info.GetRetryDelay().AsDuration() > 0 {
			return
		}
	}
	t.Fatalf("details %v, want a RetryInfo with a delay", st.Details())
}

func TestGateRefusesBytesAboveTheLimit(t *testing.T) {
	gate := admission.NewGate(admission.Limits{Bytes: 10_000})
	inside := func(ctx context.Context, _ any) (any, error) {
		if gate.InFlight() < 6_000 {
			t.Errorf("InFlight() = %d during a call of 6,000 bytes", gate.InFlight())
		}
		_, err := gate.Unary(ctx, request(6_000), nil, succeed)
		wantRefusal(t, err, codes.ResourceExhausted)
		if _, err := gate.Unary(ctx, request(3_000), nil, succeed); err != nil {
			t.Errorf("a call that fits was refused: %v", err)
		}
		return "done", nil
	}
	if _, err := gate.Unary(t.Context(), request(6_000), nil, inside); err != nil {
		t.Fatal(err)
	}
	if gate.InFlight() != 0 {
		t.Errorf("InFlight() = %d after all calls", gate.InFlight())
	}
	if _, err := gate.Unary(t.Context(), request(6_000), nil, succeed); err != nil {
		t.Errorf("a call after the others was refused: %v", err)
	}
}

func TestGateCountsAPanicOut(t *testing.T) {
	gate := admission.NewGate(admission.Limits{Bytes: 10_000})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = gate.Unary(t.Context(), request(6_000), nil, func(context.Context, any) (any, error) { panic("boom") })
	}()
	if gate.InFlight() != 0 {
		t.Errorf("InFlight() = %d after a panic", gate.InFlight())
	}
}

func TestGateWithoutALimitLetsEverythingIn(t *testing.T) {
	if _, err := admission.NewGate(admission.Limits{}).Unary(t.Context(), request(1_000_000), nil, succeed); err != nil {
		t.Error(err)
	}
}

func TestGateRefusesWhileDraining(t *testing.T) {
	gate := admission.NewGate(admission.Limits{})
	inside := func(ctx context.Context, _ any) (any, error) {
		gate.Drain()
		_, err := gate.Unary(ctx, request(1), nil, succeed)
		wantRefusal(t, err, codes.Unavailable)
		return "done", nil
	}
	if got, err := gate.Unary(t.Context(), request(1), nil, inside); err != nil || got != "done" {
		t.Errorf("the call that was in got %v, %v", got, err)
	}
}

func TestGateRefusesCallsAboveTheLimit(t *testing.T) {
	gate := admission.NewGate(admission.Limits{Calls: 2})
	call := func(inside func()) error {
		_, err := gate.Unary(t.Context(), request(1), nil, func(context.Context, any) (any, error) {
			inside()
			return "done", nil
		})
		return err
	}
	if err := call(func() {
		if err := call(func() {
			wantRefusal(t, call(func() { t.Error("a third call was let in") }), codes.ResourceExhausted)
			if n := gate.Calls(); n != 2 {
				t.Errorf("Calls() = %d during two calls", n)
			}
			gate.SetLimits(admission.Limits{Calls: 3})
			if err := call(func() {}); err != nil {
				t.Errorf("a third call under a higher limit: %v", err)
			}
			gate.SetLimits(admission.Limits{Calls: 1})
		}); err != nil {
			t.Error(err)
		}
		wantRefusal(t, call(func() {}), codes.ResourceExhausted)
	}); err != nil {
		t.Error(err)
	}
	if err := call(func() {}); err != nil || gate.Calls() != 0 {
		t.Errorf("afterwards: %v, %d calls", err, gate.Calls())
	}
}

// large is a request above [admission.SmallCall].
func large() *elbowroomv1.CountTokensRequest { return request(admission.SmallCall + 1) }

// inside makes a call that holds its place while the function runs.
func inside(ctx context.Context, gate *admission.Gate, req any, run func(ctx context.Context)) error {
	_, err := gate.Unary(ctx, req, nil, func(ctx context.Context, _ any) (any, error) {
		run(ctx)
		return "done", nil
	})
	return err
}

func TestLargeCallsDoNotKeepSmallOnesWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := admission.NewGate(admission.Limits{Working: 1})
		gate.Large = func(req any) bool { return req.(*elbowroomv1.CountTokensRequest).GetModel() != "" }
		if err := inside(t.Context(), gate, large(), func(ctx context.Context) {
			wantRefusal(t, inside(ctx, gate, large(), func(context.Context) { t.Error("a second large call was let in") }), codes.ResourceExhausted)
			more := request(1)
			more.Model = "stands for more"
			wantRefusal(t, inside(ctx, gate, more, func(context.Context) { t.Error("so was one that stands for more") }), codes.ResourceExhausted)
			if err := inside(ctx, gate, request(1), func(ctx context.Context) {
				if working, _ := gate.Places(); working != 2 {
					t.Errorf("%d calls have places", working)
				}
			}); err != nil {
				t.Errorf("a small call: %v", err)
			}
		}); err != nil {
			t.Error(err)
		}
		if working, waiting := gate.Places(); working != 0 || waiting != 0 {
			t.Errorf("afterwards %d calls have places, %d wait", working, waiting)
		}
	})
}

func TestACallThatWaitsForSomebodyElseGivesItsPlaceAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := admission.NewGate(admission.Limits{Working: 1})
		working := func() int {
			n, _ := gate.Places()
			return n
		}
		another := func() error { return inside(t.Context(), gate, large(), func(context.Context) {}) }
		if err := inside(t.Context(), gate, large(), func(ctx context.Context) {
			back := admission.Aside(ctx)
			nested := admission.Aside(ctx)
			if err := another(); err != nil {
				t.Errorf("another call meanwhile: %v", err)
			}
			nested()
			if n := working(); n != 0 {
				t.Errorf("%d places are taken", n)
			}
			back()
			back()
			if n := working(); n != 1 {
				t.Errorf("%d places are taken when the call goes on", n)
			}
			wantRefusal(t, another(), codes.ResourceExhausted)
		}); err != nil {
			t.Error(err)
		}
		if err := inside(t.Context(), gate, large(), func(ctx context.Context) { _ = admission.Aside(ctx) }); err != nil {
			t.Error(err)
		}
		if n := working(); n != 0 {
			t.Errorf("%d places are taken after a call that ended aside", n)
		}
		admission.Aside(t.Context())() // without a place
	})
}

func TestAWaitingCallEndsWithItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := admission.NewGate(admission.Limits{Working: 1})
		if err := inside(t.Context(), gate, large(), func(ctx context.Context) {
			limited, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			if err := inside(limited, gate, large(), func(context.Context) {}); status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("error %v", err)
			}
		}); err != nil {
			t.Error(err)
		}
	})
}

func TestTheDoorIsOpenForAsManyAsWillFindAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := admission.NewGate(admission.Limits{Working: 1})
		// through makes calls that come to the door until one is refused.
		through := func(ctx context.Context) (in []context.Context) {
			for {
				came, err := gate.Door(ctx)
				if err != nil {
					wantRefusal(t, err, codes.ResourceExhausted)
					return in
				}
				in = append(in, came)
			}
		}
		release := make(chan struct{})
		go func() { _ = inside(t.Context(), gate, large(), func(context.Context) { <-release }) }()
		synctest.Wait()
		if n := len(through(t.Context())); n != 20 {
			t.Errorf("%d calls came in, want 20 of 10 ms in 200 ms", n)
		}
		if n := len(through(t.Context())); n != 0 {
			t.Errorf("%d more came in", n)
		}
		<-time.After(time.Second) // their requests are stuck on their way
		in := through(t.Context())
		if len(in) != 20 {
			t.Errorf("%d calls came in after those whose requests do not come", len(in))
		}
		arrived := in
		for _, ctx := range arrived { // to wait, and in vain
			go func() { _ = inside(ctx, gate, large(), func(context.Context) {}) }()
		}
		<-time.After(40 * time.Millisecond) // which they wait no longer
		if n := len(through(t.Context())); n != 1 {
			t.Errorf("%d calls came in, want 1: under overload there is time for no more", n)
		}
		close(release)
		synctest.Wait()
		ctx, err := gate.Door(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := inside(ctx, gate, large(), func(context.Context) {}); err != nil {
			t.Error(err)
		}
	})
}

func TestSmallCallsHaveManyPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := admission.NewGate(admission.Limits{Working: 2})
		release := make(chan struct{})
		for range 17 {
			go func() { _ = inside(t.Context(), gate, request(1), func(context.Context) { <-release }) }()
		}
		synctest.Wait()
		if working, waiting := gate.Places(); working != 16 || waiting != 1 {
			t.Errorf("%d calls have places and %d wait, want 16 and 1", working, waiting)
		}
		close(release)
	})
}
