package wiredouble_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a test that takes its errors down instead of failing.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

const (
	openAIBody    = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"u"}]}`
	anthropicBody = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":"u"}]}]}`
)

func TestRequestsAreCheckedStrictly(t *testing.T) {
	for _, test := range []struct {
		name      string
		anthropic bool
		path      string
		header    map[string]string
		body      string
		want      string
	}{
		{name: "a good request", body: openAIBody},
		{name: "a good request of the other wire", anthropic: true, body: anthropicBody},
		{name: "another path", path: "/v1/responses", body: openAIBody, want: "path /v1/responses"},
		{name: "a query", path: "/v1/chat/completions?beta=true", body: openAIBody, want: "path"},
		{name: "no key", header: map[string]string{"Authorization": ""}, body: openAIBody, want: "the key"},
		{name: "another key", header: map[string]string{"Authorization": "Bearer x"}, body: openAIBody, want: "the key"},
		{name: "the key without its scheme", header: map[string]string{"Authorization": "key-of-the-double"}, body: openAIBody, want: "the key"},
		{name: "another content type", header: map[string]string{"Content-Type": "text/plain"}, body: openAIBody, want: "content type"},
		{name: "no version", anthropic: true, header: map[string]string{"Anthropic-Version": ""}, body: anthropicBody, want: "anthropic-version"},
		{name: "tools", body: strings.Replace(openAIBody, `{`, `{"tools":[],`, 1), want: "tools"},
		{name: "tools of the other wire", anthropic: true, body: strings.Replace(anthropicBody, `{`, `{"tools":[],`, 1), want: "tools"},
		{name: "a temperature", body: strings.Replace(openAIBody, `{`, `{"temperature":0,`, 1), want: "temperature"},
		{name: "no limit", body: strings.Replace(openAIBody, `"max_tokens":5,`, ``, 1), want: "no length limit"},
		{name: "two limits", body: strings.Replace(openAIBody, `{`, `{"max_completion_tokens":5,`, 1), want: "max_tokens and"},
		{name: "no limit of the other wire", anthropic: true, body: strings.Replace(anthropicBody, `5`, `0`, 1), want: "no length limit"},
		{name: "no model", body: strings.Replace(openAIBody, `"m"`, `""`, 1), want: "no model"},
		{name: "a tool message", body: strings.Replace(openAIBody, `user`, `tool`, 1), want: "messages other"},
		{name: "an assistant at the end", anthropic: true, body: strings.Replace(anthropicBody, `user`, `assistant`, 1), want: "messages other"},
		{name: "an empty text", anthropic: true, body: strings.Replace(anthropicBody, `"u"`, `""`, 1), want: "one block of text"},
		{name: "no JSON", body: "{", want: "body"},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := &recorder{TB: t}
			double, path := wiredouble.OpenAI(record, wiredouble.Text("x")), "/chat/completions"
			if test.anthropic {
				double, path = wiredouble.Anthropic(record, wiredouble.Text("x")), "/v1/messages"
			}
			url := double.URL + path
			if test.path != "" {
				url = strings.TrimSuffix(double.URL, "/v1") + test.path
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+double.Key)
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Anthropic-Version", "2026-10-21")
			for name, value := range test.header {
				request.Header.Set(name, value)
			}
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			response, err := (&http.Client{Transport: transport}).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			wantStatus := http.StatusOK
			if test.want != "" {
				wantStatus = http.StatusBadRequest
			}
			if response.StatusCode != wantStatus {
				t.Errorf("status %d, want %d", response.StatusCode, wantStatus)
			}
			if got := strings.Join(record.errors, "\n"); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("the test was told %q, want %q", got, test.want)
			}
		})
	}
}
