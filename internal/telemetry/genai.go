package telemetry

import (
	"context"
	"log/slog"

	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// Names of what is told of a call to a language model, from OpenTelemetry's semantic
// conventions for generative AI, version 1.38. They are pinned here and nowhere
// else; those that begin with elbowroom are the service's own.
const (
	GenAIOperationName    = "gen_ai.operation.name"          // always [GenAIChat]
	GenAIProviderName     = "gen_ai.provider.name"           // the rung's kind: openai, anthropic, plugin
	GenAIRequestModel     = "gen_ai.request.model"           // the model that was asked
	GenAIRequestMaxTokens = "gen_ai.request.max_tokens"      // the bound on the answer
	GenAIFinishReasons    = "gen_ai.response.finish_reasons" // why the answer ended
	GenAIResponseModel    = "gen_ai.response.model"          // the model that answered
	GenAIInputTokens      = "gen_ai.usage.input_tokens"      // tokens billed for the prompt
	GenAIOutputTokens     = "gen_ai.usage.output_tokens"     // tokens billed for the answer
	ErrorType             = "error.type"                     // the failure's stable word

	SummarizerRung     = "elbowroom.summarizer.rung"     // the rung's whole name
	SummarizerReason   = "elbowroom.summarizer.reason"   // the failure, for people, without conversation text
	SummarizerAttempts = "elbowroom.summarizer.attempts" // calls made, retries included
	SummarizerReused   = "elbowroom.summarizer.reused"   // a finished summary was found again or shared
	SummarizerMillis   = "elbowroom.summarizer.time_ms"  // how long the request waited, in milliseconds

	// GenAIChat is the operation: one prompt, one answer.
	GenAIChat = "chat"
)

// LogSummarizerCalls returns an observer that writes a log line for each rung that
// was tried: debug for a summary or a caller who went away, warn for a failure.
func LogSummarizerCalls(log *slog.Logger) func(ctx context.Context, o ladder.Observation) {
	return func(ctx context.Context, o ladder.Observation) {
		provider, model := o.Backend()
		attrs := []slog.Attr{
			slog.String(SummarizerRung, o.Rung),
			slog.Int(SummarizerAttempts, o.Attempts),
			slog.Bool(SummarizerReused, o.Reused),
			slog.Float64(SummarizerMillis, float64(o.Duration.Microseconds())/1000),
		}
		if model != "" {
			attrs = append(attrs,
				slog.String(GenAIOperationName, GenAIChat),
				slog.String(GenAIProviderName, provider),
				slog.String(GenAIRequestModel, model),
				slog.String(GenAIResponseModel, o.Model),
				slog.Int(GenAIInputTokens, o.PromptTokens),
				slog.Int(GenAIOutputTokens, o.CompletionTokens))
		}
		level := slog.LevelDebug
		switch o.Code {
		case "", ladder.CodeCancelled, ladder.CodeBudgetTooSmall, ladder.CodeNothingToSay: // say something about the request alone
		default:
			level = slog.LevelWarn
		}
		if o.Code != "" {
			attrs = append(attrs, slog.String(ErrorType, o.Code), slog.String(SummarizerReason, o.Reason))
		}
		log.LogAttrs(ctx, level, "summarizer", attrs...)
	}
}
