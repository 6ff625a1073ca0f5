package server

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/server/interceptors/admission"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
	"github.com/elbowroom/elbowroom/server/interceptors/quota"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
)

func chainServer(t *testing.T, log slog.Handler) (*Server, []link) {
	t.Helper()
	keeper, err := quota.New(quota.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{lasting: &lasting{log: slog.New(log), quota: keeper, gate: admission.NewGate(admission.Limits{Bytes: 1_000}), auth: &auth.Gate{}}}
	links, err := s.links()
	if err != nil {
		t.Fatal(err)
	}
	return s, links
}

func TestTheInterceptorsStandInTheirOrder(t *testing.T) {
	_, links := chainServer(t, slog.DiscardHandler)
	var names []string
	for _, l := range links {
		names = append(names, l.name)
	}
	if diff := cmp.Diff([]string{"logging", "recovery", "auth", "quota", "admission", "validation", "bodies", "reply"}, names); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// records keeps the codes of the calls that were logged.
type records struct {
	slog.Handler
	codes *[]string
}

func (r records) Handle(_ context.Context, rec slog.Record) error {
	rec.Attrs(func(a slog.Attr) bool {
		if a.Key == "grpc.code" {
			*r.codes = append(*r.codes, a.Value.String())
		}
		return true
	})
	return nil
}

// What the order is for: each refusal happens before what stands further in, and
// the log sees all of them.
func TestTheOrderDecidesWhoRefuses(t *testing.T) {
	var logged []string
	s, links := chainServer(t, records{slog.NewJSONHandler(nil, nil), &logged})
	run := func(method string, req any, handler grpc.UnaryHandler) error {
		info := &grpc.UnaryServerInfo{FullMethod: method}
		next := handler
		for i := len(links) - 1; i >= 0; i-- {
			inner, l := next, links[i]
			next = func(ctx context.Context, req any) (any, error) { return l.unary(ctx, req, info, inner) }
		}
		_, err := next(t.Context(), req)
		return err
	}
	fine := func(context.Context, any) (any, error) { return nil, nil }
	ours := elbowroomv1.ContextService_Compress_FullMethodName
	large := &elbowroomv1.CompressRequest{PreviousSummary: string(make([]byte, 2_000)), ContextWindow: -1}
	for _, c := range []struct {
		name    string
		method  string
		req     any
		handler grpc.UnaryHandler
		want    codes.Code
		logged  []string
	}{
		{"a request both too large and invalid is too large", ours, large, fine, codes.ResourceExhausted, []string{"ResourceExhausted"}},
		{"an invalid request does not reach the handler", ours, &elbowroomv1.CompressRequest{ContextWindow: -1}, func(context.Context, any) (any, error) {
			t.Error("the handler was called")
			return nil, nil
		}, codes.InvalidArgument, []string{"InvalidArgument"}},
		{"a panic is logged as INTERNAL", ours, &elbowroomv1.ListModelsRequest{}, func(context.Context, any) (any, error) { panic("boom") }, codes.Internal, []string{"Internal"}},
		{"other services are neither refused nor logged", "/grpc.health.v1.Health/Check", large, fine, codes.OK, nil},
		{"panics of other services are caught", "/grpc.health.v1.Health/Check", large, func(context.Context, any) (any, error) { panic("boom") }, codes.Internal, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			logged = nil
			if err := run(c.method, c.req, c.handler); status.Code(err) != c.want {
				t.Errorf("%v, want %v", err, c.want)
			}
			if diff := cmp.Diff(c.logged, logged); diff != "" {
				t.Errorf("logged codes (-want +got):\n%s", diff)
			}
		})
	}
	s.gate.Drain()
	if err := run(ours, &elbowroomv1.CompressRequest{ContextWindow: -1}, fine); status.Code(err) != codes.Unavailable {
		t.Errorf("while draining: %v, want UNAVAILABLE", err)
	}
}

// The engine's enumerations are cast to the API's, so their numbers must agree.
func TestTheEnginesNumbersAreTheAPIs(t *testing.T) {
	for _, c := range []struct {
		api  interface{ String() string }
		name string
	}{
		{elbowroomv1.Outcome(compressor.OutcomeCompressed), "OUTCOME_COMPRESSED"},
		{elbowroomv1.Outcome(compressor.OutcomeBelowThreshold), "OUTCOME_BELOW_THRESHOLD"},
		{elbowroomv1.Outcome(compressor.OutcomeTooShort), "OUTCOME_TOO_SHORT"},
		{elbowroomv1.Outcome(compressor.OutcomeNoGain), "OUTCOME_NO_GAIN"},
		{elbowroomv1.Outcome(compressor.OutcomeTargetUnreachable), "OUTCOME_TARGET_UNREACHABLE"},
		{elbowroomv1.Outcome(compressor.OutcomeDeferred), "OUTCOME_DEFERRED"},
		{elbowroomv1.Outcome(compressor.OutcomeCoolingDown), "OUTCOME_COOLING_DOWN"},
		{elbowroomv1.Outcome(compressor.OutcomeDisabled), "OUTCOME_DISABLED"},
		{elbowroomv1.Outcome(compressor.OutcomePlanned), "OUTCOME_PLANNED"},
		{elbowroomv1.RegionKind(compressor.RegionHead), "REGION_KIND_HEAD"},
		{elbowroomv1.RegionKind(compressor.RegionMiddle), "REGION_KIND_MIDDLE"},
		{elbowroomv1.RegionKind(compressor.RegionPinned), "REGION_KIND_PINNED"},
		{elbowroomv1.RegionKind(compressor.RegionTail), "REGION_KIND_TAIL"},
		{elbowroomv1.RegionKind(compressor.RegionSummary), "REGION_KIND_SUMMARY"},
		{elbowroomv1.PruneKind(compressor.PruneDuplicate), "PRUNE_KIND_DUPLICATE"},
		{elbowroomv1.PruneKind(compressor.PruneStub), "PRUNE_KIND_STUB"},
		{elbowroomv1.PruneKind(compressor.PruneArguments), "PRUNE_KIND_ARGUMENTS"},
		{elbowroomv1.RepairKind(compressor.RepairMissingResult), "REPAIR_KIND_MISSING_RESULT"},
		{elbowroomv1.RepairKind(compressor.RepairOrphanResult), "REPAIR_KIND_ORPHAN_RESULT"},
		{elbowroomv1.RepairKind(compressor.RepairDuplicateResult), "REPAIR_KIND_DUPLICATE_RESULT"},
		{elbowroomv1.RepairKind(compressor.RepairLeadingAssistant), "REPAIR_KIND_LEADING_ASSISTANT"},
		{elbowroomv1.RepairKind(compressor.RepairBlankText), "REPAIR_KIND_BLANK_TEXT"},
		{elbowroomv1.RepairKind(compressor.RepairEmptyMessage), "REPAIR_KIND_EMPTY_MESSAGE"},
		{elbowroomv1.Rung(compressor.RungNone), "RUNG_UNSPECIFIED"},
		{elbowroomv1.Rung(compressor.RungLLM), "RUNG_LLM"},
		{elbowroomv1.Rung(compressor.RungExtractive), "RUNG_EXTRACTIVE"},
		{elbowroomv1.Rung(compressor.RungPruneOnly), "RUNG_PRUNE_ONLY"},
		{elbowroomv1.FactFate(fidelity.Repaired), "FACT_FATE_REPAIRED"},
		{elbowroomv1.FactFate(fidelity.Lost), "FACT_FATE_LOST"},
		{elbowroomv1.FactFate(fidelity.Invented), "FACT_FATE_INVENTED"},
	} {
		if c.api.String() != c.name {
			t.Errorf("%s is %s in the API", c.name, c.api)
		}
	}
}
