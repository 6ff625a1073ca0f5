package telemetry

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// Summarizer records a rung that was tried, as the ladder's observer. cost may be nil.
func (r *Recorder) Summarizer(ctx context.Context, o ladder.Observation, cost Cost) {
	if r == nil {
		return
	}
	rung := attribute.String("summarizer", o.Rung)
	result := "written"
	switch {
	case o.Code != "":
		result = "failed"
		r.add(ctx, r.summarizerFailures, 1, rung, attribute.String("code", o.Code))
	case o.Reused:
		result = "reused"
	}
	r.observe(ctx, r.summarizerDuration, o.Duration.Seconds(), rung, attribute.String("result", result))
	if o.Attempts > 0 {
		r.add(ctx, r.summarizerCalls, int64(o.Attempts), rung)
		r.add(ctx, r.summarizerTokens, int64(o.PromptTokens), rung, attribute.String("kind", "input"))
		r.add(ctx, r.summarizerTokens, int64(o.CompletionTokens), rung, attribute.String("kind", "output"))
		if cost != nil && r.summarizerCost.Enabled(ctx) {
			if usd, known := cost(o); known {
				r.summarizerCost.Add(ctx, usd, r.labels(ctx, []attribute.KeyValue{rung}))
			}
		}
	}
	if c, _ := ctx.Value(compressionKey{}).(*Compression); c != nil {
		c.tried(o)
	}
}

// Backend makes a span of each call to a summarizing model, by the conventions for
// generative AI. The backend sends the span's context on to the model's server.
func (r *Recorder) Backend(b summarizer.Backend) summarizer.Backend {
	if r == nil {
		return b
	}
	kind, model, _ := strings.Cut(b.Name(), ":")
	return &tracedBackend{Backend: b, tracer: r.tracer, provider: kind, model: model}
}

type tracedBackend struct {
	summarizer.Backend
	tracer          trace.Tracer
	provider, model string
}

// Complete implements [summarizer.Backend].
func (b *tracedBackend) Complete(ctx context.Context, prompt summarizer.Prompt, onText func(string)) (summarizer.Completion, error) {
	ctx, span := b.tracer.Start(within(ctx), GenAIChat+" "+b.model, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	if !span.IsRecording() {
		return b.Backend.Complete(ctx, prompt, onText)
	}
	span.SetAttributes(
		attribute.String(GenAIOperationName, GenAIChat), attribute.String(GenAIProviderName, b.provider),
		attribute.String(GenAIRequestModel, b.model), attribute.Int(GenAIRequestMaxTokens, prompt.MaxTokens))
	answer, err := b.Backend.Complete(ctx, prompt, onText)
	if answer.Model != "" {
		span.SetAttributes(attribute.String(GenAIResponseModel, answer.Model))
	}
	if answer.PromptTokens > 0 || answer.CompletionTokens > 0 {
		span.SetAttributes(attribute.Int(GenAIInputTokens, answer.PromptTokens), attribute.Int(GenAIOutputTokens, answer.CompletionTokens))
	}
	if answer.Finish != "" {
		span.SetAttributes(attribute.StringSlice(GenAIFinishReasons, []string{string(answer.Finish)}))
	}
	if err != nil {
		// The kind alone: a backend's error may quote its server.
		kind := "cancelled"
		if failed, ok := errors.AsType[*summarizer.BackendError](err); ok {
			kind = string(failed.Failure)
		}
		span.SetAttributes(attribute.String(ErrorType, kind))
		span.SetStatus(otelcodes.Error, kind)
	}
	return answer, err
}
