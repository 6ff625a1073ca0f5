package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// Placement records the placing of breakpoints in a conversation: a span and, by the
// function it returns, what was placed.
func (r *Recorder) Placement(ctx context.Context, c *conversation.Conversation) (context.Context, func(*breakpoints.Result)) {
	if r == nil {
		return ctx, func(*breakpoints.Result) {}
	}
	ctx, span := r.child(ctx, "place breakpoints", c)
	return ctx, func(res *breakpoints.Result) {
		defer span.End()
		if res == nil {
			return
		}
		layout := attribute.String("layout", res.Layout.String())
		r.add(ctx, r.breakpoints, int64(len(res.Breakpoints)), layout)
		if u := res.Usage; u != nil {
			for _, part := range []struct {
				name   string
				tokens int
			}{{"read", u.Read}, {"written", u.Write + u.Write5m + u.Write1h}, {"uncached", u.Uncached}} {
				r.add(ctx, r.predicted, int64(part.tokens), attribute.String("kind", part.name), layout)
			}
		}
		if span.IsRecording() {
			span.SetAttributes(attribute.String(attrLayout, res.Layout.String()), attribute.Int(attrBreakpoints, len(res.Breakpoints)))
			if u := res.Usage; u != nil {
				span.SetAttributes(attribute.Int(attrTokens, u.Prompt), attribute.Int(attrPredicted, u.Read))
			}
		}
	}
}

// Count records a count: a span and, by the function it returns, what was counted. The
// conversation is nil where plain text is counted.
func (r *Recorder) Count(ctx context.Context, c *conversation.Conversation) (context.Context, func(*tokens.Report)) {
	if r == nil {
		return ctx, func(*tokens.Report) {}
	}
	ctx, span := r.child(ctx, "count tokens", c)
	return ctx, func(report *tokens.Report) {
		defer span.End()
		if report != nil && span.IsRecording() {
			span.SetAttributes(attribute.Int(attrTokens, report.Tokens), attribute.String(attrEncoding, report.Encoding))
		}
	}
}

// child starts a span for work on a conversation inside a call.
func (r *Recorder) child(ctx context.Context, name string, c *conversation.Conversation) (context.Context, trace.Span) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, trace.SpanFromContext(context.Background())
	}
	ctx, span := r.tracer.Start(ctx, name)
	if c != nil {
		span.SetAttributes(sizes(c)...)
	}
	return ctx, span
}
