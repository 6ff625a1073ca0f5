package breakpoints

import (
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// BenchmarkPlace decides and renders on a conversation of 590 messages (826 KB),
// parsing excluded.
func BenchmarkPlace(b *testing.B) {
	c := parse(b, anthropic, testdata.Conversation(b, "cc-go-thinking-590").JSON)
	b.ReportAllocs()
	for b.Loop() {
		res, err := Place(c, Options{})
		if err != nil {
			b.Fatal(err)
		}
		res.Rewrite.Splices()
	}
}
