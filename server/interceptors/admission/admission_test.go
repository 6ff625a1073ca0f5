package admission_test

import (
	"context"
	"strings"
	"testing"

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
