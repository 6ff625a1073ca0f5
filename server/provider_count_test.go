package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/tokens/provider"
	counting "github.com/elbowroom/elbowroom/tokens/provider/anthropic"
)

// countingAPI is Anthropic's endpoint on the loopback interface; it answers as it is told and keeps what it was sent.
type countingAPI struct {
	respond http.HandlerFunc
	leave   chan struct{}

	mu     sync.Mutex
	bodies []string
}

func (a *countingAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/messages/count_tokens" {
		http.NotFound(w, r)
		return
	}
	a.mu.Lock()
	a.bodies = append(a.bodies, string(body))
	a.mu.Unlock()
	a.respond(w, r)
}

func (a *countingAPI) received() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.bodies...)
}

// startWithProvider runs a server that may ask a stand-in for Anthropic.
func startWithProvider(t *testing.T, timeout time.Duration, respond http.HandlerFunc) (*fixture, *countingAPI) {
	t.Helper()
	api := &countingAPI{respond: respond, leave: make(chan struct{})}
	listening := httptest.NewServer(api)
	client := provider.NewHTTPClient(nil)
	t.Cleanup(func() {
		client.CloseIdleConnections()
		close(api.leave)
		listening.CloseClientConnections()
		listening.Close()
	})
	counts, err := provider.New(provider.Options{
		Timeout:  timeout,
		Backends: []provider.Backend{counting.New(counting.Options{Key: "sk-test", BaseURL: listening.URL, HTTP: client})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return start(t, func(o *server.Options) { o.Providers = counts }), api
}

func answerJSON(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const nativeClaude = `{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"How high is the water?"}]}`

func TestMethodProviderReturnsTheProvidersCount(t *testing.T) {
	f, api := startWithProvider(t, time.Minute, answerJSON(200, `{"input_tokens": 4711}`))
	local, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: anthropic(nativeClaude)})
	if err != nil {
		t.Fatal(err)
	}
	if got := api.received(); len(got) != 0 {
		t.Fatalf("the provider was asked although nobody asked for it: %q", got)
	}
	got, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{
		Conversation: anthropic(nativeClaude), Method: elbowroomv1.Method_METHOD_PROVIDER,
	})
	if err != nil {
		t.Fatal(err)
	}
	local.Tokens, local.LowerBound, local.UpperBound = 4711, 4711, 4711
	local.Method = elbowroomv1.Method_METHOD_PROVIDER
	local.Provider = &elbowroomv1.ProviderCount{Used: true, Name: "anthropic"}
	if diff := cmp.Diff(local, got, protocmp.Transform()); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	const body = `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"How high is the water?"}]}`
	if diff := cmp.Diff([]string{body}, api.received()); diff != "" {
		t.Errorf("the provider received (-want +got):\n%s", diff)
	}
	if log := f.log.String(); strings.Contains(log, "water") || strings.Contains(log, "sk-test") {
		t.Errorf("the log holds text or key:\n%s", log)
	}
}

func TestWhatTheProviderIsNotShownWidensTheBounds(t *testing.T) {
	f, _ := startWithProvider(t, time.Minute, answerJSON(200, `{"input_tokens": 4711}`))
	req := &elbowroomv1.CountTokensRequest{
		Conversation: openai(`[{"role":"user","name":"anna","content":"How high is the water?"}]`), Model: "claude-sonnet-4-5",
	}
	local, err := f.client.CountTokens(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	req.Method = elbowroomv1.Method_METHOD_PROVIDER
	got, err := f.client.CountTokens(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got.GetTokens() != 4711 || got.GetLowerBound() != local.GetLowerBound() || got.GetUpperBound() != 4711 {
		t.Errorf("%d tokens between %d and %d, want 4711 between %d and 4711",
			got.GetTokens(), got.GetLowerBound(), got.GetUpperBound(), local.GetLowerBound())
	}
	last := got.GetWarnings()[len(got.GetWarnings())-1]
	if last.GetCode() != provider.WarnLossy {
		t.Errorf("warnings %v have no %s", got.GetWarnings(), provider.WarnLossy)
	}
}

// TestMethodProviderFallsBack: whatever happens, the answer is the local one and says why.
func TestMethodProviderFallsBack(t *testing.T) {
	typed := &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{
		Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{Kind: &elbowroomv1.Block_Text{Text: "How high is the water?"}}},
	}}}
	for _, c := range []struct {
		name    string
		req     *elbowroomv1.CountTokensRequest
		respond http.HandlerFunc // nil: must not be asked
		hangs   bool
		want    *elbowroomv1.ProviderCount
	}{
		{
			name: "an error", req: &elbowroomv1.CountTokensRequest{Conversation: anthropic(nativeClaude)},
			respond: answerJSON(429, `{"error":{"type":"rate_limit_error"}}`),
			want:    &elbowroomv1.ProviderCount{Name: "anthropic", FallbackReason: "anthropic limits the rate (status 429)"},
		},
		{
			name: "garbage", req: &elbowroomv1.CountTokensRequest{Conversation: typed, Model: "claude-opus-4-8"},
			respond: answerJSON(200, `]`),
			want:    &elbowroomv1.ProviderCount{Name: "anthropic", FallbackReason: "anthropic answered with something that is no count"},
		},
		{
			name: "no answer", req: &elbowroomv1.CountTokensRequest{Conversation: anthropic(nativeClaude)}, hangs: true,
			want: &elbowroomv1.ProviderCount{Name: "anthropic", FallbackReason: "no answer from anthropic in time"},
		},
		{
			name: "another provider", req: &elbowroomv1.CountTokensRequest{Conversation: typed, Model: "gpt-4o"},
			want: &elbowroomv1.ProviderCount{Name: "openai", FallbackReason: "the server is not configured to ask openai"},
		},
		{
			name: "an unknown model", req: &elbowroomv1.CountTokensRequest{Conversation: typed, Model: "harbour-7b"},
			want: &elbowroomv1.ProviderCount{FallbackReason: "no provider is known for the model"},
		},
		{
			name: "a text", req: &elbowroomv1.CountTokensRequest{Text: new("How high is the water?"), Model: "claude-opus-4-8"},
			want: &elbowroomv1.ProviderCount{Name: "anthropic", FallbackReason: "providers count conversations, not plain texts"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var api *countingAPI
			timeout, respond := time.Minute, c.respond
			if c.hangs {
				timeout = 100 * time.Millisecond
				respond = func(_ http.ResponseWriter, r *http.Request) {
					select {
					case <-r.Context().Done():
					case <-api.leave:
					}
				}
			}
			f, stand := startWithProvider(t, timeout, respond)
			api = stand
			local, err := f.client.CountTokens(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			c.req.Method = elbowroomv1.Method_METHOD_PROVIDER
			got, err := f.client.CountTokens(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			local.Provider = c.want
			if diff := cmp.Diff(local, got, protocmp.Transform()); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			if c.respond == nil && !c.hangs && len(api.received()) > 0 {
				t.Error("the provider was asked")
			}
		})
	}
}

func TestMethodProviderOfAServerWithoutProviders(t *testing.T) {
	f := start(t, nil)
	got, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{
		Conversation: anthropic(nativeClaude), Method: elbowroomv1.Method_METHOD_PROVIDER,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &elbowroomv1.ProviderCount{Name: "anthropic", FallbackReason: "the server is not configured to ask anthropic"}
	if diff := cmp.Diff(want, got.GetProvider(), protocmp.Transform()); diff != "" {
		t.Errorf("provider (-want +got):\n%s", diff)
	}
}
