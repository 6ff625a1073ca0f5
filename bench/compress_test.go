package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// compressModel is the model whose tokens the conversation is cut and counted by.
const compressModel = "claude-sonnet-4-5"

// BenchmarkCompress200K compresses a conversation of about 200,000 tokens over a loopback connection, request encoding
// and response included: the beginning of the largest recorded one, with another newest message each time. Nothing is
// taken over from an earlier compression (continuity is off and there is no session), so every call summarizes anew.
//
// "all remembered" is a service that saw the turns before: calls of Compress that found the conversation below its
// threshold, which count all but the newest message and read it ahead. The calls before the measured ones are such, and
// no others. "nothing remembered" remembers neither counts nor texts, so every call is the first that meets the
// conversation. One client shows the latency alone, four show it under moderate load.
func BenchmarkCompress200K(b *testing.B) {
	format, json := beginning(b, 200_000)
	input := grower(b, json)
	for _, state := range counters() {
		client := dialKnowing(b, state.counter, state.known)
		compress := func(ctx context.Context, req *elbowroomv1.CompressRequest, want elbowroomv1.Outcome) error {
			resp, err := client.Compress(ctx, req)
			if err == nil && resp.GetOutcome() != want {
				return fmt.Errorf("outcome %v", resp.GetOutcome())
			}
			return err
		}
		whole := 1.0
		for i := range 10 { // the turns before: nothing is compressed below the whole window
			req := &elbowroomv1.CompressRequest{
				Conversation: native(format, input(-1-i)), Model: compressModel, Policy: &elbowroomv1.CompressionPolicy{Threshold: &whole},
			}
			if err := compress(b.Context(), req, elbowroomv1.Outcome_OUTCOME_BELOW_THRESHOLD); err != nil {
				b.Fatal(err)
			}
		}
		call := func(i int) func(ctx context.Context) error {
			req := &elbowroomv1.CompressRequest{Conversation: native(format, input(i)), Model: compressModel, Force: true}
			return func(ctx context.Context) error { return compress(ctx, req, elbowroomv1.Outcome_OUTCOME_COMPRESSED) }
		}
		for _, clients := range []int{1, 4} {
			b.Run(fmt.Sprintf("%s/clients=%d", state.name, clients), func(b *testing.B) { latencies(b, clients, call) })
		}
	}
}

// beginning is the largest recorded conversation up to a number of tokens, cut where a request could have been sent:
// before a message of the assistant.
func beginning(b *testing.B, limit int) (elbowroomv1.Format, string) {
	b.Helper()
	file, format := largest(b)
	parsed := conversation.FormatOpenAIChat
	if format == elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES {
		parsed = conversation.FormatAnthropicMessages
	}
	conv, err := conversation.Parse(parsed, file.JSON, conversation.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	registry, err := tokens.NewRegistry()
	if err != nil {
		b.Fatal(err)
	}
	counted, err := tokens.NewCounter().Count(b.Context(), conv, registry.Lookup(compressModel))
	if err != nil {
		b.Fatal(err)
	}
	size := counted.Tokens
	rewrite := conversation.NewRewrite(conv)
	for i := len(conv.Messages) - 1; i > 0; i-- {
		if size <= limit && conv.Messages[i].Role != conversation.RoleAssistant {
			break
		}
		size -= counted.Messages[i]
		rewrite.Drop(i)
	}
	if size < limit*9/10 {
		b.Fatalf("%s has no beginning of about %d tokens, only of %d", file.Name, limit, size)
	}
	return format, rewrite.Render()
}

// latencies shares b.N calls among clients that each wait for their answer before they ask again, and reports the
// percentiles of the time one call takes. Making up the conversation that it sends is no part of that.
func latencies(b *testing.B, clients int, call func(i int) func(ctx context.Context) error) {
	times := make([]time.Duration, b.N)
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range clients {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
				run := call(i)
				start := time.Now()
				if err := run(b.Context()); err != nil {
					b.Error(err)
					return
				}
				times[i] = time.Since(start)
			}
		})
	}
	group.Wait()
	b.StopTimer()
	slices.Sort(times)
	b.ReportMetric(milliseconds(times[len(times)/2]), "p50-ms")
	b.ReportMetric(milliseconds(times[len(times)*99/100]), "p99-ms")
	b.ReportMetric(milliseconds(times[0]), "best-ms")
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
