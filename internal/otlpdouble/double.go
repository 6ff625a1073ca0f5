// Package otlpdouble stands in for an OpenTelemetry collector in tests: it takes
// traces, metrics and logs over OTLP/gRPC on loopback and keeps them.
package otlpdouble

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	logsv1 "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// Collector is a running double.
type Collector struct {
	// Endpoint is the value of OTEL_EXPORTER_OTLP_ENDPOINT.
	Endpoint string

	mu       sync.Mutex
	spans    []*tracepb.Span
	logs     []*logspb.LogRecord
	metrics  map[string]bool
	resource map[string]string
}

// Start runs a collector until the test ends.
func Start(tb testing.TB) *Collector {
	tb.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	c := &Collector{Endpoint: "http://" + lis.Addr().String(), metrics: map[string]bool{}, resource: map[string]string{}}
	server := grpc.NewServer()
	tracev1.RegisterTraceServiceServer(server, traces{c: c})
	metricsv1.RegisterMetricsServiceServer(server, metrics{c: c})
	logsv1.RegisterLogsServiceServer(server, logs{c: c})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(lis) // ends with Stop
	}()
	tb.Cleanup(func() {
		server.Stop()
		<-served
	})
	return c
}

// Spans are those received so far, in order of their start.
func (c *Collector) Spans() []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.spans)
	slices.SortStableFunc(out, func(a, b *tracepb.Span) int {
		return int(int64(a.GetStartTimeUnixNano()) - int64(b.GetStartTimeUnixNano())) //nolint:gosec // times of one test
	})
	return out
}

// Logs are the log records received so far.
func (c *Collector) Logs() []*logspb.LogRecord {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.logs)
}

// HasMetric reports whether a metric of that name was received.
func (c *Collector) HasMetric(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.metrics[name]
}

// Resource is an attribute of the process that sent the traces.
func (c *Collector) Resource(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resource[name]
}

// Attributes are attributes by their names, numbers and lists as text.
func Attributes(list []*commonpb.KeyValue) map[string]any {
	out := make(map[string]any, len(list))
	for _, kv := range list {
		out[kv.GetKey()] = value(kv.GetValue())
	}
	return out
}

func value(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_IntValue:
		return int(v.IntValue)
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_ArrayValue:
		var list []any
		for _, item := range v.ArrayValue.GetValues() {
			list = append(list, value(item))
		}
		return list
	default:
		return nil
	}
}

type traces struct {
	tracev1.UnimplementedTraceServiceServer
	c *Collector
}

func (t traces) Export(_ context.Context, in *tracev1.ExportTraceServiceRequest) (*tracev1.ExportTraceServiceResponse, error) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	for _, r := range in.GetResourceSpans() {
		for name, text := range Attributes(r.GetResource().GetAttributes()) {
			t.c.resource[name], _ = text.(string)
		}
		for _, s := range r.GetScopeSpans() {
			t.c.spans = append(t.c.spans, s.GetSpans()...)
		}
	}
	return &tracev1.ExportTraceServiceResponse{}, nil
}

type metrics struct {
	metricsv1.UnimplementedMetricsServiceServer
	c *Collector
}

func (m metrics) Export(_ context.Context, in *metricsv1.ExportMetricsServiceRequest) (*metricsv1.ExportMetricsServiceResponse, error) {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	for _, r := range in.GetResourceMetrics() {
		for _, s := range r.GetScopeMetrics() {
			for _, metric := range s.GetMetrics() {
				m.c.metrics[metric.GetName()] = true
			}
		}
	}
	return &metricsv1.ExportMetricsServiceResponse{}, nil
}

type logs struct {
	logsv1.UnimplementedLogsServiceServer
	c *Collector
}

func (l logs) Export(_ context.Context, in *logsv1.ExportLogsServiceRequest) (*logsv1.ExportLogsServiceResponse, error) {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	for _, r := range in.GetResourceLogs() {
		for _, s := range r.GetScopeLogs() {
			l.c.logs = append(l.c.logs, s.GetLogRecords()...)
		}
	}
	return &logsv1.ExportLogsServiceResponse{}, nil
}
