package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"google.golang.org/genai"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
	"github.com/elbowroom/elbowroom/tokens/provider"
	"github.com/elbowroom/elbowroom/tokens/provider/wire"
)

// Name is the provider's name in the model registry.
const Name = "google"

// DefaultBaseURL is the address of the Gemini API. It is written out so that the SDK does not take one from its own variables.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/"

// Options configure a [Backend].
type Options struct {
	// Key is the API key. Required.
	Key string
	// BaseURL replaces DefaultBaseURL when it is not empty.
	BaseURL string
	// HTTP is a client of [provider.NewHTTPClient]. Required.
	HTTP *http.Client
}

// Backend implements [provider.Backend].
type Backend struct{ models *genai.Models }

// New returns a backend. The SDK would need the context for fetching credentials, which a key makes needless. The error says that the SDK refused the options, without naming them.
func New(ctx context.Context, o Options) (*Backend, error) {
	if o.Key == "" {
		return nil, errors.New("gemini: no key")
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: o.Key, Backend: genai.BackendGeminiAPI, HTTPClient: o.HTTP, HTTPOptions: genai.HTTPOptions{BaseURL: o.BaseURL},
	})
	if err != nil {
		return nil, errors.New("gemini: the SDK refused the options") // its text holds the key
	}
	return &Backend{models: client.Models}, nil
}

// Provider implements [provider.Backend].
func (*Backend) Provider() string { return Name }

// Count implements [provider.Backend].
func (b *Backend) Count(ctx context.Context, c *conversation.Conversation, model tokens.Model) (provider.Count, error) {
	var losses wire.Losses
	name := modelName(model.Name)
	body := render(c, name, &losses)
	answer, err := b.models.CountTokens(ctx, name, nil, &genai.CountTokensConfig{HTTPOptions: &genai.HTTPOptions{
		// The SDK's own parameters take neither the system instruction nor tools for this API; the whole request does.
		ExtrasRequestProvider: func(map[string]any) map[string]any {
			return map[string]any{"generateContentRequest": json.RawMessage(body)}
		},
		RetryOptions: &genai.HTTPRetryOptions{Attempts: new(int32(1))},
	}})
	if err != nil {
		return provider.Count{}, err
	}
	return provider.Count{Tokens: int(answer.TotalTokens), Warnings: losses.Warnings()}, nil
}

// modelName turns the spellings of gateways into the API's own: "google/gemini-2.5-pro", "models/gemini-2.5-pro",
// "gemini-2.5-pro@default", "google/gemini-2.5-pro:thinking".
func modelName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name = name[at+1:]
	}
	for _, vendor := range []string{"google:", "google.", "gemini:"} {
		name = strings.TrimPrefix(name, vendor)
	}
	if at := strings.IndexAny(name, ":@["); at >= 0 {
		name = name[:at]
	}
	return name
}
