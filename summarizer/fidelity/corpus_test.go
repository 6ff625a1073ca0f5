package fidelity

import (
	"context"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
)

// middleOf is a request for the whole of a real conversation, and the summary of
// the embedded summarizer.
func middleOf(t testing.TB, f testdata.File, budget int) Request {
	t.Helper()
	format := conversation.FormatOpenAIChat
	if f.Format == testdata.Anthropic {
		format = conversation.FormatAnthropicMessages
	}
	c, err := conversation.Parse(format, f.JSON, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	pair := conversation.Pair(c)
	req := Request{Round: 1, Budget: budget, Count: quarter, Calls: func(ref conversation.Ref) *conversation.Block {
		call, ok := pair.CallOf[ref]
		if !ok {
			return nil
		}
		return c.At(call)
	}}
	for i := range c.Messages {
		req.Turns = append(req.Turns, summarizer.Turn{Index: i, Message: &c.Messages[i]})
	}
	got, err := extractive.New().Summarize(context.Background(), summarizer.Request{
		Turns: req.Turns, Calls: req.Calls, Round: 1, Budget: budget, Count: quarter, KeepSecrets: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	req.Summary, req.Tokens = got.Text, got.Tokens
	return req
}

// The embedded summarizer quotes: every name in its summaries is in the source,
// and the search for inventions agrees.
func TestQuotesHoldNoInventions(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			for _, budget := range []int{300, 2_000, 10_000} {
				req := middleOf(t, f, budget)
				if got := check(t, req); got.Report.Invented != 0 {
					t.Errorf("budget %d: %v", budget, fates(got.Report)[:got.Report.Invented])
				}
			}
		})
	}
}

// A summary of nothing gets the facts that matter most, each word for word.
func TestRepairedFactsStandInTheText(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			req := middleOf(t, f, 6_000)
			req.Summary, req.Tokens = "## Goal\n- go on", 4
			got := check(t, req)
			for _, it := range got.Report.Items {
				if it.Fate == Repaired && it.Kind != "command" && !strings.Contains(strings.ReplaceAll(got.Text, ",", ""), strings.ReplaceAll(oneLine(it.Text), ",", "")) {
					t.Errorf("%+v is not there", it)
				}
			}
			t.Logf("%d facts, %d repaired, %d lost", got.Report.Facts, got.Report.Repaired, got.Report.Lost)
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	checker := New()
	for _, name := range []string{"cc-go-parallel-346", "mini-deepseek-astroid-378", "pi-ts-session-907", "aider-chat-487"} {
		f := testdata.Conversation(b, name)
		for mode, quoted := range map[string]bool{"quoted": true, "written": false} {
			req := middleOf(b, f, 10_000)
			req.Quoted = quoted
			b.Run(name+"/"+mode, func(b *testing.B) {
				b.SetBytes(int64(len(f.JSON)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := checker.Check(b.Context(), req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
