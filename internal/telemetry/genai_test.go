package telemetry

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

func TestSummarizerCallsAreLoggedByTheConventionsNames(t *testing.T) {
	for _, x := range []struct {
		name string
		seen ladder.Observation
		want map[string]any
	}{
		{
			name: "a summary",
			seen: ladder.Observation{
				Rung: "openai:gpt-5-mini", Model: "gpt-5-mini-2026", Attempts: 2, PromptTokens: 900, CompletionTokens: 80,
				Duration: 1500 * time.Microsecond,
			},
			want: map[string]any{
				"level": "DEBUG", "msg": "summarizer",
				"elbowroom.summarizer.rung": "openai:gpt-5-mini", "elbowroom.summarizer.attempts": 2.0,
				"elbowroom.summarizer.reused": false, "elbowroom.summarizer.time_ms": 1.5,
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5-mini",
				"gen_ai.response.model": "gpt-5-mini-2026", "gen_ai.usage.input_tokens": 900.0, "gen_ai.usage.output_tokens": 80.0,
			},
		},
		{
			name: "a failure of the embedded one",
			seen: ladder.Observation{Rung: "extractive", Code: ladder.CodeFailed, Reason: "why"},
			want: map[string]any{
				"level": "WARN", "msg": "summarizer",
				"elbowroom.summarizer.rung": "extractive", "elbowroom.summarizer.attempts": 0.0,
				"elbowroom.summarizer.reused": false, "elbowroom.summarizer.time_ms": 0.0,
				"error.type": "failed", "elbowroom.summarizer.reason": "why",
			},
		},
		{
			name: "a request with no room for a summary",
			seen: ladder.Observation{Rung: "extractive", Code: ladder.CodeBudgetTooSmall, Reason: "why"},
			want: map[string]any{
				"level": "DEBUG", "msg": "summarizer",
				"elbowroom.summarizer.rung": "extractive", "elbowroom.summarizer.attempts": 0.0,
				"elbowroom.summarizer.reused": false, "elbowroom.summarizer.time_ms": 0.0,
				"error.type": "budget_too_small", "elbowroom.summarizer.reason": "why",
			},
		},
		{
			name: "a caller who went away",
			seen: ladder.Observation{Rung: "extractive", Code: ladder.CodeCancelled, Reason: "context canceled"},
			want: map[string]any{
				"level": "DEBUG", "msg": "summarizer",
				"elbowroom.summarizer.rung": "extractive", "elbowroom.summarizer.attempts": 0.0,
				"elbowroom.summarizer.reused": false, "elbowroom.summarizer.time_ms": 0.0,
				"error.type": "cancelled", "elbowroom.summarizer.reason": "context canceled",
			},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			LogSummarizerCalls(log)(t.Context(), x.seen)
			var got map[string]any
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			delete(got, "time")
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
