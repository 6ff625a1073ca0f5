package telemetry

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Only what the environment asks for is exported.
func TestSignalsAreExportedWhereTheEnvironmentAsksForThem(t *testing.T) {
	const endpoint = "http://127.0.0.1:1" // nobody listens, and nobody has to
	all := []string{"traces", "metrics", "logs"}
	for _, x := range []struct {
		name string
		env  []string
		want []string
	}{
		{"nothing is set", nil, nil},
		{"a collector", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", endpoint}, all},
		{"one signal's collector", []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint}, []string{"traces"}},
		{"exporters by name", []string{"OTEL_TRACES_EXPORTER", "console", "OTEL_METRICS_EXPORTER", "none"}, []string{"traces"}},
		{"none of one", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", endpoint, "OTEL_LOGS_EXPORTER", "none"}, []string{"traces", "metrics"}},
		{"switched off", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", endpoint, "OTEL_SDK_DISABLED", "true"}, nil},
		{"a second port for metrics", []string{"OTEL_METRICS_EXPORTER", "prometheus"}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			for i := 0; i < len(x.env); i += 2 {
				t.Setenv(x.env[i], x.env[i+1]) // the exporters read it themselves
			}
			t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
			seen, err := Start(t.Context(), Options{Log: discard(), Getenv: environment(x.env...)})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(seen.Exporting, x.want) {
				t.Errorf("exporting %v, want %v", seen.Exporting, x.want)
			}
			if seen.Metrics != nil {
				t.Error("metrics are served although nobody scrapes")
			}
			_ = seen.Shutdown(t.Context()) // the collector is away
		})
	}
}

func TestALineOfATracedCallNamesTheTrace(t *testing.T) {
	var out bytes.Buffer
	log, err := NewLogger(&out, "info")
	if err != nil {
		t.Fatal(err)
	}
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	log.With("a", 1).InfoContext(trace.ContextWithSpanContext(t.Context(), span), "traced")
	log.InfoContext(t.Context(), "untraced")
	traced, untraced, _ := strings.Cut(out.String(), "\n")
	for _, want := range []string{`"trace_id":"01000000000000000000000000000000"`, `"span_id":"0200000000000000"`, `"a":1`} {
		if !strings.Contains(traced, want) {
			t.Errorf("%s has no %s", traced, want)
		}
	}
	if strings.Contains(untraced, "trace_id") {
		t.Errorf("%s names a trace", untraced)
	}
}
