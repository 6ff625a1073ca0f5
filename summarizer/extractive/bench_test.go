package extractive

import (
	"context"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/tokens"
)

func BenchmarkSummarize(b *testing.B) {
	enc, err := tokens.NewEncoding(tokens.O200kBase)
	if err != nil {
		b.Fatal(err)
	}
	s := New()
	for _, name := range []string{"pi-ts-session-907", "cc-go-parallel-346", "deersse-zh-delivery-25", "mini-deepseek-astroid-378"} {
		req := middleOf(b, testdata.Conversation(b, name), enc.Count)
		req.Budget = 10_000
		b.Run(name, func(b *testing.B) {
			size := 0
			for _, t := range req.Turns {
				size += t.Message.Span.Len()
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := s.Summarize(context.Background(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
