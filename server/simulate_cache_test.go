package server_test

import (
	"fmt"
	"math"
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
		{"a day that no month has", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{good()}, PriceDate: "2026-02-30"}, "price_date"},
		{"a price without bounds", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{good()}, Price: &elbowroomv1.CachePrice{Input: 5, Read: 1e300}}, "price.read"},
		{"a price next to nothing", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{good()}, Price: &elbowroomv1.CachePrice{Input: 1e-300}}, "price.input"},
		{"a gap of millennia", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{good(), {Conversation: dated("x", 1), StartMs: 1<<53 - 1}}}, "requests[1].start_ms"},
		{"an answer that ends before it begins", &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{{Conversation: dated("x", 1), FirstTokenMs: 10, DurationMs: 9}}}, "requests[0].duration_ms"},
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

// Only the time between requests counts, from whatever moment it is measured.
func TestSimulateCacheCountsFromAnyMoment(t *testing.T) {
	f := start(t, nil)
	for _, first := range []int64{0, 1_793_000_000_000, 1<<53 - 1 - 400_000} {
		resp, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{
			{Conversation: dated("2026-11-29", 1), StartMs: first},
			{Conversation: dated("2026-11-29", 1), StartMs: first + 60_000},
			{Conversation: dated("2026-11-29", 1), StartMs: first + 400_000},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if two, three := resp.GetTurns()[1].GetSplit(), resp.GetTurns()[2].GetSplit(); two.GetReadTokens() == 0 || three.GetReadTokens() != 0 {
			t.Errorf("from %d ms: a minute later %v, after more than five %v", first, two, three)
		}
	}
}

// converse is a Converse body of some turns, with cache points after the newest message and after the one before the last
// answer.
func converse(turns int) *elbowroomv1.Conversation {
	const point = `,{"cachePoint":{"type":"default"}}`
	var sb strings.Builder
	for i := range turns {
		if i > 0 {
			fmt.Fprintf(&sb, `,{"role":"assistant","content":[{"text":"I look."},{"toolUse":{"toolUseId":"c%d","name":"look","input":{"at":%d}}}]},`, i, i)
			fmt.Fprintf(&sb, `{"role":"user","content":[{"toolResult":{"toolUseId":"c%d","content":[{"text":"%s"}]}}%s]}`, i, strings.ReplaceAll(prose(i, 900), "\n", " "), only(i >= turns-2, point))
			continue
		}
		fmt.Fprintf(&sb, `{"role":"user","content":[{"text":"%s"}%s]}`, strings.ReplaceAll(prose(0, 1900), "\n", " "), only(turns <= 2, point))
	}
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: elbowroomv1.Format_FORMAT_BEDROCK_CONVERSE,
		Body:   &elbowroomv1.NativeRequest_Json{Json: `{"modelId":"anthropic.claude-sonnet-4-6","system":[{"text":"Be brief."}],"toolConfig":{"tools":[{"toolSpec":{"name":"look","inputSchema":{"json":{"type":"object"}}}}]},"messages":[` + sb.String() + `]}`},
	}}
}

func only(when bool, text string) string {
	if when {
		return text
	}
	return ""
}

