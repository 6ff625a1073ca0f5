package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/tokens"
)

// TestKeysAndAddressesOfProvidersComeFromTheEnvironment asks each provider at an address of this machine.
func TestKeysAndAddressesOfProvidersComeFromTheEnvironment(t *testing.T) {
	var got string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.Path + " " + r.Header.Get("Authorization") + r.Header.Get("X-Goog-Api-Key")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"input_tokens": 3, "totalTokens": 3}`)
	}))
	t.Cleanup(api.Close)
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	c, failed := conversation.Parse(conversation.FormatOpenAIChat, `[{"role":"user","content":"hi"}]`, conversation.Limits{})
	if failed != nil {
		t.Fatal(failed)
	}
	all := config.Count{Providers: []string{"anthropic", "openai", "gemini"}}
	for _, tt := range []struct {
		name, model string
		providers   config.Count
		environ     map[string]string
		want        string // what the server saw
		reason      string
	}{
		{
			name: "anthropic", model: "claude-opus-4-8", providers: all,
			environ: map[string]string{"ANTHROPIC_API_KEY": "a", "ANTHROPIC_BASE_URL": api.URL},
			want:    "/v1/messages/count_tokens Bearer a",
		},
		{
			name: "openai", model: "gpt-4o", providers: all,
			environ: map[string]string{"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": api.URL + "/v1"},
			want:    "/v1/responses/input_tokens Bearer o",
		},
		{
			name: "gemini", model: "gemini-2.5-pro", providers: all,
			environ: map[string]string{"GEMINI_API_KEY": "g", "GOOGLE_GEMINI_BASE_URL": api.URL},
			want:    "/v1beta/models/gemini-2.5-pro:countTokens g",
		},
		{
			name: "gemini by Google's variable", model: "gemini-2.5-pro", providers: all,
			environ: map[string]string{"GEMINI_API_KEY": "g", "GOOGLE_API_KEY": "first", "GOOGLE_GEMINI_BASE_URL": api.URL},
			want:    "/v1beta/models/gemini-2.5-pro:countTokens first",
		},
		{name: "no key of anthropic", model: "claude-opus-4-8", providers: all, reason: "no key for anthropic: ANTHROPIC_API_KEY is not set"},
		{name: "no key of openai", model: "gpt-4o", providers: all, reason: "no key for openai: OPENAI_API_KEY is not set"},
		{name: "no key of gemini", model: "gemini-2.5-pro", providers: all, reason: "no key for google: GEMINI_API_KEY is not set"},
		{
			name: "a key alone switches nothing on", model: "gpt-4o", environ: map[string]string{"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": api.URL},
			reason: "the server is not configured to ask openai",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got = ""
			counter, err := providerCounts(t.Context(), tt.providers, func(name string) string { return tt.environ[name] })
			if err != nil {
				t.Fatal(err)
			}
			reason := ""
			if _, err := counter.Count(t.Context(), c, registry.Lookup(tt.model)); err != nil {
				reason = err.Error()
			}
			if got != tt.want || reason != tt.reason {
				t.Errorf("the server saw %q, want %q; reason %q, want %q", got, tt.want, reason, tt.reason)
			}
		})
	}
}
