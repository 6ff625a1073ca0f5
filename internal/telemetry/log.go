package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// NewLogger returns a logger that writes JSON lines of at least the given level:
// debug, info, warn or error. A line of a call that belongs to a trace has its
// trace_id and span_id.
func NewLogger(w io.Writer, level string) (*slog.Logger, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level: %w", err)
	}
	return slog.New(traced{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: least})}), nil
}

// traced adds the trace of the context to each line.
type traced struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h traced) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r = r.Clone() // others may handle it too
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{h.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name)} }

// sameLevel handles what another handler does too.
type sameLevel struct {
	slog.Handler
	as slog.Handler
}

// Enabled implements [slog.Handler].
func (h sameLevel) Enabled(ctx context.Context, level slog.Level) bool {
	return h.as.Enabled(ctx, level) && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (h sameLevel) WithAttrs(attrs []slog.Attr) slog.Handler {
	return sameLevel{h.Handler.WithAttrs(attrs), h.as}
}

// WithGroup implements [slog.Handler].
func (h sameLevel) WithGroup(name string) slog.Handler {
	return sameLevel{h.Handler.WithGroup(name), h.as}
}
