package conformance

import (
	"errors"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/compressor"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// TestACallInFlightStaysWhereverItStands: the last assistant message has a call
// without a result, and the user has written more than the tail holds since.
func TestACallInFlightStaysWhereverItStands(t *testing.T) {
	b := newBench(t)
	filler := strings.Repeat("the log line ", 60)
	for d, text := range map[Dialect]string{
		OpenAI: `[{"role":"user","content":"` + filler + `"},{"role":"assistant","content":"` + filler + `"},{"role":"user","content":"` + filler + `"},` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
			`{"role":"user","content":"stop ` + filler + `"},{"role":"user","content":"and go on"}]`,
		Anthropic: `[{"role":"user","content":"` + filler + `"},{"role":"assistant","content":"` + filler + `"},{"role":"user","content":"` + filler + `"},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},` +
			`{"role":"user","content":"stop ` + filler + `"},{"role":"user","content":"and go on"}]`,
	} {
		req := compressor.Request{Force: true, ContextWindow: 1_000}
		req.Policy.ProtectFirstN, req.Policy.ProtectLastN, req.Policy.SummaryMinTokens = new(0), new(1), new(50)
		out, result, err := b.run(d, text, req)
		if err != nil {
			t.Errorf("dialect %d: %v (broken: %v)", d, err, errors.Is(err, compressor.ErrBroken))
			continue
		}
		if result.Outcome.Changed() && !strings.Contains(out, `"c"`) {
			t.Errorf("dialect %d: the call is gone: %s", d, brief(out))
		}
		if !result.Outcome.Changed() {
			t.Errorf("dialect %d: %v (%s)", d, result.Outcome, result.Report.Reason)
		}
	}
}

// TestTheSummaryDoesNotEndTheTurnOfACallInFlight: an assistant message after the
// call would make it one that nobody answered.
func TestTheSummaryDoesNotEndTheTurnOfACallInFlight(t *testing.T) {
	b := newBench(t)
	filler := strings.Repeat("the log line ", 60)
	text := `[{"role":"user","content":"begin"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},` +
		strings.Repeat(`{"role":"user","content":"`+filler+`"},`, 4) + `{"role":"user","content":"go on"}]`
	for _, alternation := range []compressor.Alternation{compressor.AlternationRelaxed, compressor.AlternationStrict} {
		req := compressor.Request{Force: true, ContextWindow: 1_000}
		req.Policy.ProtectLastN, req.Policy.SummaryMinTokens, req.Policy.Alternation = new(1), new(50), &alternation
		out, result, err := b.run(Anthropic, text, req)
		if err != nil {
			t.Fatal(err)
		}
		in, after := mustRead(t, Anthropic, text), mustRead(t, Anthropic, out)
		c := Compression{
			Input: in, Output: after, Outcome: pb.Outcome(result.Outcome), Report: protoReport(&result.Report, result.Outcome),
			Summary: result.Summary, KeepThinking: true,
		}
		report(t, c.Check())
		if !result.Outcome.Changed() {
			t.Errorf("%v (%s)", result.Outcome, result.Report.Reason)
		}
	}
}

// TestAStandInResultIsNotShortened: it is already as short as it says what it is.
func TestAStandInResultIsNotShortened(t *testing.T) {
	b := newBench(t)
	filler := strings.Repeat("the log line ", 60)
	text := `[{"role":"user","content":"begin"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"` + filler + `"},` + strings.Repeat(`{"role":"user","content":"go on"},`, 10) + `{"role":"assistant","content":"done"},{"role":"user","content":"go on"}]`
	req := compressor.Request{Force: true, ContextWindow: 400}
	req.Policy.PruneOverChars, req.Policy.ProtectLastN = new(5), new(4)
	first, _, err := b.run(OpenAI, text, req)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first, `"tool_call_id":"b"`) {
		t.Fatalf("no stand-in result: %s", brief(first))
	}
	second, _, err := b.run(OpenAI, first, req)
	if err != nil || second != first {
		t.Errorf("the second pass changed its input (%v):\n%s\n%s", err, brief(first), brief(second))
	}
}
