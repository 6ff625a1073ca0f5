package openai

import (
	"context"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
	"github.com/elbowroom/elbowroom/tokens/provider"
	"github.com/elbowroom/elbowroom/tokens/provider/wire"
)

// Name is the provider's name in the model registry.
const Name = "openai"

// Options configure a [Backend]. Nothing is read from the environment.
type Options struct {
	// Key is the API key. Required.
	Key string
	// BaseURL replaces OpenAI's own address, "/v1" included, when it is not empty.
	BaseURL string
	// HTTP is a client of [provider.NewHTTPClient]. Required.
	HTTP *http.Client
}

// Backend implements [provider.Backend].
type Backend struct{ inputTokens responses.InputTokenService }

// New returns a backend.
func New(o Options) *Backend {
	options := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithHTTPClient(o.HTTP), option.WithMaxRetries(0), option.WithAPIKey(o.Key),
	}
	if o.BaseURL != "" {
		options = append(options, option.WithBaseURL(o.BaseURL))
	}
	return &Backend{inputTokens: responses.NewInputTokenService(options...)}
}

// Provider implements [provider.Backend].
func (*Backend) Provider() string { return Name }

// Count implements [provider.Backend].
func (b *Backend) Count(ctx context.Context, c *conversation.Conversation, model tokens.Model) (provider.Count, error) {
	var losses wire.Losses
	body := render(c, modelName(model.Name), &losses)
	// The parameters are not used: the SDK's types would put schemas through maps and lose the order of their keys.
	answer, err := b.inputTokens.Count(ctx, responses.InputTokenCountParams{}, option.WithRequestBody("application/json", body))
	if err != nil {
		return provider.Count{}, err
	}
	return provider.Count{Tokens: int(answer.InputTokens), Warnings: losses.Warnings()}, nil
}

// modelName turns the spellings of gateways into OpenAI's own: "openai/gpt-4o", "openai:gpt-4o", "openai/gpt-4o:extended".
// The names of fine-tuned models have colons of their own and stay.
func modelName(name string) string {
	name = strings.TrimSpace(name)
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name = name[at+1:]
	}
	for _, vendor := range []string{"openai:", "openai.", "azure:"} {
		name = strings.TrimPrefix(name, vendor)
	}
	if !strings.HasPrefix(name, "ft:") {
		name, _, _ = strings.Cut(name, ":")
	}
	return name
}
