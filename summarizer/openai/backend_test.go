package openai_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/internal/backendtest"
	"github.com/elbowroom/elbowroom/summarizer/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newBackend(tb testing.TB, double *wiredouble.Double) summarizer.Backend {
	tb.Helper()
	return newModel(tb, double, "small-model")
}

func newModel(tb testing.TB, double *wiredouble.Double, model string) summarizer.Backend {
	tb.Helper()
	backend, err := openai.New(openai.Options{Model: model, BaseURL: double.URL, APIKey: double.Key})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = backend.Close() })
	return backend
}

var prompt = summarizer.Prompt{System: "s", User: "u", MaxTokens: 50}

func TestEveryAnswerOfTheWireHasItsOutcome(t *testing.T) {
	backendtest.Run(t, backendtest.Backend{Double: wiredouble.OpenAI, New: newBackend})
}

func TestTheEnvironmentIsNotReadAndNoKeyMeansNoHeader(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-From-Environment: yes")
	double := wiredouble.OpenAI(t, wiredouble.Text("x"))
	double.Key = ""
	if _, err := newBackend(t, double).Complete(t.Context(), prompt, nil); err != nil {
		t.Fatal(err)
	}
	header := double.Requests()[0].Header
	if header.Get("X-From-Environment") != "" || header.Get("Authorization") != "" {
		t.Error("a header came from the environment")
	}
}

// refusal is a 400 about one field.
func refusal(message, param, code string) wiredouble.Step {
	return wiredouble.Raw(400, "application/json",
		`{"error":{"message":"`+message+`","type":"invalid_request_error","param":`+param+`,"code":`+code+`}}`)
}

