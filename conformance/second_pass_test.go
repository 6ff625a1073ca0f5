package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/compressor"
)

// TestASecondPassChangesNothingWhateverTheSize moves the size of a conversation
// through the places where the tail's budget is just met or just missed. What the
// first pass saves on kept messages, by pointers to later copies or by leaving
// thinking out, must not bring the second pass to another cut.
func TestASecondPassChangesNothingWhateverTheSize(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct {
		name    string
		dialect Dialect
		model   string
		build   func(n int) string
	}{
		{"a result that comes twice", OpenAI, "gpt-4o", withDuplicate},
		{"thinking on a bound model", Anthropic, "claude-opus-5-5", withThinking},
	} {
		t.Run(test.name, func(t *testing.T) {
			for n := 100; n <= 700; n += 5 {
				text := test.build(n)
				req := compressor.Request{Force: true, ContextWindow: 16_000, Model: b.registry.Lookup(test.model)}
				req.Policy.ProtectLastN, req.Policy.SummaryMinTokens = new(2), new(100)
				first, result, err := b.run(test.dialect, text, req)
				if err != nil {
					t.Fatal(err)
				}
				second, again, err := b.run(test.dialect, first, req)
				if err != nil {
					t.Fatal(err)
				}
				if first != second {
					t.Fatalf("size %d: rung %v with %d tokens, then %v rung %v with %d tokens (%s)",
						n, result.Report.Rung, result.Report.TokensAfter, again.Outcome, again.Report.Rung, again.Report.TokensAfter, again.Report.Reason)
				}
			}
		})
	}
}

// lines is text of about n tokens.
func lines(n int) string {
	var sb strings.Builder
	for i := range n / 8 {
		fmt.Fprintf(&sb, "%d: the log line says so. ", i)
	}
	return sb.String()
}

// withDuplicate has an old result to prune in the head, and the same result twice
// in the tail.
func withDuplicate(n int) string {
	call := func(id, result string) string {
		return fmt.Sprintf(`,{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":%q,"content":%q}`, id, id, result)
	}
	list := `[{"role":"user","content":"begin"}` + call("c0", lines(900)) + call("c1", lines(700)) + call("c2", lines(700))
	return list + `,{"role":"user","content":"` + lines(n) + `"},{"role":"assistant","content":"done"},{"role":"user","content":"go on"},{"role":"assistant","content":"done"},{"role":"user","content":"go on"}]`
}

// withThinking has an old result to prune in the head, and thinking in the tail.
func withThinking(n int) string {
	call := func(id, thinking, result string) string {
		return fmt.Sprintf(`,{"role":"assistant","content":[%s{"type":"tool_use","id":%q,"name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, thinking, id, id, result)
	}
	const plan = `{"type":"thinking","thinking":"plan","signature":"c2ln"},`
	list := `[{"role":"user","content":"begin"}` + call("c0", "", lines(900))
	for i := range 10 {
		list += call(fmt.Sprintf("c%d", i+1), plan, lines(60+n/10))
	}
	return list + `,{"role":"assistant","content":[{"type":"text","text":"done"}]},{"role":"user","content":"go on"}]`
}
