package elbowroom_test

import (
	"testing"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
	"github.com/elbowroom/elbowroom/conformance"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/internal/testutil/localserver"
)

// dialectOf and formatOf translate the word of a recorded conversation.
func dialectOf(word string) conformance.Dialect {
	if word == testdata.Anthropic {
		return conformance.Anthropic
	}
	return conformance.OpenAI
}

func formatOf(word string) pb.Format {
	if word == testdata.Anthropic {
		return elbowroom.AnthropicMessages
	}
	return elbowroom.OpenAIChat
}

func modelOf(word string) string {
	if word == testdata.Anthropic {
		return "claude-sonnet-4-5"
	}
	return "gpt-4o"
}

// connect returns a client of a server that the end of the test stops.
func connect(t testing.TB, options ...elbowroom.Option) *elbowroom.Client {
	t.Helper()
	return connectTo(t, localserver.Start(t), options...)
}

func connectTo(t testing.TB, addr string, options ...elbowroom.Option) *elbowroom.Client {
	t.Helper()
	client, err := elbowroom.Connect(addr, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestRecordedConversationsComeBackWhole compresses every recorded conversation, by
// force, and has the conformance checker compare what came back with what went in:
// kept messages are the same bytes.
func TestRecordedConversationsComeBackWhole(t *testing.T) {
	client := connect(t)
	compressed := 0
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			in, err := conformance.Read(dialectOf(f.Format), []byte(f.JSON))
			if err != nil {
				t.Fatal(err)
			}
			options := []elbowroom.CallOption{elbowroom.WithFormat(formatOf(f.Format))}
			result, err := client.Compress(t.Context(), f.JSON, &pb.CompressRequest{
				Model: modelOf(f.Format), ContextWindow: 32_000, Force: true,
			}, options...)
			if err != nil {
				t.Fatal(err)
			}
			out, err := conformance.ReadLike(dialectOf(f.Format), result.Body, in)
			if err != nil {
				t.Fatal(err)
			}
			check := conformance.Compression{
				Input: in, Output: out, Outcome: result.GetOutcome(), Report: result.GetReport(), Summary: result.GetSummary(), KeepThinking: true,
			}
			for _, v := range check.Check() {
				t.Error(v)
			}
			if result.GetOutcome() == pb.Outcome_OUTCOME_COMPRESSED {
				compressed++
			}
			marked, err := client.ApplyCacheControl(t.Context(), []byte(f.JSON), &pb.ApplyCacheControlRequest{
				Model: "claude-sonnet-4-5", Strategy: pb.Strategy_STRATEGY_ANCHORED,
			}, options...)
			if err != nil {
				t.Fatal(err)
			}
			if out, err = conformance.ReadLike(dialectOf(f.Format), marked.Body, in); err != nil {
				t.Fatal(err)
			}
			for _, v := range (&conformance.Marking{Input: in, Output: out, Breakpoints: marked.GetBreakpoints()}).Check() {
				t.Error(v)
			}
		})
	}
	if compressed < 15 {
		t.Errorf("only %d conversations became smaller", compressed)
	}
}
