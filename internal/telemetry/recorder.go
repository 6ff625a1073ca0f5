package telemetry

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	nometrics "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	notraces "go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"

	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// scope is the name of the instrumentation.
const scope = "github.com/elbowroom/elbowroom"

// RecorderOptions are what a [Recorder] records with. The zero value records nothing.
type RecorderOptions struct {
	Tracer trace.TracerProvider
	Meter  metric.MeterProvider
	// Tenant names the caller's tenant, which then is a label of what tenants cost. Nil:
	// no such label, since every tenant makes each of these series once more.
	Tenant func(context.Context) string
}

// Cost is what a rung's calls cost in US dollars; false where no price is known.
type Cost func(ladder.Observation) (usd float64, known bool)

// Recorder records what the calls do. A nil one records nothing. It is safe for
// concurrent use.
type Recorder struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider
	tracer  trace.Tracer
	meter   metric.Meter
	tenant  func(context.Context) string
	instruments
}

// NewRecorder returns a recorder.
func NewRecorder(o RecorderOptions) (*Recorder, error) {
	if o.Tracer == nil {
		o.Tracer = notraces.NewTracerProvider()
	}
	if o.Meter == nil {
		o.Meter = nometrics.NewMeterProvider()
	}
	r := &Recorder{tracers: o.Tracer, meters: o.Meter, tracer: o.Tracer.Tracer(scope), meter: o.Meter.Meter(scope), tenant: o.Tenant}
	var err error
	r.instruments, err = newInstruments(r.meter)
	return r, err
}

// ServerHandler makes a span and a duration of every call of a gRPC server whose method
// begins with the prefix, and takes its caller's trace over (W3C Trace Context). Calls
// of other services leave no mark.
func (r *Recorder) ServerHandler(prefix string) stats.Handler {
	return otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(r.tracers), otelgrpc.WithMeterProvider(r.meters),
		otelgrpc.WithPropagators(propagation.TraceContext{}),
		otelgrpc.WithFilter(func(info *stats.RPCTagInfo) bool { return strings.HasPrefix(info.FullMethodName, prefix) }))
}

// add adds to a counter, whose labels are not even made where nobody looks.
func (r *Recorder) add(ctx context.Context, to metric.Int64Counter, n int64, attrs ...attribute.KeyValue) {
	if to.Enabled(ctx) {
		to.Add(ctx, n, r.labels(ctx, attrs))
	}
}

// observe adds an observation to a histogram.
func (r *Recorder) observe(ctx context.Context, to metric.Float64Histogram, x float64, attrs ...attribute.KeyValue) {
	if to.Enabled(ctx) {
		to.Record(ctx, x, r.labels(ctx, attrs))
	}
}

// labels are attributes with the tenant, where that is a label.
func (r *Recorder) labels(ctx context.Context, attrs []attribute.KeyValue) metric.MeasurementOption {
	if r.tenant != nil {
		attrs = append(attrs, attribute.String("tenant", r.tenant(ctx)))
	}
	return metric.WithAttributeSet(attribute.NewSet(attrs...))
}

// Refused counts a call that was turned away: by auth, quota, admission or bodies.
func (r *Recorder) Refused(ctx context.Context, by string, code codes.Code) {
	if r != nil {
		r.add(ctx, r.refused, 1, attribute.String("by", by), attribute.String("code", code.String()))
	}
}

// PassedThrough counts bytes of messages that were to be kept and were not. It says so
// with 0 too, so that the metric is there to be watched.
func (r *Recorder) PassedThrough(ctx context.Context, changed int) {
	if r != nil {
		r.changed.Add(ctx, int64(changed))
	}
}

// Held is what a server holds at the moment.
type Held struct {
	// InFlight and Limit are the bytes of requests being worked on, and their bound.
	InFlight, Limit int64
	// Working and Waiting are the calls that have the processors and that wait for them.
	Working, Waiting int64
	// Bodies and BodyBytes are what is kept for deltas.
	Bodies, BodyBytes int64
}

// WatchServer makes gauges of what a server holds.
func (r *Recorder) WatchServer(held func() Held) error {
	if r == nil {
		return nil
	}
	_, err := r.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := held()
		o.ObserveInt64(r.inFlight, now.InFlight)
		o.ObserveInt64(r.inFlightLimit, now.Limit)
		o.ObserveInt64(r.working, now.Working)
		o.ObserveInt64(r.waiting, now.Waiting)
		o.ObserveInt64(r.bodies, now.Bodies)
		o.ObserveInt64(r.bodyBytes, now.BodyBytes)
		return nil
	}, r.inFlight, r.inFlightLimit, r.working, r.waiting, r.bodies, r.bodyBytes)
	return err
}

// WatchStore makes a gauge of whether the shared store is being done without.
func (r *Recorder) WatchStore(degraded func() bool) error {
	if r == nil {
		return nil
	}
	_, err := r.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		if degraded() {
			o.ObserveInt64(r.degraded, 1)
		} else {
			o.ObserveInt64(r.degraded, 0)
		}
		return nil
	}, r.degraded)
	return err
}

// WatchLog makes a counter of the lines of the log that could not be written.
func (r *Recorder) WatchLog(lost func() int64) error {
	if r == nil || lost == nil {
		return nil
	}
	_, err := r.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(r.logLost, lost())
		return nil
	}, r.logLost)
	return err
}

// StoreOperation counts an operation on the shared store, as its observer.
func (r *Recorder) StoreOperation(op string, err error) {
	if r == nil {
		return
	}
	result := "ok"
	switch {
	case errors.Is(err, store.ErrUnreadable):
		result = "unreadable"
	case errors.Is(err, context.DeadlineExceeded):
		result = "timeout"
	case err != nil:
		result = "error"
	}
	r.storeOperations.Add(context.Background(), 1, metric.WithAttributeSet(attribute.NewSet(
		attribute.String("op", op), attribute.String("result", result))))
}

// Reloaded counts a reload of the configuration that was applied, or refused.
func (r *Recorder) Reloaded(ctx context.Context, applied bool) {
	if r == nil {
		return
	}
	result := "applied"
	if !applied {
		result = "refused"
	}
	r.reloads.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(attribute.String("result", result))))
}
