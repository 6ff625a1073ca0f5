package bench

import (
	"context"
	"log/slog"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/telemetry"
	"github.com/elbowroom/elbowroom/tokens"
)

// nowhere is an exporter that drops what it gets.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// BenchmarkTelemetry compares calls by what is recorded of them: nothing at all; what the
// server does without exporters and admin port; with the admin port, as by default; and
// with every call traced. The last but one is what it costs by default.
func BenchmarkTelemetry(b *testing.B) {
	set := func(scrape bool) *telemetry.Telemetry {
		seen, err := telemetry.Start(b.Context(), telemetry.Options{
			Scrape: scrape, Log: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = seen.Shutdown(context.Background()) })
		return seen
	}
	quiet, scraped := set(false), set(true)
	spans := sdktrace.NewTracerProvider(sdktrace.WithBatcher(nowhere{}))
	b.Cleanup(func() { _ = spans.Shutdown(context.Background()) })
	modes := []struct {
		name string
		with *telemetry.RecorderOptions // nil: no recorder
	}{
		{"nothing", nil},
		{"unset", &telemetry.RecorderOptions{Tracer: quiet.Tracer, Meter: quiet.Meter}},
		{"scraped", &telemetry.RecorderOptions{Tracer: scraped.Tracer, Meter: scraped.Meter}},
		{"traced", &telemetry.RecorderOptions{Tracer: spans, Meter: scraped.Meter}},
	}
	conversations := []struct {
		name   string
		format elbowroomv1.Format
		json   string
	}{{name: "small", format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, json: agentSession(20)}}
	recorded, format := largest(b)
	conversations = append(conversations, struct {
		name   string
		format elbowroomv1.Format
		json   string
	}{recorded.Name, format, recorded.JSON})
	var clients []elbowroomv1.ContextServiceClient
	for _, m := range modes {
		var recorder *telemetry.Recorder
		if m.with != nil {
			var err error
			if recorder, err = telemetry.NewRecorder(*m.with); err != nil {
				b.Fatal(err)
			}
		}
		client, stop := start(b, tokens.NewCounter(), recorder)
		b.Cleanup(stop)
		clients = append(clients, client)
	}
	for _, c := range conversations {
		var fields [][]contestant
		for i, m := range modes {
			for k, call := range calls(clients[i], native(c.format, c.json)) {
				if i == 0 {
					fields = append(fields, nil)
				}
				fields[k] = append(fields[k], contestant{name: m.name, call: call.run})
			}
		}
		for k, call := range calls(clients[0], nil) {
			b.Run(call.name+"/"+c.name, func(b *testing.B) { race(b, fields[k]) })
		}
	}
}