func simulate(t *testing.T, f *fixture, in *elbowroomv1.SimulateCacheRequest) *elbowroomv1.SimulateCacheResponse {
	t.Helper()
	out, err := f.client.SimulateCache(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for i, turn := range out.GetTurns() {
		s := turn.GetSplit()
		if s.GetPromptTokens() == 0 || s.GetReadTokens()+s.GetWrite_5MTokens()+s.GetWrite_1HTokens()+s.GetWriteTokens()+s.GetUncachedTokens() != s.GetPromptTokens() {
			t.Errorf("turn %d: %v does not add up", i, s)
		}
	}
	return out
}

func TestSimulateCacheOfConverseBodies(t *testing.T) {
	f := start(t, nil)
	turns := func(bodies ...*elbowroomv1.Conversation) *elbowroomv1.SimulateCacheRequest {
		in := &elbowroomv1.SimulateCacheRequest{}
		for i, b := range bodies {
			in.Requests = append(in.Requests, &elbowroomv1.SimulatedRequest{Conversation: b, StartMs: int64(i) * 60_000})
		}
		return in
	}
	edited := func(c *elbowroomv1.Conversation, old, text string) *elbowroomv1.Conversation {
		body := c.GetNative().GetJson()
		if !strings.Contains(body, old) {
			t.Fatalf("no %s in the body", old)
		}
		c.Native.Body = &elbowroomv1.NativeRequest_Json{Json: strings.Replace(body, old, text, 1)}
		return c
	}

	t.Run("what a request wrote the next one reads", func(t *testing.T) {
		out := simulate(t, f, turns(converse(1), converse(2), inBytes(converse(3))))
		written := int64(0)
		for i, turn := range out.GetTurns() {
			if turn.GetLayout() != elbowroomv1.Layout_LAYOUT_BEDROCK || turn.GetPrice().GetInput() != 3 || turn.GetRejection() != "" {
				t.Errorf("turn %d: layout %v, price %v, rejection %q", i, turn.GetLayout(), turn.GetPrice(), turn.GetRejection())
			}
			if s := turn.GetSplit(); s.GetReadTokens() != written || s.GetUncachedTokens() != 0 {
				t.Errorf("turn %d: %v, %d tokens were written before", i, s, written)
			}
			written += turn.GetSplit().GetWrite_5MTokens()
			for _, b := range turn.GetBreakpoints() {
				if b.GetInert() || b.GetSection() != elbowroomv1.Section_SECTION_MESSAGES {
					t.Errorf("turn %d: breakpoint %v", i, b)
				}
			}
		}
		if n := len(out.GetTurns()[2].GetBreakpoints()); n != 2 {
			t.Errorf("the third request has %d breakpoints, want 2", n)
		}
	})
	t.Run("an hour", func(t *testing.T) {
		c := converse(1)
		body := strings.ReplaceAll(c.GetNative().GetJson(), `"type":"default"`, `"type":"default","ttl":"1h"`)
		c.Native.Body = &elbowroomv1.NativeRequest_Json{Json: body}
		if s := simulate(t, f, turns(c)).GetTurns()[0].GetSplit(); s.GetWrite_1HTokens() != s.GetPromptTokens() {
			t.Errorf("%v", s)
		}
	})
	t.Run("the minimum is Bedrock's", func(t *testing.T) {
		in := turns(converse(1))
		in.Model = "us.anthropic.claude-opus-4-6-v1"
		turn := simulate(t, f, in).GetTurns()[0]
		if !turn.GetBreakpoints()[0].GetInert() || turn.GetSplit().GetUncachedTokens() != turn.GetSplit().GetPromptTokens() {
			t.Errorf("4,096 tokens are the least: %v", turn)
		}
	})
	for _, tt := range []struct {
		name   string
		second *elbowroomv1.Conversation
		code   string
		class  string
		path   string
	}{
		{"another tool", edited(converse(2), `"type":"object"`, `"type":"object","additionalProperties":false`), "tools_changed/definition", "", "tools[0]"},
		{"another system prompt", edited(converse(2), "Be brief.", "Be verbose."), "system_changed/text", "", "system[0]"},
		{"an edited message", edited(converse(2), "server", "client"), "messages_changed/edit", "", "messages[0].content[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := simulate(t, f, turns(converse(1), tt.second)).GetTurns()[1]
			if turn.GetSplit().GetReadTokens() != 0 || len(turn.GetFindings()) == 0 {
				t.Fatalf("%v", turn)
			}
			got := turn.GetFindings()[0]
			if got.GetCode() != tt.code || got.GetPath() != tt.path || got.GetEvidence() != elbowroomv1.FindingEvidence_FINDING_EVIDENCE_BYTES || got.GetTokensLost() == 0 {
				t.Errorf("finding %v", got)
			}
		})
	}
	t.Run("blocks count one by one", func(t *testing.T) {
		var calls, results []string
		for i := range 12 {
			calls = append(calls, fmt.Sprintf(`{"toolUse":{"toolUseId":"p%d","name":"look","input":{}}}`, i))
			results = append(results, fmt.Sprintf(`{"toolResult":{"toolUseId":"p%d","content":[{"text":"%d"}]}}`, i, i))
		}
		next := edited(converse(1), `,{"cachePoint":{"type":"default"}}]}]`, `]},{"role":"assistant","content":[`+strings.Join(calls, ",")+`]},{"role":"user","content":[`+strings.Join(results, ",")+`,{"cachePoint":{"type":"default"}}]}]`)
		in := turns(converse(1), next)
		turn := simulate(t, f, in).GetTurns()[1]
		if turn.GetSplit().GetReadTokens() != 0 || turn.GetFindings()[0].GetCode() != "lookback_overflow" {
			t.Errorf("%v", turn)
		}
		in.Counting = elbowroomv1.PositionCounting_POSITION_COUNTING_COLLAPSED
		if turn := simulate(t, f, in).GetTurns()[1]; turn.GetSplit().GetReadTokens() == 0 {
			t.Errorf("collapsed: %v", turn)
		}
	})
	t.Run("refused", func(t *testing.T) {
		const point = `{"cachePoint":{"type":"default"}}`
		five := edited(converse(1), `{"text":"Be brief."}`, `{"text":"a"},`+point+`,{"text":"b"},`+point+`,{"text":"c"},`+point+`,{"text":"d"},`+point)
		order := edited(converse(1), `{"text":"Be brief."}`, `{"text":"a"},`+point)
		order = edited(order, `},{"cachePoint":{"type":"default"}}]}]`, `},{"cachePoint":{"type":"default","ttl":"1h"}}]}]`)
		for want, c := range map[string]*elbowroomv1.Conversation{"A maximum of 4 blocks": five, "a ttl='1h' cache_control block": order} {
			if got := simulateRefused(t, f, c); !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	})
}

// simulateRefused is why a request is refused.
func simulateRefused(t *testing.T, f *fixture, c *elbowroomv1.Conversation) string {
	t.Helper()
	out, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{{Conversation: c}}})
	if err != nil {
		t.Fatal(err)
	}
	return out.GetTurns()[0].GetRejection()
}

