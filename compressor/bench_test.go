package compressor

import (
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/tokens"
)

// The largest real conversations, forced, parsing excluded.
func BenchmarkCompress(b *testing.B) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		b.Fatal(err)
	}
	e := newTestEngine(b, extractive.New())
	for _, name := range []string{"cc-go-parallel-346", "cc-go-thinking-590", "pi-ts-session-907"} {
		f := testdata.Conversation(b, name)
		req := Request{Conversation: parse(b, formatOf(f), f.JSON), Model: registry.Lookup("claude-sonnet-4-5"), Force: true}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Compress(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
