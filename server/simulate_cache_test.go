package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// dated is a body of two turns whose system prompt names a day.
func dated(day string, turns int) *elbowroomv1.Conversation {
	const mark = `"cache_control":{"type":"ephemeral"}`
	var sb strings.Builder
	for i := range turns {
		if i > 0 {
			fmt.Fprintf(&sb, `,{"role":"assistant","content":"answer %d"},`, i)
		}
		m := ""
		if i == turns-1 {
			m = "," + mark
		}
		fmt.Fprintf(&sb, `{"role":"user","content":[{"type":"text","text":"%s"%s}]}`, strings.ReplaceAll(prose(i, 900), "\n", " "), m)
	}
	return anthropic(`{"model":"claude-opus-5","system":[{"type":"text","text":"Today is ` + day + `.",` + mark + `}],"messages":[` + sb.String() + `]}`)
}

func TestSimulateCache(t *testing.T) {
	f := start(t, nil)
	resp, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{
		{Conversation: dated("2026-11-29", 1)},
		{Conversation: dated("2026-11-29", 2), StartMs: 60_000},
		{Conversation: dated("2026-11-30", 3), StartMs: 120_000},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, turn := range resp.GetTurns() {
		s := turn.GetSplit()
		if s.GetPromptTokens() == 0 || s.GetReadTokens()+s.GetWrite_5MTokens()+s.GetWrite_1HTokens()+s.GetUncachedTokens() != s.GetPromptTokens() {
			t.Errorf("turn %d: %v does not add up", i, s)
		}
		if turn.GetLayout() != elbowroomv1.Layout_LAYOUT_ANTHROPIC || turn.GetPrice().GetInput() != 5 || turn.GetPrice().GetRelative() {
			t.Errorf("turn %d: layout %v, price %v", i, turn.GetLayout(), turn.GetPrice())
		}
	}
	if one, two := resp.GetTurns()[0].GetSplit(), resp.GetTurns()[1].GetSplit(); two.GetReadTokens() != one.GetWrite_5MTokens() {
		t.Errorf("the second request reads %v of %v", two, one)
	}
	third := resp.GetTurns()[2]
	if third.GetSplit().GetReadTokens() != 0 || len(third.GetFindings()) == 0 {
		t.Fatalf("the third request: %v", third)
	}
	got := third.GetFindings()[0]
	body := dated("2026-11-30", 3).GetNative().GetJson()
	if got.GetCode() != "system_changed/volatile" || got.GetClass() != "date" || got.GetPath() != "system[0]" ||
		got.GetEvidence() != elbowroomv1.FindingEvidence_FINDING_EVIDENCE_BYTES || got.GetSeverity() != elbowroomv1.FindingSeverity_FINDING_SEVERITY_WARNING ||
		got.GetByteOffset() != int64(strings.Index(body, "30.")) || !strings.Contains(got.GetAfter(), "2026-11-30") ||
		got.GetTokensLost() == 0 || got.GetCost().GetUsd() == 0 || got.GetCostPerTurn().GetUsd() == 0 || got.GetFix() == "" {
		t.Errorf("finding %v", got)
	}
	if resp.GetCost().GetUsd() <= 0 || resp.GetNoCacheCost().GetUsd() <= 0 || resp.Agreement != nil || resp.GetEstimated() {
		t.Errorf("totals %v", resp)
	}
}

func TestSimulateCacheOptions(t *testing.T) {
	f := start(t, nil)
	two := []*elbowroomv1.SimulatedRequest{
		{Conversation: dated("2026-11-29", 1), Billed: &elbowroomv1.BilledUsage{Write_5MTokens: 5_000}},
		{Conversation: inBytes(dated("2026-11-30", 1)), StartMs: 60_000, Billed: &elbowroomv1.BilledUsage{ReadTokens: 1_000, Write_5MTokens: 4_000}},
	}
	resp, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{
		Requests: two, Layout: elbowroomv1.Layout_LAYOUT_BEDROCK_INVOKE, EstimateOnly: true, OmitExcerpts: true, Model: "claude-sonnet-5-5",
		PriceDate: "2026-10-01", Counting: elbowroomv1.PositionCounting_POSITION_COUNTING_RAW,
	})
	if err != nil {
		t.Fatal(err)
	}
	last := resp.GetTurns()[1]
	if !resp.GetEstimated() || resp.Agreement == nil || resp.GetAgreement() != 0 || last.GetPrice().GetRead() != 0.2 ||
		last.GetLayout() != elbowroomv1.Layout_LAYOUT_BEDROCK_INVOKE || last.GetSplit().GetPromptTokens() != 5_000 {
		t.Errorf("%v", resp)
	}
	for _, finding := range last.GetFindings() {
		if finding.GetBefore()+finding.GetAfter() != "" {
			t.Errorf("an excerpt in spite of omit_excerpts: %v", finding)
		}
	}
	own, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{
		Requests: two[:1], Price: &elbowroomv1.CachePrice{Input: 100, Write_5M: 200},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := own.GetCost(); got.GetUsd() != 1 || got.GetBaseTokens() != 10_000 {
		t.Errorf("at the request's own price: %v", got)
	}
	refused, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{
		{Conversation: anthropic(`{"model":"claude-opus-5","messages":[{"role":"user","content":[{"type":"text","text":"","cache_control":{"type":"ephemeral"}}]}]}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := refused.GetTurns()[0]; !strings.Contains(got.GetRejection(), "empty text blocks") || got.GetFindings()[0].GetSeverity() != elbowroomv1.FindingSeverity_FINDING_SEVERITY_ERROR {
		t.Errorf("a request that the provider refuses: %v", got)
	}
	typed, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{
		{Conversation: &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{
			{Kind: &elbowroomv1.Block_Text{Text: prose(1, 900)}, CacheControl: &elbowroomv1.CacheControl{Ttl: elbowroomv1.CacheTtl_CACHE_TTL_1H}},
		}}}}, Model: "claude-opus-5"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := typed.GetTotal(); got.GetWrite_1HTokens() == 0 || got.GetWrite_1HTokens() != got.GetPromptTokens() {
		t.Errorf("typed form: %v", got)
	}
}

func TestSimulateCacheErrorsNameTheField(t *testing.T) {
	f := start(t, nil)
	good := func() *elbowroomv1.SimulatedRequest {
		return &elbowroomv1.SimulatedRequest{Conversation: dated("2026-11-29", 1), StartMs: 5}
	}
	broken := &elbowroomv1.SimulatedRequest{Conversation: anthropic(`{"messages":[{"role":"user"`), StartMs: 5}
	for _, c := range []struct {
		name  string
		in    *elbowroomv1.SimulateCacheRequest
		field string
	}{
		{"no requests", &elbowroomv1.SimulateCacheRequest{}, "requests"},
		{"no conversation", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{{}}}, "requests[0].conversation"},
		{"broken JSON", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{good(), broken}}, "requests[1].conversation.native.json"},
		{"out of order", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{good(), {Conversation: dated("x", 1), StartMs: 4}}}, "requests[1].start_ms"},
		{"a price of nothing", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{good()}, Price: &elbowroomv1.CachePrice{}}, "price.input"},
		{"a day that is none", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{good()}, PriceDate: "today"}, "price_date"},
		{"a negative bill", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{{Conversation: dated("x", 1), Billed: &elbowroomv1.BilledUsage{ReadTokens: -1}}}}, "requests[0].billed.read_tokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := f.client.SimulateCache(t.Context(), c.in)
			st := status.Convert(err)
			if st.Code() != codes.InvalidArgument {
				t.Fatalf("%v, want INVALID_ARGUMENT", err)
			}
			var fields []string
			for _, d := range st.Details() {
				if bad, ok := d.(*errdetails.BadRequest); ok {
					for _, v := range bad.GetFieldViolations() {
						fields = append(fields, v.GetField())
					}
				}
			}
			if diff := cmp.Diff([]string{c.field}, fields); diff != "" {
				t.Error(diff)
			}
		})
	}
}