func TestAServerThatNamesAFieldItDoesNotTakeIsAskedWithoutIt(t *testing.T) {
	noLimit := refusal("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
		`"max_tokens"`, `"unsupported_parameter"`)
	noNewLimit := wiredouble.Raw(400, "application/json", `{"error":"unknown field max_completion_tokens"}`)
	noUsage := wiredouble.Raw(422, "application/json",
		`{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`)
	tooLarge := refusal("max_tokens is too large: 50. This model supports at most 16.", `"max_tokens"`, `"invalid_value"`)
	type sent struct {
		Field string
		Usage bool
	}
	for _, test := range []struct {
		name   string
		model  string
		stream bool
		steps  []wiredouble.Step
		want   []sent
		failed bool
	}{
		{
			name: "the old limit is refused", model: "m", steps: []wiredouble.Step{noLimit, wiredouble.Text("x")},
			// The call after that knows.
			want: []sent{{"max_tokens", false}, {"max_completion_tokens", false}, {"max_completion_tokens", false}},
		},
		{
			name: "the new limit is refused", model: "gpt-5-mini", steps: []wiredouble.Step{noNewLimit, wiredouble.Text("x")},
			want: []sent{{"max_completion_tokens", false}, {"max_tokens", false}, {"max_tokens", false}},
		},
		{
			name: "usage in streams is refused", model: "m", stream: true, steps: []wiredouble.Step{noUsage, wiredouble.Text("x")},
			want: []sent{{"max_tokens", true}, {"max_tokens", false}, {"max_tokens", false}},
		},
		{
			name: "both are refused", model: "m", stream: true, steps: []wiredouble.Step{noLimit, noUsage, wiredouble.Text("x")},
			want: []sent{
				{"max_tokens", true}, {"max_completion_tokens", true}, {"max_completion_tokens", false},
				{"max_completion_tokens", false},
			},
		},
		{
			name: "a refusal for ever", model: "m", steps: []wiredouble.Step{noLimit}, failed: true,
			// Nothing is remembered of what did not help.
			want: []sent{{"max_tokens", false}, {"max_completion_tokens", false}, {"max_tokens", false}, {"max_completion_tokens", false}},
		},
		{
			name: "the size is refused, not the field", model: "m", steps: []wiredouble.Step{tooLarge}, failed: true,
			want: []sent{{"max_tokens", false}, {"max_tokens", false}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			double := wiredouble.OpenAI(t, test.steps...)
			backend := newModel(t, double, test.model)
			var onText func(string)
			if test.stream {
				onText = func(string) {}
			}
			for range 2 {
				_, err := backend.Complete(t.Context(), prompt, onText)
				var failed *summarizer.BackendError
				if test.failed && (!errors.As(err, &failed) || failed.Failure != summarizer.FailureBadRequest) || !test.failed && err != nil {
					t.Fatalf("got %v", err)
				}
			}
			var got []sent
			for _, request := range double.Requests() {
				got = append(got, sent{request.LimitField, request.Usage})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStreamThatEndsBeforeItBeganIsAskedForInOnePiece(t *testing.T) {
	nothing := wiredouble.Raw(200, "text/event-stream", "")
	for _, test := range []struct {
		name    string
		then    wiredouble.Step
		text    string
		failure summarizer.Failure
	}{
		{"and that says why", wiredouble.ContextLength(), "", summarizer.FailureTooLarge},
		{"and that answers", wiredouble.Text("x"), "x", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			double := wiredouble.OpenAI(t, nothing, test.then)
			var pieces string
			got, err := newBackend(t, double).Complete(t.Context(), prompt, func(piece string) { pieces += piece })
			var failed *summarizer.BackendError
			if errors.As(err, &failed) != (test.failure != "") || failed != nil && failed.Failure != test.failure {
				t.Errorf("got %v, want %q", err, test.failure)
			}
			if got.Text != test.text || pieces != test.text {
				t.Errorf("text %q, pieces %q", got.Text, pieces)
			}
			if requests := double.Requests(); len(requests) != 2 || requests[1].Stream {
				t.Errorf("%d requests, the second streams", len(requests))
			}
		})
	}
}

func TestReasoningModelsGetTheNewLimit(t *testing.T) {
	for model, want := range map[string]string{
		"gpt-5": "max_completion_tokens", "gpt-5.1-mini": "max_completion_tokens", "o3": "max_completion_tokens",
		"o4-mini": "max_completion_tokens", "openai/gpt-5-mini": "max_completion_tokens", "gpt-10-nano": "max_completion_tokens",
		"gpt-4o": "max_tokens", "gpt-4.1-mini": "max_tokens", "olmo-2": "max_tokens", "qwen3:8b": "max_tokens",
		"gpt-oss-20b": "max_tokens", "gemini-2.5-flash": "max_tokens", "o300b-chat/llama": "max_tokens",
	} {
		t.Run(model, func(t *testing.T) {
			double := wiredouble.OpenAI(t, wiredouble.Text("x"))
			if _, err := newModel(t, double, model).Complete(t.Context(), prompt, nil); err != nil {
				t.Fatal(err)
			}
			if got := double.Requests()[0].LimitField; got != want {
				t.Errorf("the limit is in %s, want %s", got, want)
			}
		})
	}
}

// TestServersThatDoItTheirWay holds what was seen of servers other than OpenAI's.
func TestServersThatDoItTheirWay(t *testing.T) {
	document := func(message, finish string) wiredouble.Step {
		return wiredouble.Raw(200, "application/json", `{"choices":[{"index":0,"finish_reason":`+finish+`,"message":`+message+`}]}`)
	}
	stream := func(events ...string) wiredouble.Step {
		body := ""
		for _, event := range events {
			body += "data: " + event + "\n\n"
		}
		return wiredouble.Raw(200, "text/event-stream", body)
	}
	ok := func(text string, finish summarizer.Finish) summarizer.Completion {
		return summarizer.Completion{Text: text, Finish: finish}
	}
	for _, test := range []struct {
		name    string
		step    wiredouble.Step
		stream  bool
		want    summarizer.Completion
		failure summarizer.Failure
		status  int
	}{
		{
			name: "content as a list of parts",
			step: document(`{"content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `"stop"`),
			want: ok("ab", summarizer.FinishStop),
		},
		{name: "an end with no reason", step: document(`{"content":"a"}`, `null`), want: ok("a", summarizer.FinishOther)},
		{name: "eos", step: document(`{"content":"a"}`, `"eos"`), want: ok("a", summarizer.FinishStop)},
		{name: "MAX_TOKENS", step: document(`{"content":"a"}`, `"MAX_TOKENS"`), want: ok("a", summarizer.FinishLength)},
		{
			name: "a tool call beside text", step: document(`{"content":"a","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`, `"stop"`),
			want: ok("a", summarizer.FinishStop),
		},
		{name: "an empty list of choices", step: wiredouble.Raw(200, "application/json", `{"choices":[]}`), failure: summarizer.FailureBadResponse},
		{
			name: "an error with a number in a 200", step: wiredouble.Raw(200, "application/json", `{"error":{"code":429,"message":"slow down"}}`),
			failure: summarizer.FailureRateLimited, status: 429,
		},
		{
			name: "an error in a choice", step: wiredouble.Raw(200, "application/json",
				`{"choices":[{"index":0,"finish_reason":"error","message":{"content":"half"},"error":{"code":502,"message":"upstream"}}]}`),
			failure: summarizer.FailureOverloaded, status: 502,
		},
		{name: "Ollama's 404", step: wiredouble.Raw(404, "application/json", `{"error":"model 'x' not found"}`), failure: summarizer.FailureNotFound, status: 404},
		{
			name: "no credit left", step: wiredouble.Raw(429, "application/json", `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`),
			failure: summarizer.FailureQuota, status: 429,
		},
		{
			name: "a stream without its end marker", stream: true, step: stream(
				`{"choices":[{"index":0,"delta":{"content":"a"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`),
			want: ok("a", summarizer.FinishStop),
		},
		{
			name: "an end marker without a finish", stream: true, step: stream(`{"choices":[{"index":0,"delta":{"content":"a"}}]}`, `[DONE]`),
			failure: summarizer.FailureNetwork,
		},
		{
			name: "a second choice is not mixed in", stream: true, step: stream(
				`{"choices":[{"index":0,"delta":{"content":"a"}}]}`, `{"choices":[{"index":1,"delta":{"content":"B"}}]}`,
				`{"choices":[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}]}`, `[DONE]`),
			want: ok("ac", summarizer.FinishStop),
		},
		{
			name: "deltas as lists of parts", stream: true, step: stream(
				`{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"a"}]}}]}`,
				`{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[]}]},"finish_reason":"stop"}]}`, `[DONE]`),
			want: ok("a", summarizer.FinishStop),
		},
		{
			name: "the prompt does not fit, in the middle of a stream", stream: true,
			step:    stream(`{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`),
			failure: summarizer.FailureTooLarge, status: 400,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			double := wiredouble.OpenAI(t, test.step)
			var onText func(string)
			if test.stream {
				onText = func(string) {}
			}
			got, err := newBackend(t, double).Complete(t.Context(), prompt, onText)
			if test.failure == "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return
			}
			var failed *summarizer.BackendError
			if !errors.As(err, &failed) || failed.Failure != test.failure || failed.Status != test.status {
				t.Errorf("got %v, want %s with status %d", err, test.failure, test.status)
			}
		})
	}
}
