package endpoint

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/summarizer"
)

// TestErrorsOfManyServersAreUnderstood holds bodies as servers send them.
func TestErrorsOfManyServersAreUnderstood(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   summarizer.Failure
		text   string
	}{
		{
			"OpenAI, context", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
			summarizer.FailureTooLarge, "Bad Request: invalid_request_error, context_length_exceeded, messages",
		},
		{
			"OpenAI, context in words only", 400, `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":null}}`,
			summarizer.FailureTooLarge, "Bad Request: invalid_request_error, input",
		},
		{
			"Anthropic, context", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
			summarizer.FailureTooLarge, "Bad Request: invalid_request_error",
		},
		{
			"Anthropic, prompt and answer", 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000\"}}",
			summarizer.FailureTooLarge, "Bad Request: invalid_request_error",
		},
		{
			"Anthropic, only the answer", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"}}`,
			summarizer.FailureBadRequest, "Bad Request: invalid_request_error",
		},
		{
			"Anthropic, 413", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
			summarizer.FailureTooLarge, "Request Entity Too Large: request_too_large",
		},
		{
			"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`,
			summarizer.FailureTooLarge, "Bad Request",
		},
		{
			"vLLM, older", 400, `{"object":"error","message":"The prompt is longer than the maximum model length of 4096","type":"invalid_request_error","code":null}`,
			summarizer.FailureTooLarge, "Bad Request: invalid_request_error",
		},
		{
			"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`,
			summarizer.FailureTooLarge, "Bad Request: exceed_context_size_error",
		},
		{
			"llama-cpp-python", 400, `{"error":{"message":"Requested tokens (3000) exceed context window of 2048","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
			summarizer.FailureTooLarge, "Bad Request: invalid_request_error, context_length_exceeded, messages",
		},
		{
			"llama-cpp-python, 500", 500, `{"error":{"message":"Requested tokens (3000) exceed context window of 2048","type":"internal_server_error"}}`,
			summarizer.FailureTooLarge, "Internal Server Error: internal_server_error",
		},
		{
			"Gemini's endpoint, a list", 400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`,
			summarizer.FailureTooLarge, "Bad Request: INVALID_ARGUMENT",
		},
		{"Gemini's endpoint, key", 400, `[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]`, summarizer.FailureBadRequest, "Bad Request: INVALID_ARGUMENT"},
		{
			"Text Generation Inference", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens\",\"error_type\":\"validation\"}",
			summarizer.FailureTooLarge, "Unprocessable Entity: validation",
		},
		{"Ollama", 404, `{"error":"model 'x' not found"}`, summarizer.FailureNotFound, "Not Found"},
		{"FastAPI", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}`, summarizer.FailureBadRequest, "Unprocessable Entity"},
		{"a model by name in a 400", 400, `{"error":{"message":"no","type":"invalid_request_error","code":"model_not_found"}}`, summarizer.FailureNotFound, "Bad Request: invalid_request_error, model_not_found"},
		{"quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, summarizer.FailureQuota, "Too Many Requests: insufficient_quota, insufficient_quota"},
		{"a gateway's page", 502, "<html>Bad Gateway</html>", summarizer.FailureOverloaded, "Bad Gateway"},
		{"Anthropic overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, summarizer.FailureOverloaded, "the server answered with an error: overloaded_error"},
		{"a teapot", 418, ``, summarizer.FailureBadRequest, "I'm a teapot"},
		{"keys are no names", 401, `{"error":{"message":"sk-abc","type":"sk-proj-abcDEF123","code":"sk_live_9x","param":"Bearer abc"}}`, summarizer.FailureAuth, "Unauthorized"},
		{"in a 200, by name", 200, `{"error":{"type":"rate_limit_error","message":"x"}}`, summarizer.FailureRateLimited, "the server answered with an error: rate_limit_error"},
		{"in a 200, by number", 200, `{"error":{"code":503,"message":"x"}}`, summarizer.FailureOverloaded, "Service Unavailable"},
		{"in a 200, unknown", 200, `{"error":"what?"}`, summarizer.FailureBadResponse, "the server answered with an error"},
		{"numbers that are no statuses", 200, `{"error":{"code":99999999999999999999,"message":"x"}}`, summarizer.FailureBadResponse, "the server answered with an error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := statusError(test.status, http.Header{}, []byte(test.body))
			if got.Failure != test.want || got.Err.Error() != test.text {
				t.Errorf("got %s, %q; want %s, %q", got.Failure, got.Err, test.want, test.text)
			}
		})
	}
}

func TestRetryAfterIsReadInEveryForm(t *testing.T) {
	date := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, ms, after, date string
		want                  time.Duration
	}{
		{name: "none"},
		{name: "seconds", after: "7", want: 7 * time.Second},
		{name: "fractions", after: "0.5", want: 500 * time.Millisecond},
		{name: "milliseconds win", ms: "250", after: "7", want: 250 * time.Millisecond},
		{name: "a date", after: date.Add(time.Minute).Format(http.TimeFormat), date: date.Format(http.TimeFormat), want: time.Minute},
		{name: "a date that has passed", after: date.Add(-time.Minute).Format(http.TimeFormat), date: date.Format(http.TimeFormat)},
		{name: "a date that has passed, from a server without a clock", after: "Wed, 01 Jan 2020 00:00:00 GMT"},
		{name: "below zero", after: "-3"},
		{name: "not a number", after: "NaN"},
		{name: "words", after: "soon"},
		{name: "for ever", after: "1e300", want: 24 * time.Hour},
		{name: "infinity", ms: "Inf", want: 24 * time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			header := http.Header{}
			header.Set("Retry-After-Ms", test.ms)
			header.Set("Retry-After", test.after)
			header.Set("Date", test.date)
			if got := RetryAfter(header); got != test.want {
				t.Errorf("RetryAfter = %v, want %v", got, test.want)
			}
		})
	}
}

func TestAboutTakesWholeNames(t *testing.T) {
	for _, test := range []struct {
		body, field string
		want        bool
	}{
		{`{"error":{"param":"max_tokens"}}`, "max_tokens", true},
		{`{"error":{"param":"stream_options.include_usage"}}`, "stream_options", true},
		{`{"error":{"message":"use max_completion_tokens"}}`, "max_tokens", false},
		{`{"error":{"message":"max_completion_tokens, not max_tokens"}}`, "max_tokens", true},
		{`{"error":"'max_tokens'"}`, "max_tokens", true},
		{`max_tokens`, "max_tokens", false},
	} {
		if got := parseRefusal(400, []byte(test.body)).About(test.field); got != test.want {
			t.Errorf("%s: About(%s) = %v", test.body, test.field, got)
		}
	}
}

func FuzzErrorsNeverQuote(f *testing.F) {
	for _, body := range []string{
		`{"error":{"message":"SECRET-1","type":"x","code":"y","param":"z"}}`, `[{"error":"SECRET-1"}]`, `{"detail":"SECRET-1"}`,
		`{"error":{"type":{"a":[1]},"code":1e999}}`, `SECRET-1`, ``, `[[[[`,
	} {
		f.Add(400, body)
		f.Add(200, body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		got := statusError(status, http.Header{}, []byte(body))
		if got.Failure == "" {
			t.Error("a failure without a kind")
		}
		if text := got.Error(); strings.Contains(text, "SECRET-1") {
			t.Errorf("the error quotes the body: %s", text)
		}
	})
}
