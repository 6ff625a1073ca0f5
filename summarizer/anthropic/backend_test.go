package anthropic_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/anthropic"
	"github.com/elbowroom/elbowroom/summarizer/internal/backendtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newBackend(tb testing.TB, double *wiredouble.Double) summarizer.Backend {
	tb.Helper()
	backend, err := anthropic.New(anthropic.Options{Model: "claude-haiku-4-5", BaseURL: double.URL, APIKey: double.Key})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = backend.Close() })
	return backend
}

func TestEveryAnswerOfTheWireHasItsOutcome(t *testing.T) {
	backendtest.Run(t, backendtest.Backend{Double: wiredouble.Anthropic, New: newBackend})
}

func TestAVeryLongAnswerIsStreamedEvenWhenNobodyListens(t *testing.T) {
	double := wiredouble.Anthropic(t, wiredouble.Text("## Goal\nx"))
	completion, err := newBackend(t, double).Complete(t.Context(), summarizer.Prompt{User: "u", MaxTokens: 64_000}, nil)
	if err != nil || completion.Text != "## Goal\nx" {
		t.Fatalf("got %v, %v", completion, err)
	}
	if request := double.Requests()[0]; !request.Stream || request.System != "" {
		t.Errorf("stream %v, system %q; the SDK refuses to wait for such an answer in one piece", request.Stream, request.System)
	}
}

func TestTheEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-From-Environment: yes")
	double := wiredouble.Anthropic(t, wiredouble.Text("x"))
	if _, err := newBackend(t, double).Complete(t.Context(), summarizer.Prompt{User: "u", MaxTokens: 5}, nil); err != nil {
		t.Fatal(err)
	}
	double.Key = ""
	if _, err := newBackend(t, double).Complete(t.Context(), summarizer.Prompt{User: "u", MaxTokens: 5}, nil); err != nil {
		t.Fatal(err)
	}
	for _, request := range double.Requests() {
		if request.Header.Get("X-From-Environment") != "" {
			t.Error("a header came from the environment")
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, options := range map[string]anthropic.Options{
		"names no model":      {},
		"the scheme":          {Model: "m", BaseURL: "ftp://host"},
		"a user or password":  {Model: "m", BaseURL: "https://user:hunter2@host"},
		"no host":             {Model: "m", BaseURL: "https:///v1"},
		"a query":             {Model: "m", BaseURL: "https://host/?key=hunter2"},
		"cannot be parsed":    {Model: "m", BaseURL: "https://host:hunter2/"},
		"the scheme \"host\"": {Model: "m", BaseURL: "host:443"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := anthropic.New(options)
			if err == nil || name != "names no model" && !strings.Contains(err.Error(), name) {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error quotes a secret: %v", err)
			}
		})
	}
	backend, err := anthropic.New(anthropic.Options{Model: "claude-haiku-4-5"})
	if err != nil {
		t.Fatal(err)
	}
	if got := backend.Name(); got != "anthropic:claude-haiku-4-5" {
		t.Errorf("Name() = %q", got)
	}
}
