package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// BenchmarkCountTokens compares CountTokens over a loopback connection, request decoding and response included, with the
// counter alone on the conversation parsed beforehand: the largest recorded one, met for the first time, known, and grown
// by one message since. The words' counts are warm throughout, as in a service that has been up for a while.
func BenchmarkCountTokens(b *testing.B) {
	file, format := largest(b)
	parsed := conversation.FormatOpenAIChat
	if format == elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES {
		parsed = conversation.FormatAnthropicMessages
	}
	registry, err := tokens.NewRegistry()
	if err != nil {
		b.Fatal(err)
	}
	grow := grower(b, file.JSON)
	for _, name := range []string{"gpt-4o", "claude-sonnet-4-5"} {
		for _, state := range counters() {
			client, model := dial(b, state.counter), registry.Lookup(name)
			same := func(int) string { return file.JSON }
			count := func(ctx context.Context, json string) error {
				_, err := client.CountTokens(ctx, &elbowroomv1.CountTokensRequest{Conversation: native(format, json), Model: name})
				return err
			}
			conv, err := conversation.Parse(parsed, file.JSON, conversation.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/counter alone/%s", name, state.name), func(b *testing.B) {
				median(b, same, func(ctx context.Context, _ string) error {
					_, err := state.counter.Count(ctx, conv, model)
					return err
				})
			})
			b.Run(fmt.Sprintf("%s/RPC/%s", name, state.name), func(b *testing.B) { median(b, same, count) })
			if state.name == "all remembered" {
				b.Run(name+"/RPC/one new message", func(b *testing.B) { median(b, grow, count) })
			}
		}
	}
}

// grower returns a function that appends a message of 3 KB to the conversation, another one each time.
func grower(b *testing.B, json string) func(i int) string {
	b.Helper()
	end := strings.LastIndex(json, "]")
	if end < 0 || strings.Contains(json[end:], `"`) {
		b.Fatal("the conversation does not end with its messages")
	}
	text := strings.Repeat(`func importBookings(rows []Row) error {\n\treturn store.Upsert(rows) // nightly\n}\n\n`, 35)
	return func(i int) string {
		return fmt.Sprintf(`%s,{"role":"user","content":"Attempt %d:\n%s"}%s`, json[:end], i, text, json[end:])
	}
}

// median reports the median time of a call beside the mean: on a shared machine the mean says more about the neighbours.
// Making the input is not timed.
func median(b *testing.B, input func(i int) string, run func(context.Context, string) error) {
	times := make([]time.Duration, 0, 1000)
	if err := run(b.Context(), input(-1)); err != nil { // loads the vocabulary; the counter meets the conversation
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		json := input(i)
		start := time.Now()
		if err := run(b.Context(), json); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[0].Microseconds())/1000, "best-ms")
}
