package server

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/server/interceptors/admission"
)

// TestUnderOverloadLargeCallsAloneAreRefusedUnread lets more calls come to a server
// with one place than can wait, and asks before a call is read.
func TestUnderOverloadLargeCallsAloneAreRefusedUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{lasting: &lasting{gate: admission.NewGate(admission.Limits{Working: 1})}}
		large := strings.Repeat("x", admission.SmallCall+1)
		release := make(chan struct{})
		go func() {
			_, _ = s.gate.Unary(t.Context(), &elbowroomv1.CountTokensRequest{Text: &large}, nil, func(context.Context, any) (any, error) {
				<-release
				return "done", nil
			})
		}()
		synctest.Wait()
		ask := func(method string) codes.Code {
			ctx, err := s.refuseUnread(t.Context(), method)
			if ctx == nil {
				t.Errorf("%s: no context", method)
			}
			return status.Code(err)
		}
		for n := 0; ask(elbowroomv1.ContextService_Compress_FullMethodName) == codes.OK; n++ {
			if n == 1000 {
				t.Fatal("calls without end are let in to wait")
			}
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
