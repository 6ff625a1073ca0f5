package conformance

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// TestThePublishedFiguresForAWindowOf200000 reads them from the report of a
// compression that reached its threshold by itself.
func TestThePublishedFiguresForAWindowOf200000(t *testing.T) {
	w := dial(t)
	f := recorded(t, "cc-go-parallel-346")
	resp := w.compress(t, &pb.CompressRequest{
		Conversation: f.conv, Model: "claude-sonnet-4-5", ContextWindow: 200_000,
	})
	r := resp.GetReport()
	if resp.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED || r.GetThresholdTokens() != 100_000 || r.GetTailBudgetTokens() != 20_000 {
		t.Errorf("%v, threshold %d, tail %d; want 100000 and 20000", resp.GetOutcome(), r.GetThresholdTokens(), r.GetTailBudgetTokens())
	}
	if r.GetSummaryBudgetTokens() != 10_000 {
		t.Errorf("a summary budget of %d tokens for a middle of more than 50,000, want 10000", r.GetSummaryBudgetTokens())
	}
	if r.GetSummaryTokens() > 10_000+frame {
		t.Errorf("a summary of %d tokens", r.GetSummaryTokens())
	}
}

func TestThresholdsOfBothLayers(t *testing.T) {
	w := dial(t)
	for _, test := range []struct {
		window, output int32
		layer          pb.Layer
		want           int32
	}{
		{200_000, 0, pb.Layer_LAYER_AGENT, 100_000},
		{200_000, 0, pb.Layer_LAYER_GATEWAY, 170_000},
		{200_000, 65_536, pb.Layer_LAYER_AGENT, 67_232},
		{128_000, 0, pb.Layer_LAYER_AGENT, 64_000},
		{511_999, 0, pb.Layer_LAYER_AGENT, 255_999},
		{64_000, 70_000, pb.Layer_LAYER_AGENT, 32_000}, // a reservation that leaves no window is ignored
	} {
		resp := w.compress(t, &pb.CompressRequest{
			Conversation: native(pb.Format_FORMAT_OPENAI_CHAT, user("hi")), Model: "gpt-4o",
			ContextWindow: test.window, MaxOutputTokens: test.output, Layer: test.layer,
		})
		if got := resp.GetReport().GetThresholdTokens(); got != test.want || resp.GetOutcome() != pb.Outcome_OUTCOME_BELOW_THRESHOLD {
			t.Errorf("%+v: threshold %d, %v", test, got, resp.GetOutcome())
		}
	}
}

func TestTheThresholdIsInclusiveAndJudgedOnReportedUsage(t *testing.T) {
	w := dial(t)
	for _, test := range []struct {
		usage int32
		want  pb.Outcome
	}{
		{99_999, pb.Outcome_OUTCOME_BELOW_THRESHOLD},
		{100_000, pb.Outcome_OUTCOME_COMPRESSED},
	} {
		f := recorded(t, "deer-research-74")
		resp := w.compress(t, &pb.CompressRequest{
			Conversation: f.conv, Model: "gpt-4o", ContextWindow: 200_000,
			LastUsage: &pb.Usage{PromptTokens: test.usage, MessageCount: 74},
		})
		if resp.GetOutcome() != test.want || resp.GetReport().GetJudgedTokens() != test.usage || resp.GetReport().GetJudgedBy() != "usage" {
			t.Errorf("%d tokens reported: %v, judged %d by %s", test.usage, resp.GetOutcome(), resp.GetReport().GetJudgedTokens(), resp.GetReport().GetJudgedBy())
		}
	}
}