// gpt is a chat of some turns; every user text has about 900 tokens. mark stands in its newest user text, more among the
// body's own members.
func gpt(model string, turns int, mark, more string) *elbowroomv1.Conversation {
	var sb strings.Builder
	for i := range turns {
		if i > 0 {
			fmt.Fprintf(&sb, `,{"role":"assistant","content":"answer %d"},`, i)
		}
		fmt.Fprintf(&sb, `{"role":"user","content":[{"type":"text","text":"%s"%s}]}`, strings.ReplaceAll(prose(i, 900), "\n", " "), only(i == turns-1, mark))
	}
	return openai(`{"model":"` + model + `"` + more + `,"messages":[{"role":"system","content":"` + strings.ReplaceAll(prose(50, 1200), "\n", " ") + `"},` + sb.String() + `]}`)
}

func TestSimulateCacheOfOpenAIBreakpoints(t *testing.T) {
	f := start(t, nil)
	const mark = `,"prompt_cache_breakpoint":{"mode":"explicit"}`
	minute := func(second *elbowroomv1.Conversation) *elbowroomv1.SimulateCacheRequest {
		return &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{
			{Conversation: gpt("gpt-5.6", 1, mark, "")}, {Conversation: second, StartMs: 60_000},
		}}
	}
	out := simulate(t, f, minute(gpt("gpt-5.6", 2, mark, "")))
	one, two := out.GetTurns()[0], out.GetTurns()[1]
	if one.GetLayout() != elbowroomv1.Layout_LAYOUT_OPENAI || !one.GetPrice().GetRelative() || one.GetPrice().GetWrite() != 1.25 {
		t.Errorf("layout %v, price %v", one.GetLayout(), one.GetPrice())
	}
	if one.GetSplit().GetWriteTokens() != one.GetSplit().GetPromptTokens() || two.GetSplit().GetReadTokens() != one.GetSplit().GetWriteTokens() || two.GetSplit().GetWriteTokens() == 0 {
		t.Errorf("%v, then %v", one.GetSplit(), two.GetSplit())
	}
	for _, b := range one.GetBreakpoints() {
		if b.GetTtl() != elbowroomv1.CacheTtl_CACHE_TTL_30M {
			t.Errorf("breakpoint %v", b)
		}
	}
	if got := out.GetCost(); got.GetUsd() != 0 || got.GetBaseTokens() >= out.GetNoCacheCost().GetBaseTokens()*1.25 {
		t.Errorf("cost %v of %v", got, out.GetNoCacheCost())
	}

	// Every parameter is part of the key.
	changed := simulate(t, f, minute(gpt("gpt-5.6", 2, mark, `,"reasoning_effort":"high"`))).GetTurns()[1]
	if changed.GetSplit().GetReadTokens() != 0 || len(changed.GetFindings()) == 0 || changed.GetFindings()[0].GetCode() != "params_changed" || !strings.Contains(changed.GetFindings()[0].GetClass(), "effort") {
		t.Errorf("another effort: %v", changed)
	}
	// Thirty minutes from the last use.
	late := minute(gpt("gpt-5.6", 2, mark, ""))
	late.Requests[1].StartMs = 31 * 60_000
	if turn := simulate(t, f, late).GetTurns()[1]; turn.GetSplit().GetReadTokens() != 0 || turn.GetFindings()[0].GetCode() != "ttl_expired" {
		t.Errorf("after 31 minutes: %v", turn)
	}
	// Only what is marked is written when the implicit breakpoint is off, and nothing without a mark.
	off := `,"prompt_cache_options":{"mode":"explicit"}`
	none := simulate(t, f, &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{{Conversation: gpt("gpt-5.6", 1, "", off)}}})
	if s := none.GetTotal(); s.GetUncachedTokens() != s.GetPromptTokens() {
		t.Errorf("no breakpoint at all: %v", s)
	}
	// An Anthropic mark says nothing to OpenAI.
	foreign := simulate(t, f, &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{{Conversation: gpt("gpt-5.6", 1, `,"cache_control":{"type":"ephemeral"}`, off)}}})
	if s := foreign.GetTotal(); s.GetUncachedTokens() != s.GetPromptTokens() || foreign.GetTurns()[0].GetRejection() != "" {
		t.Errorf("a mark of another provider: %v", foreign.GetTurns()[0])
	}
}

