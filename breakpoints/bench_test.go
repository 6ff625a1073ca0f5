package breakpoints

import (
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// BenchmarkPlace decides and renders on a conversation of 590 messages (826 KB),
// parsing excluded.
func BenchmarkPlace(b *testing.B) {
	c := parse(b, anthropic, testdata.Conversation(b, "cc-go-thinking-590").JSON)
	layouts, err := NewLayouts(nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, strategy := range map[string]Strategy{"system and 3": StrategySystemAnd3, "transaction ends": StrategyTransactionEnds, "anchored": StrategyAnchored} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				res, err := Place(c, Options{Strategy: strategy, Layouts: layouts})
				if err != nil {
					b.Fatal(err)
				}
				res.Rewrite.Splices()
			}
		})
	}
}

// BenchmarkVolatileLine looks through 100 KB of prose in which nothing changes.
func BenchmarkVolatileLine(b *testing.B) {
	text := strings.Repeat("The tool reads a file of the current project and gives 20 lines back; see the date-time notes in section 4-2.\n", 900)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if volatileLine(text) >= 0 {
			b.Fatal("found")
		}
	}
}
