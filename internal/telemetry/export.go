package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	prometheusexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	nometrics "go.opentelemetry.io/otel/metric/noop"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	notraces "go.opentelemetry.io/otel/trace/noop"
)

// Options say what [Start] sets up beside what the environment asks for.
type Options struct {
	// Version is the service's.
	Version string
	// Scrape makes metrics for [Telemetry.Metrics], exporter or not.
	Scrape bool
	// Log gets what goes wrong with exporting. It may not lead to an exporter itself.
	// Required.
	Log *slog.Logger
	// Getenv reads the environment. The exporters read their own variables from the
	// process's. Required.
	Getenv func(string) string
}

// Telemetry is a set of providers. Those of a signal that nobody wants do nothing and
// cost next to nothing.
type Telemetry struct {
	// Tracer makes spans.
	Tracer trace.TracerProvider
	// Meter makes metrics.
	Meter metric.MeterProvider
	// Metrics serves the metrics in Prometheus' format, nil without [Options.Scrape].
	Metrics http.Handler
	// Exporting lists the signals that leave the process: "traces", "metrics", "logs".
	Exporting []string

	logs  *sdklog.LoggerProvider
	close []func(context.Context) error
}

// callBuckets are the bounds of a call's duration, in seconds: from what a count of a
// short text takes to what a summarizing model may.
var callBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180}

// wanted reports whether the environment asks for a signal: by OTEL_<SIGNAL>_EXPORTER,
// or by the address of a collector alone.
func wanted(getenv func(string) string, signal string) bool {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	if exporter := getenv("OTEL_" + signal + "_EXPORTER"); exporter != "" {
		return exporter != "none"
	}
	return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

// Start sets up what the environment asks for. Without any OTEL_* variable nothing is
// exported and nobody is connected to.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{Tracer: notraces.NewTracerProvider(), Meter: nometrics.NewMeterProvider()}
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "elbowroom"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv()) // last: it wins
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	for _, signal := range []struct {
		name  string
		start func(context.Context, Options, *resource.Resource) error
	}{{"traces", t.startTraces}, {"metrics", t.startMetrics}, {"logs", t.startLogs}} {
		if err := signal.start(ctx, o, about); err != nil {
			return nil, errors.Join(fmt.Errorf("telemetry: %s: %w", signal.name, err), t.Shutdown(ctx))
		}
	}
	if len(t.Exporting) > 0 {
		// The SDK reports failed exports here and nowhere else.
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
			o.Log.WarnContext(ctx, "telemetry", "error", err.Error())
		}))
	}
	return t, nil
}

func (t *Telemetry) exports(name string) { t.Exporting = append(t.Exporting, name) }

func (t *Telemetry) startTraces(ctx context.Context, o Options, about *resource.Resource) error {
	if !wanted(o.Getenv, "TRACES") {
		return nil
	}
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return err
	}
	// The sampler comes from OTEL_TRACES_SAMPLER.
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	t.Tracer = provider
	t.close = append(t.close, provider.Shutdown)
	t.exports("traces")
	return nil
}

func (t *Telemetry) startMetrics(ctx context.Context, o Options, about *resource.Resource) error {
	options := []sdkmetric.Option{
		sdkmetric.WithResource(about),
		sdkmetric.WithView(sdkmetric.NewView(
			sdkmetric.Instrument{Name: "rpc.server.call.duration"},
			sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: callBuckets}})),
	}
	push := wanted(o.Getenv, "METRICS")
	if push && o.Getenv("OTEL_METRICS_EXPORTER") == "prometheus" {
		push = false // which would be a second port for what the admin port has
		o.Log.WarnContext(ctx, "OTEL_METRICS_EXPORTER=prometheus is not needed: the admin port serves /metrics")
	}
	if push {
		reader, err := autoexport.NewMetricReader(ctx)
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(reader))
		t.exports("metrics")
	}
	if o.Scrape {
		registry := prometheus.NewRegistry()
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		reader, err := prometheusexporter.New(prometheusexporter.WithRegisterer(registry),
			prometheusexporter.WithoutScopeInfo(), prometheusexporter.WithoutTargetInfo())
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(reader))
		t.Metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	}
	if !push && !o.Scrape {
		return nil
	}
	provider := sdkmetric.NewMeterProvider(options...)
	t.Meter = provider
	t.close = append(t.close, provider.Shutdown)
	if err := runtime.Start(runtime.WithMeterProvider(provider)); err != nil {
		return err
	}
	return buildInfo(provider, o.Version)
}

// buildInfo is a metric that is always 1 and says by its labels what runs.
func buildInfo(provider metric.MeterProvider, version string) error {
	goVersion := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
	}
	_, err := provider.Meter(scope).Int64ObservableGauge("elbowroom.build_info",
		metric.WithDescription("Always 1; the labels say what runs."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(1, metric.WithAttributes(attribute.String("version", version), attribute.String("go_version", goVersion)))
			return nil
		}))
	return err
}

func (t *Telemetry) startLogs(ctx context.Context, o Options, about *resource.Resource) error {
	if !wanted(o.Getenv, "LOGS") {
		return nil
	}
	exporter, err := autoexport.NewLogExporter(ctx)
	if err != nil {
		return err
	}
	t.logs = sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)), sdklog.WithResource(about))
	t.close = append(t.close, t.logs.Shutdown)
	t.exports("logs")
	return nil
}

// Logger returns a logger that writes what log writes, from its level on, and sends it
// to the exporter of logs, if there is one.
func (t *Telemetry) Logger(log *slog.Logger) *slog.Logger {
	if t.logs == nil {
		return log
	}
	local := log.Handler()
	return slog.New(slog.NewMultiHandler(local, sameLevel{otelslog.NewHandler(scope, otelslog.WithLoggerProvider(t.logs)), local}))
}

// Shutdown sends what has not been sent yet, until ctx ends, and stops.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var errs []error
	for _, stop := range t.close {
		errs = append(errs, stop(ctx))
	}
	t.close = nil
	return errors.Join(errs...)
}
