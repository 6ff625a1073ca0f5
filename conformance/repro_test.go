package conformance

import (
	"errors"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/compressor"
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
