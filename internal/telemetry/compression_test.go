package telemetry

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// tracedCall returns a recorder, a call to record in, and what ends the call and returns
// its spans in the order of their ends.
func tracedCall(t *testing.T) (r *Recorder, ctx context.Context, end func() []sdktrace.ReadOnlySpan) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	r, err := NewRecorder(RecorderOptions{Tracer: provider})
	if err != nil {
		t.Fatal(err)
	}
	ctx, call := provider.Tracer("test").Start(t.Context(), "call")
	return r, ctx, func() []sdktrace.ReadOnlySpan {
		call.End()
		return spans.Ended()
	}
}

// lines writes spans as name, parent's name and the attributes asked for.
func lines(spans []sdktrace.ReadOnlySpan, keys ...string) []string {
	names := map[trace.SpanID]string{}
	for _, s := range spans {
		names[s.SpanContext().SpanID()] = s.Name()
	}
	var out []string
	for _, s := range spans {
		text := s.Name() + " < " + names[s.Parent().SpanID()]
		set := attribute.NewSet(s.Attributes()...)
		for _, key := range keys {
			if v, ok := set.Value(attribute.Key(key)); ok {
				text += " " + key + "=" + v.String()
			}
		}
		out = append(out, text)
	}
	return out
}

func TestEveryPhaseIsASpanThatEndsWhereTheNextBegins(t *testing.T) {
	r, ctx, end := tracedCall(t)
	inside, c := r.Compression(ctx, &conversation.Conversation{Source: "12345", Messages: make([]conversation.Message, 3)})
	c.Progress(compressor.Progress{Phase: compressor.PhaseCounting})
	c.Progress(compressor.Progress{Phase: compressor.PhasePlanning, Tokens: 900})
	// A rung that was skipped without being announced, and one that was announced.
	r.Summarizer(inside, ladder.Observation{Rung: "openai:a", Code: ladder.CodeCoolingDown, Duration: time.Millisecond}, nil)
	c.Progress(compressor.Progress{Phase: compressor.PhaseSummarizing, Tokens: 900, Summarized: 500, Summarizer: "openai:b"})
	backend := r.Backend(&backend{name: "openai:b", answer: summarizer.Completion{Text: "SECRET", Model: "b-1", PromptTokens: 10, CompletionTokens: 2, Finish: summarizer.FinishStop}})
	if _, err := backend.Complete(inside, summarizer.Prompt{System: "SECRET", User: "SECRET", MaxTokens: 77}, nil); err != nil {
		t.Fatal(err)
	}
	r.Summarizer(inside, ladder.Observation{Rung: "openai:b", Attempts: 1}, nil)
	c.Progress(compressor.Progress{Phase: compressor.PhaseAssembling, Tokens: 900})
	c.End(&compressor.Result{Outcome: compressor.OutcomeCompressed, Report: compressor.Report{TokensBefore: 900, TokensAfter: 300, Rung: compressor.RungLLM}}, compressor.LayerAgent, nil)
	spans := end()
	want := []string{
		"compress counting < call",
		"compress summarizing < call elbowroom.outcome=failed elbowroom.rung=openai:a error.type=cooling_down",
		"compress planning < call elbowroom.tokens=900",
		`chat b < compress summarizing gen_ai.request.max_tokens=77 gen_ai.usage.input_tokens=10 gen_ai.response.finish_reasons=["stop"]`,
		"compress summarizing < call elbowroom.outcome=summary elbowroom.rung=openai:b elbowroom.tokens=900",
		"compress assembling < call elbowroom.tokens=900",
		"call <  elbowroom.outcome=compressed elbowroom.rung=llm elbowroom.tokens=900 elbowroom.tokens_after=300 elbowroom.messages=3 elbowroom.bytes=5",
	}
	got := lines(spans, attrOutcome, attrRung, attrTokens, attrTokensAfter, attrMessages, attrBytes, ErrorType, GenAIRequestMaxTokens, GenAIInputTokens, GenAIFinishReasons)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, s := range spans {
		for _, kv := range s.Attributes() {
			if strings.Contains(kv.Value.String(), "SECRET") {
				t.Errorf("%s tells %s", s.Name(), kv.Key)
			}
		}
	}
}

// What a backend's server wrote is not told, only the kind of the failure.
func TestAFailedCallOfAModelTellsItsKindAlone(t *testing.T) {
	for _, x := range []struct {
		err  error
		want string
	}{
		{&summarizer.BackendError{Failure: summarizer.FailureOverloaded, Status: 503, Err: errors.New("SECRET")}, "overloaded"},
		{context.Canceled, "cancelled"},
	} {
		r, ctx, end := tracedCall(t)
		if _, err := r.Backend(&backend{name: "openai:b", err: x.err}).Complete(ctx, summarizer.Prompt{}, nil); !errors.Is(err, x.err) {
			t.Errorf("the error became %v", err)
		}
		span := end()[0]
		if got := lines([]sdktrace.ReadOnlySpan{span}, ErrorType)[0]; got != "chat b <  error.type="+x.want {
			t.Errorf("%s", got)
		}
		if got := span.Status().Description; got != x.want {
			t.Errorf("status %q", got)
		}
	}
}

// backend is a language model that always says the same.
type backend struct {
	name   string
	answer summarizer.Completion
	err    error
}

func (b *backend) Name() string { return b.name }

func (b *backend) Complete(context.Context, summarizer.Prompt, func(string)) (summarizer.Completion, error) {
	return b.answer, b.err
}
