package extractive

import (
	"context"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/tokens"
)

// middleOf is a request for the whole of a real conversation but its head.
func middleOf(t testing.TB, f testdata.File, count func(context.Context, string) (int, error)) summarizer.Request {
	t.Helper()
	format := conversation.FormatOpenAIChat
	if f.Format == testdata.Anthropic {
		format = conversation.FormatAnthropicMessages
	}
	c, err := conversation.Parse(format, f.JSON, conversation.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	pair := conversation.Pair(c)
	req := summarizer.Request{Round: 1, Count: count, Calls: func(ref conversation.Ref) *conversation.Block {
		call, ok := pair.CallOf[ref]
		if !ok {
			return nil
		}
		return c.At(call)
	}}
	for i := range c.Messages {
		req.Turns = append(req.Turns, summarizer.Turn{Index: i, Message: &c.Messages[i]})
	}
	return req
}

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