func TestSimulateCacheOfOpenAIWithoutBreakpoints(t *testing.T) {
	f := start(t, nil)
	out := simulate(t, f, &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{
		{Conversation: gpt("gpt-4.1", 1, "", "")},
		{Conversation: gpt("gpt-4.1", 2, "", ""), StartMs: 60_000},
	}})
	one, two := out.GetTurns()[0], out.GetTurns()[1]
	if one.GetLayout() != elbowroomv1.Layout_LAYOUT_OPENAI_IMPLICIT || len(one.GetBreakpoints()) != 0 || one.GetSplit().GetUncachedTokens() != one.GetSplit().GetPromptTokens() {
		t.Errorf("the first request: %v", one)
	}
	read := two.GetSplit().GetReadTokens()
	if read%128 != 0 || read > one.GetSplit().GetPromptTokens() || read <= one.GetSplit().GetPromptTokens()-128 || two.GetSplit().GetWriteTokens() != 0 {
		t.Errorf("the second request reads %d of %d: %v", read, one.GetSplit().GetPromptTokens(), two.GetSplit())
	}
	// The route can be named where the model does not say it.
	named := simulate(t, f, &elbowroomv1.SimulateCacheRequest{
		Layout: elbowroomv1.Layout_LAYOUT_OPENAI_IMPLICIT,
		Requests: []*elbowroomv1.SimulatedRequest{
			{Conversation: gpt("an-alias", 1, "", "")}, {Conversation: gpt("an-alias", 2, "", ""), StartMs: 1_000},
		},
	})
	if got := named.GetTurns()[1]; got.GetLayout() != elbowroomv1.Layout_LAYOUT_OPENAI_IMPLICIT || got.GetSplit().GetReadTokens() == 0 {
		t.Errorf("an unknown model on a named route: %v", got)
	}
}

// What ApplyCacheControl marks is simulated by the rules it was marked for, whatever the model is called.
func TestSimulateCacheGuessesTheLayoutThatMarksAreSetFor(t *testing.T) {
	f := start(t, nil)
	text := strings.ReplaceAll(prose(1, 9000), "\n", " ")
	messages := `[{"role":"user","content":"` + text + `"}]`
	typed := &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{
		Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{Kind: &elbowroomv1.Block_Text{Text: text}}},
	}}}
	for _, c := range []struct {
		name, model string
		in          *elbowroomv1.Conversation
	}{
		{"no model", "", anthropic(messages)},
		{"a name of the caller's own", "our-deployment", anthropic(messages)},
		{"a model of another vendor", "qwen3-coder", anthropic(messages)},
		{"a vendor with a wire of its own", "minimax-m2.5", anthropic(messages)},
		{"the typed form", "claude-sonnet-5-5", typed},
		{"OpenAI chat", "anthropic/claude-sonnet-5.5", openai(messages)},
	} {
		t.Run(c.name, func(t *testing.T) {
			marked, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: c.in, Model: c.model})
			if err != nil {
				t.Fatal(err)
			}
			one := &elbowroomv1.SimulatedRequest{Conversation: marked.GetConversation()}
			again := &elbowroomv1.SimulatedRequest{Conversation: marked.GetConversation(), StartMs: 60_000}
			resp, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{Model: c.model, Requests: []*elbowroomv1.SimulatedRequest{one, again}})
			if err != nil {
				t.Fatal(err)
			}
			second := resp.GetTurns()[1]
			if second.GetLayout() != marked.GetLayout() || marked.GetLayout() == elbowroomv1.Layout_LAYOUT_UNSPECIFIED {
				t.Errorf("marked for %v, simulated as %v", marked.GetLayout(), second.GetLayout())
			}
			if second.GetSplit().GetReadTokens() == 0 {
				t.Errorf("nothing is read again: %v", second.GetSplit())
			}
		})
	}
}

func TestAPriceOfTheInputAloneHasTheProvidersMultiples(t *testing.T) {
	f := start(t, nil)
	resp, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{
		Model: "claude-opus-5", Price: &elbowroomv1.CachePrice{Input: 3},
		Requests: []*elbowroomv1.SimulatedRequest{{Conversation: anthropic(`{"messages":[{"role":"user","content":"hi"}]}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := resp.GetTurns()[0].GetPrice(); math.Abs(p.GetRead()-0.3) > 1e-9 || math.Abs(p.GetWrite_5M()-3.75) > 1e-9 || math.Abs(p.GetWrite_1H()-6) > 1e-9 {
		t.Errorf("price %v", p)
	}
}
