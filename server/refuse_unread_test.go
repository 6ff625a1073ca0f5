package server

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/server/interceptors/admission"
)

// TestUnderOverloadLargeCallsAloneAreRefusedUnread brings a server with one place to
// overload and asks before a call is read.
func TestUnderOverloadLargeCallsAloneAreRefusedUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{lasting: &lasting{gate: admission.NewGate(admission.Limits{Working: 1})}}
		large := strings.Repeat("x", admission.SmallCall+1)
		release := make(chan struct{})
		for range 2 {
			go func() {
				_, _ = s.gate.Unary(t.Context(), &elbowroomv1.CountTokensRequest{Text: &large}, nil, func(context.Context, any) (any, error) {
					<-release
					return "done", nil
				})
			}()
		}
		ask := func(method string) codes.Code {
			ctx, err := s.refuseUnread(t.Context(), method)
			if ctx == nil {
				t.Errorf("%s: no context", method)
			}
			return status.Code(err)
		}
		<-time.After(900 * time.Millisecond)
		// That sees overload, sends away who has waited for so long, and lets one be read.
		if code := ask(elbowroomv1.ContextService_Compress_FullMethodName); code != codes.OK {
			t.Errorf("the first under overload: %v", code)
		}
		for method, want := range map[string]codes.Code{
			elbowroomv1.ContextService_Compress_FullMethodName:          codes.ResourceExhausted,
			elbowroomv1.ContextService_StreamCompress_FullMethodName:    codes.ResourceExhausted,
			elbowroomv1.ContextService_Prepare_FullMethodName:           codes.ResourceExhausted,
			elbowroomv1.ContextService_ApplyCacheControl_FullMethodName: codes.ResourceExhausted,
			elbowroomv1.ContextService_SimulateCache_FullMethodName:     codes.ResourceExhausted,
			elbowroomv1.ContextService_CountTokens_FullMethodName:       codes.OK,
			elbowroomv1.ContextService_ListModels_FullMethodName:        codes.OK,
			healthv1.Health_Check_FullMethodName:                        codes.OK,
		} {
			if got := ask(method); got != want {
				t.Errorf("%s: %v, want %v", method, got, want)
			}
		}
		close(release)
	})
}
