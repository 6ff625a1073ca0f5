package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/internal/endpoint"
)

// DefaultBaseURL is Anthropic's own endpoint.
const DefaultBaseURL = "https://api.anthropic.com"

// Options configure a [Backend].
type Options struct {
	// Name is what reports call the backend. Default "anthropic:" and the model.
	Name string
	// Model is the model's name as the endpoint knows it. Required.
	Model string
	// BaseURL is the endpoint, without the "/v1/messages". Default [DefaultBaseURL].
	BaseURL string
	// APIKey goes into the authorization header; empty: none is sent, as a gateway
	// in front may want it.
	APIKey string
	// HTTPClient sends the requests; nil: a client of the backend's own. Redirects
	// are followed in no case.
	HTTPClient *http.Client
	// MaxResponseBytes bounds a whole answer, and the text of a streamed one.
	// Default 8 MiB.
	MaxResponseBytes int64
	// HeaderTimeout is how long the endpoint may take to begin its answer. It
	// applies to the backend's own client only. Default 5 minutes.
	HeaderTimeout time.Duration
}

// Backend is one model behind the Messages API. It is safe for concurrent use.
type Backend struct {
	name, model string
	client      *endpoint.Client
	messages    sdk.MessageService
}

var _ summarizer.Backend = (*Backend)(nil)

// New returns the backend for the options. It makes no call.
func New(options Options) (*Backend, error) {
	if options.Model == "" {
		return nil, errors.New("anthropic: the model has no name")
	}
	if options.BaseURL == "" {
		options.BaseURL = DefaultBaseURL
	}
	if err := endpoint.CheckBaseURL(options.BaseURL); err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	if options.Name == "" {
		options.Name = "anthropic:" + options.Model
	}
	client := endpoint.NewClient(endpoint.Settings{
		HTTPClient: options.HTTPClient, MaxResponseBytes: options.MaxResponseBytes, HeaderTimeout: options.HeaderTimeout,
	})
	settings := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(options.BaseURL),
		option.WithHTTPClient(client.HTTP),
		// The ladder retries; two loops inside each other would multiply the bill.
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
	}
	if options.APIKey != "" {
		settings = append(settings, option.WithAPIKey(options.APIKey))
	}
	messages := sdk.NewClient(settings...).Messages
	return &Backend{name: options.Name, model: options.Model, client: client, messages: messages}, nil
}

// Name is the name of the options.
func (b *Backend) Name() string { return b.name }

// Close gives up idle connections. Calls under way go on.
func (b *Backend) Close() error {
	b.client.Close()
	return nil
}

// longAnswer is the number of tokens above which the SDK refuses to wait for a
// whole answer, since no byte would cross the connection for ten minutes.
const longAnswer = 20_000

// Complete answers the prompt.
func (b *Backend) Complete(ctx context.Context, prompt summarizer.Prompt, onText func(piece string)) (summarizer.Completion, error) {
	params := sdk.MessageNewParams{
		Model:     b.model,
		MaxTokens: int64(prompt.MaxTokens),
		Messages:  []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(prompt.User))},
	}
	if prompt.System != "" {
		params.System = []sdk.TextBlockParam{{Text: prompt.System}}
	}
	if onText == nil && prompt.MaxTokens > longAnswer {
		onText = func(string) {}
	}
	if onText == nil {
		return b.whole(ctx, params)
	}
	return b.stream(ctx, params, onText)
}

func (b *Backend) whole(ctx context.Context, params sdk.MessageNewParams) (summarizer.Completion, error) {
	call := &endpoint.Call{MaxBytes: b.client.MaxBytes}
	message, err := b.messages.New(ctx, params, option.WithMiddleware(call.Middleware))
	if err != nil {
		return summarizer.Completion{}, endpoint.Explain(ctx, err)
	}
	return completion(message)
}