// TestFortyFiveMessagesBecomeAboutTwentyFive is the published example: 45 messages
// of about 95,000 tokens, most of them in tool results, at a window of 128,000.
func TestFortyFiveMessagesBecomeAboutTwentyFive(t *testing.T) {
	w := dial(t)
	conv := native(pb.Format_FORMAT_OPENAI_CHAT, fortyFive(t, w))
	in := read(t, OpenAI, conv, nil)
	resp := w.compress(t, &pb.CompressRequest{Conversation: conv, Model: "gpt-4o", ContextWindow: 128_000})
	r := resp.GetReport()
	out := read(t, OpenAI, resp.GetConversation(), in)
	c := Compression{Input: in, Output: out, Outcome: resp.GetOutcome(), Report: r, Summary: resp.GetSummary(), KeepThinking: true}
	report(t, c.Check())
	t.Logf("%d messages of %d tokens became %d of %d", in.Len(), r.GetTokensBefore(), out.Len(), r.GetTokensAfter())
	if in.Len() != 45 || r.GetTokensBefore() < 92_000 || r.GetTokensBefore() > 98_000 {
		t.Errorf("the example has %d messages and %d tokens", in.Len(), r.GetTokensBefore())
	}
	if r.GetThresholdTokens() != 64_000 || r.GetTailBudgetTokens() != 12_800 {
		t.Errorf("threshold %d, tail %d; want 64000 and 12800", r.GetThresholdTokens(), r.GetTailBudgetTokens())
	}
	if out.Len() < 23 || out.Len() > 27 || r.GetTokensAfter() > 50_000 {
		t.Errorf("it became %d messages of %d tokens", out.Len(), r.GetTokensAfter())
	}
}

// fortyFive writes the example with real tool results: a system prompt, a first
// exchange, and 21 calls with their results.
func fortyFive(t *testing.T, w *wire) string {
	t.Helper()
	messages := recorded(t, "deer-research-74").in.messages
	var text strings.Builder
	for _, m := range messages {
		if m.role == "tool" && m.content.shape == shapeString {
			text.WriteString(m.content.blocks[0].text)
		}
	}
	source := []rune(text.String())
	write := func(chars int) string {
		var list strings.Builder
		list.WriteString(`{"model":"gpt-4o","messages":[{"role":"system","content":"You are a research assistant."},` +
			`{"role":"user","content":"Find out what is known about the topic and write a report."},` +
			`{"role":"assistant","content":"I will search for it."}`)
		for i := range 21 {
			from := i * 2_000 % (len(source) - chars)
			fmt.Fprintf(&list, `,{"role":"assistant","content":"","tool_calls":[{"id":"c%d","type":"function","function":{"name":"web_search","arguments":"{\"query\":\"step %d\"}"}}]}`, i, i)
			fmt.Fprintf(&list, `,{"role":"tool","tool_call_id":"c%d","content":%s}`, i, quote(fmt.Sprint(i)+": "+string(source[from:from+chars])))
		}
		return list.String() + `]}`
	}
	chars := 8_000
	for range 3 { // the tokens do not grow evenly with the characters
		n := w.count(t, &pb.CountTokensRequest{Conversation: native(pb.Format_FORMAT_OPENAI_CHAT, write(chars)), Model: "gpt-4o"}).GetTokens()
		chars = int(int64(chars) * 95_000 / int64(n))
	}
	return write(chars)
}

// TestTheSummaryFloorYieldsToTheTarget: 2,000 tokens are the least budget of a
// summary, unless the result has to be smaller than that.
func TestTheSummaryFloorYieldsToTheTarget(t *testing.T) {
	w := dial(t)
	f := recorded(t, "swe-ctf-web-text")
	ask := func(target int32) *pb.CompressionReport {
		return w.compress(t, &pb.CompressRequest{
			Conversation: f.conv, Model: "gpt-4o", ContextWindow: 16_000, Force: true,
			Policy: &pb.CompressionPolicy{TargetTokens: proto.Int32(target), ProtectLastN: proto.Int32(3)},
		}).GetReport()
	}
	if free := ask(0); free.GetSummaryBudgetTokens() < 2_000 {
		t.Errorf("without a target the budget is %d", free.GetSummaryBudgetTokens())
	}
	tight := ask(4_000)
	if tight.GetSummaryBudgetTokens() >= 2_000 || tight.GetTokensAfter() > 4_000 {
		t.Errorf("with a target of 4000: budget %d, %d tokens (%s)", tight.GetSummaryBudgetTokens(), tight.GetTokensAfter(), tight.GetReason())
	}
}
