package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// Attributes of spans.
const (
	attrTokens      = "elbowroom.tokens"       // size of the conversation
	attrMessages    = "elbowroom.messages"     // its messages
	attrBytes       = "elbowroom.bytes"        // its JSON, 0 for the typed form
	attrTokensAfter = "elbowroom.tokens_after" // size of the result
	attrSummarized  = "elbowroom.tokens_summarized"
	attrOutcome     = "elbowroom.outcome"
	attrRung        = "elbowroom.rung"
	attrLayer       = "elbowroom.layer"
	attrEncoding    = "elbowroom.encoding"
	attrLayout      = "elbowroom.layout"
	attrBreakpoints = "elbowroom.breakpoints"
	attrPredicted   = "elbowroom.tokens_read_predicted"
)

// The names of the engine's enumerations in labels.

func outcomeName(o compressor.Outcome) string {
	return nameOf(o, "unspecified", "compressed", "below_threshold", "too_short", "no_gain", "target_unreachable", "deferred", "cooling_down", "disabled", "planned")
}

func rungName(r compressor.Rung) string { return nameOf(r, "none", "llm", "extractive", "prune_only") }

func layerName(l compressor.Layer) string { return nameOf(l, "agent", "gateway") }

func repairName(k compressor.RepairKind) string {
	return nameOf(k, "", "missing_result", "orphan_result", "duplicate_result", "leading_assistant", "blank_text", "empty_message")
}

func phaseName(p compressor.Phase) string {
	return nameOf(p, "", "counting", "planning", "summarizing", "checking", "assembling")
}

func nameOf[E ~int](e E, names ...string) string {
	if e < 0 || int(e) >= len(names) {
		return "unknown"
	}
	return names[e]
}

// sizes are what a conversation measures, as attributes.
func sizes(c *conversation.Conversation) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.Int(attrMessages, len(c.Messages)), attribute.Int(attrBytes, len(c.Source))}
}

// Compression is one compression being recorded: a span for each of its phases.
type Compression struct {
	r    *Recorder
	ctx  context.Context //nolint:containedctx // that of the call whose spans these are
	call trace.Span

	mu    sync.Mutex
	phase trace.Span // the one at work, or the last; nil before the first
	rung  string     // its summarizer
}

type compressionKey struct{}

// Compression begins the record of a compression. Summarizers that are called with the
// context it returns belong to the phase at work.
func (r *Recorder) Compression(ctx context.Context, c *conversation.Conversation) (context.Context, *Compression) {
	if r == nil {
		return ctx, nil
	}
	rec := &Compression{r: r, ctx: ctx, call: trace.SpanFromContext(ctx)}
	if rec.call.IsRecording() {
		rec.call.SetAttributes(sizes(c)...)
		ctx = context.WithValue(ctx, compressionKey{}, rec)
	}
	return ctx, rec
}

// Progress ends the phase before and begins the next.
func (c *Compression) Progress(p compressor.Progress) {
	if c == nil || !c.call.IsRecording() {
		return
	}
	var attrs []attribute.KeyValue
	if p.Tokens > 0 {
		attrs = append(attrs, attribute.Int(attrTokens, p.Tokens))
	}
	if p.Phase == compressor.PhaseSummarizing {
		attrs = append(attrs, attribute.String(attrRung, p.Summarizer), attribute.Int(attrSummarized, p.Summarized))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endPhase()
	_, c.phase = c.r.tracer.Start(c.ctx, "compress "+phaseName(p.Phase), trace.WithAttributes(attrs...))
	c.rung = p.Summarizer
}

func (c *Compression) endPhase() {
	if c.phase != nil {
		c.phase.End()
	}
}

// within is the context of work that belongs to the phase at work.
func within(ctx context.Context) context.Context {
	c, _ := ctx.Value(compressionKey{}).(*Compression)
	if c == nil {
		return ctx
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, c.phase)
}

// tried notes what became of a rung. One that was skipped, or whose summary was found
// again, did not announce itself as a phase and becomes one here.
func (c *Compression) tried(o ladder.Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	span := c.phase
	if span == nil || c.rung != o.Rung || !span.IsRecording() {
		end := time.Now()
		_, span = c.r.tracer.Start(c.ctx, "compress "+phaseName(compressor.PhaseSummarizing),
			trace.WithTimestamp(end.Add(-o.Duration)), trace.WithAttributes(attribute.String(attrRung, o.Rung)))
		defer span.End(trace.WithTimestamp(end))
	}
	outcome := "summary"
	if o.Code != "" {
		outcome = "failed"
		span.SetAttributes(attribute.String(ErrorType, o.Code))
		span.SetStatus(otelcodes.Error, o.Code)
	}
	span.SetAttributes(attribute.String(attrOutcome, outcome),
		attribute.Int(SummarizerAttempts, o.Attempts), attribute.Bool(SummarizerReused, o.Reused))
}

// End records the result. With an error, of which the call's own span tells, only the
// phase ends.
func (c *Compression) End(res *compressor.Result, layer compressor.Layer, err error) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.endPhase()
	c.mu.Unlock()
	if err != nil {
		return
	}
	c.count(res, layer)
	if report := &res.Report; c.call.IsRecording() {
		c.call.SetAttributes(
			attribute.String(attrOutcome, outcomeName(res.Outcome)), attribute.String(attrRung, rungName(report.Rung)),
			attribute.String(attrLayer, layerName(layer)),
			attribute.Int(attrTokens, report.TokensBefore), attribute.Int(attrTokensAfter, report.TokensAfter))
	}
}

func (c *Compression) count(res *compressor.Result, layer compressor.Layer) {
	r, ctx, report := c.r, c.ctx, &res.Report
	r.add(ctx, r.compressions, 1,
		attribute.String("outcome", outcomeName(res.Outcome)), attribute.String("rung", rungName(report.Rung)),
		attribute.String("layer", layerName(layer)))
	r.add(ctx, r.tokensBefore, int64(report.TokensBefore))
	r.add(ctx, r.tokensAfter, int64(report.TokensAfter))
	r.add(ctx, r.tokensRemoved, int64(max(report.TokensBefore-report.TokensAfter, 0)))
	if res.Outcome.Changed() && report.TokensBefore > 0 {
		r.observe(ctx, r.ratio, float64(report.TokensAfter)/float64(report.TokensBefore))
	}
	if f := report.Fidelity; f != nil {
		for _, fate := range []struct {
			name string
			n    int
		}{{"kept", f.Kept}, {"repaired", f.Repaired}, {"lost", f.Lost}, {"invented", f.Invented}} {
			r.add(ctx, r.facts, int64(fate.n), attribute.String("fate", fate.name))
		}
	}
	for _, repair := range report.Repairs {
		r.add(ctx, r.repairs, 1, attribute.String("kind", repairName(repair.Kind)))
	}
	if looked := report.Continuity; looked.Hit {
		r.add(ctx, r.continuity, 1, attribute.String("result", "hit"))
	} else if looked.Looked {
		r.add(ctx, r.continuity, 1, attribute.String("result", "miss"))
	}
}
