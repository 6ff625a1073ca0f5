package anthropic

import (
	"context"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
	"github.com/elbowroom/elbowroom/tokens/provider"
	"github.com/elbowroom/elbowroom/tokens/provider/wire"
)

// Name is the provider's name in the model registry.
const Name = "anthropic"

// Options configure a [Backend]. Nothing is read from the environment.
type Options struct {
	// Key is the API key. Required.
	Key string
	// BaseURL replaces Anthropic's own address when it is not empty.
	BaseURL string
	// HTTP is a client of [provider.NewHTTPClient]. Required.
	HTTP *http.Client
}

// Backend implements [provider.Backend].
type Backend struct{ messages sdk.MessageService }

// New returns a backend.
func New(o Options) *Backend {
	// The service alone, without the SDK's client: that one takes credentials from profiles on disk as well.
	options := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithHTTPClient(o.HTTP), option.WithMaxRetries(0), option.WithAPIKey(o.Key),
	}
	if o.BaseURL != "" {
		options = append(options, option.WithBaseURL(o.BaseURL))
	}
	return &Backend{messages: sdk.NewMessageService(options...)}
}

// Provider implements [provider.Backend].
func (*Backend) Provider() string { return Name }

// Count implements [provider.Backend].
func (b *Backend) Count(ctx context.Context, c *conversation.Conversation, model tokens.Model) (provider.Count, error) {
	var losses wire.Losses
	body := render(c, modelName(model.Name), &losses)
	// The parameters are not used: the SDK's types would write the caller's JSON anew.
	answer, err := b.messages.CountTokens(ctx, sdk.MessageCountTokensParams{}, option.WithRequestBody("application/json", body))
	if err != nil {
		return provider.Count{}, err
	}
	return provider.Count{Tokens: int(answer.InputTokens), Warnings: losses.Warnings()}, nil
}

// modelName turns the spellings of clouds and gateways into Anthropic's own: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
// "claude-sonnet-4-5@20250929", "anthropic/claude-sonnet-4.5:thinking", "claude-sonnet-4-5[1m]".
func modelName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if at := strings.LastIndex(name, "claude"); at >= 0 {
		name = name[at:]
	}
	name, _, _ = strings.Cut(name, "[")
	name, variant, _ := strings.Cut(name, ":")
	if variant != "" && variant[0] >= '0' && variant[0] <= '9' { // Bedrock: "-v1:0"
		if at := strings.LastIndex(name, "-v"); at >= 0 {
			name = name[:at]
		}
	}
	name = strings.TrimSuffix(name, "@default")
	return strings.NewReplacer("@", "-", ".", "-").Replace(name)
}
