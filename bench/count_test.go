package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// BenchmarkCountTokens compares CountTokens over a loopback connection, request encoding and response included, with the counter alone on the conversation parsed beforehand: the largest recorded one, cold (the vocabulary is
// loaded and nothing was ever counted), known, and grown by one message since.
func BenchmarkCountTokens(b *testing.B) {
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
	for _, name := range []string{"gpt-4o", "claude-sonnet-4-5"} {
		model := registry.Lookup(name)
		ask := func(ctx context.Context, client elbowroomv1.ContextServiceClient, json string) error {
			_, err := client.CountTokens(ctx, &elbowroomv1.CountTokensRequest{Conversation: native(format, json), Model: name})
			return err
		}
		b.Run(name+"/counter alone/cold", func(b *testing.B) {
			medians(b, func(int) func() error {
				counter := tokens.NewCounter()
				if _, err := counter.CountText(b.Context(), "tea", model); err != nil {
					b.Fatal(err)
				}
				return func() error {
					_, err := counter.Count(b.Context(), conv, model)
					return err
				}
			})
		})
		b.Run(name+"/RPC/cold", func(b *testing.B) {
			stop := func() {}
			b.Cleanup(func() { stop() })
			medians(b, func(int) func() error {
				stop() // the server of the round before, or its memory would be missed in this one
				var client elbowroomv1.ContextServiceClient
				client, stop = start(b, tokens.NewCounter(), nil)
				tea := "tea"
				if _, err := client.CountTokens(b.Context(), &elbowroomv1.CountTokensRequest{Text: &tea, Model: name}); err != nil {
					b.Fatal(err)
				}
				return func() error { return ask(b.Context(), client, file.JSON) }
			})
		})
		for _, known := range []struct {
			name  string
			input func(i int) string
		}{
			{"all remembered", func(int) string { return file.JSON }},
			{"one new message", grower(b, file.JSON)},
		} {
			b.Run(fmt.Sprintf("%s/RPC/%s", name, known.name), func(b *testing.B) {
				client := dial(b, tokens.NewCounter())
				for i := range 20 { // a service that has been up for a while
					if err := ask(b.Context(), client, known.input(-1-i)); err != nil {
						b.Fatal(err)
					}
				}
				medians(b, func(i int) func() error {
					json := known.input(i)
					return func() error { return ask(b.Context(), client, json) }
				})
			})
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
		return json[:end] + fmt.Sprintf(`,{"role":"user","content":"Attempt %d:\n%s"}`, i, text) + json[end:]
	}
}

// medians reports the median time of a call beside the mean: on a shared machine the mean says more about the neighbours.
// What prepare does before each call is part of neither.
func medians(b *testing.B, prepare func(i int) func() error) {
	times := make([]time.Duration, 0, 1000)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		call := prepare(i)
		runtime.GC() // what preparing left behind is nobody's to pay for in the call
		b.StartTimer()
		start := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[0].Microseconds())/1000, "best-ms")
}
