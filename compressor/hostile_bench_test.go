package compressor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
)

// Conversations made to cost more than their size: tenfold input is to cost about
// tenfold (invariant 10).
func BenchmarkHostile(b *testing.B) {
	strict := Policy{Alternation: ptr(AlternationStrict), ProtectFirstN: ptr(1_000_000), ProtectLastN: ptr(5)}
	shapes := []struct {
		name   string
		policy Policy
		json   func(n int) string
	}{
		{"stacked summaries", small(1, 5), func(n int) string {
			one := conversation.Quote(frameSummary("## Goal\n- x", 1, "0"))
			return `[` + strings.Repeat(`{"role":"user","content":`+one+`},`, n) + `{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"q"}]`
		}},
		{"one role, strict", Policy{Alternation: ptr(AlternationStrict), ProtectFirstN: ptr(2), ProtectLastN: ptr(5)}, func(n int) string {
			return `[{"role":"user","content":"q"},{"role":"assistant","content":"a"}` + strings.Repeat(`,{"role":"user","content":"hello there"}`, n) + `]`
		}},
		{"long head, strict", strict, func(n int) string {
			return `[` + strings.Repeat(`{"role":"assistant","content":"hello there"},`, n) + `{"role":"user","content":"q"}]`
		}},
		{"equal results", small(1, 1_000_000), func(n int) string {
			var sb strings.Builder
			sb.WriteString(`[{"role":"user","content":"q"}`)
			for i := range n {
				fmt.Fprintf(&sb, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i, i, strings.Repeat("same ", 60))
			}
			return sb.String() + `]`
		}},
	}
	e := newTestEngine(b, note())
	for _, shape := range shapes {
		for _, n := range []int{2_000, 20_000} {
			req := Request{Conversation: parse(b, conversation.FormatOpenAIChat, shape.json(n)), Model: gpt(16_000), Force: true, Policy: shape.policy}
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := e.Compress(b.Context(), req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
