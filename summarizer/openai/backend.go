package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/internal/endpoint"
)

// DefaultBaseURL is OpenAI's own endpoint.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options configure a [Backend].
type Options struct {
	// Name is what reports call the backend. Default "openai:" and the model.
	Name string
	// Model is the model's name as the endpoint knows it. Required.
	Model string
	// BaseURL is the endpoint, without the "/chat/completions"; for most servers it
	// ends in "/v1". Default [DefaultBaseURL].
	BaseURL string
	// APIKey goes into the Authorization header; empty: none is sent, as local
	// servers want it.
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

// Backend is one model behind a Chat Completions endpoint. It is safe for
// concurrent use.
type Backend struct {
	name, model string
	client      *endpoint.Client
	chat        sdk.ChatCompletionService

	// What the endpoint was found to want. completionTokens: max_completion_tokens
	// instead of max_tokens. noStreamOptions: no stream_options.
	completionTokens, noStreamOptions atomic.Bool
}

var _ summarizer.Backend = (*Backend)(nil)

// New returns the backend for the options. It makes no call.
func New(options Options) (*Backend, error) {
	if options.Model == "" {
		return nil, errors.New("openai: the model has no name")
	}
	if options.BaseURL == "" {
		options.BaseURL = DefaultBaseURL
	}
	if err := endpoint.CheckBaseURL(options.BaseURL); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	if options.Name == "" {
		options.Name = "openai:" + options.Model
	}
	client := endpoint.NewClient(endpoint.Settings{
		HTTPClient: options.HTTPClient, MaxResponseBytes: options.MaxResponseBytes, HeaderTimeout: options.HeaderTimeout,
	})
	settings := []option.RequestOption{
		option.WithBaseURL(options.BaseURL),
		option.WithHTTPClient(client.HTTP),
		// The ladder retries; two loops inside each other would multiply the bill.
		option.WithMaxRetries(0),
	}
	if options.APIKey != "" {
		settings = append(settings, option.WithAPIKey(options.APIKey))
	}
	backend := &Backend{
		name: options.Name, model: options.Model, client: client,
		// Not the SDK's NewClient, which reads keys, addresses and headers from the environment.
		chat: sdk.NewChatCompletionService(settings...),
	}
	backend.completionTokens.Store(wantsCompletionTokens(options.BaseURL, options.Model))
	return backend, nil
}

// reasoningModel matches OpenAI's model names that take max_completion_tokens
// only, also behind a gateway's prefix such as "openai/".
var reasoningModel = regexp.MustCompile(`^(?:.*/)?(?:o[1-9]\d*|gpt-(?:[5-9]|\d\d))(?:[-.].*)?$`)

// wantsCompletionTokens is the first guess at the name of the length limit: the
// new one for OpenAI itself and its reasoning models, the old one, which other
// servers know, for everything else.
func wantsCompletionTokens(base, model string) bool {
	parsed, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := parsed.Hostname()
	return host == "openai.com" || strings.HasSuffix(host, ".openai.com") || reasoningModel.MatchString(model)
}

// Name is the name of the options.
func (b *Backend) Name() string { return b.name }

// Close gives up idle connections. Calls under way go on.
func (b *Backend) Close() error {
	b.client.Close()
	return nil
}

// Complete answers the prompt.
func (b *Backend) Complete(ctx context.Context, prompt summarizer.Prompt, onText func(piece string)) (summarizer.Completion, error) {
	// A form is one way to ask. Each of the two fields can be changed once, so three calls are the most there can be, and
	// all but the last were refused before a model ran.
	asked := form{completionTokens: b.completionTokens.Load(), streamOptions: onText != nil && !b.noStreamOptions.Load()}
	first := asked
	for {
		answer, err := b.ask(ctx, asked.params(b.model, prompt), onText)
		if err == nil {
			b.completionTokens.Store(asked.completionTokens)
			if onText != nil {
				b.noStreamOptions.Store(!asked.streamOptions)
			}
			return answer, nil
		}
		if !asked.adapt(first, err) {
			return answer, err
		}
	}
}

func (b *Backend) ask(ctx context.Context, params sdk.ChatCompletionNewParams, onText func(piece string)) (summarizer.Completion, error) {
	if onText != nil {
		return b.stream(ctx, params, onText)
	}
	return b.whole(ctx, params)
}

func (b *Backend) whole(ctx context.Context, params sdk.ChatCompletionNewParams) (summarizer.Completion, error) {
	call := &endpoint.Call{MaxBytes: b.client.MaxBytes}
	response, err := b.chat.New(ctx, params, option.WithMiddleware(call.Middleware))
	if err != nil {
		return summarizer.Completion{}, endpoint.Explain(ctx, err)
	}
	return completion(response)
}

// form is what differs between servers in a request.
type form struct {
	completionTokens, streamOptions bool
}

func (f form) params(model string, prompt summarizer.Prompt) sdk.ChatCompletionNewParams {
	params := sdk.ChatCompletionNewParams{Model: model}
	if prompt.System != "" {
		params.Messages = append(params.Messages, sdk.SystemMessage(prompt.System))
	}
	params.Messages = append(params.Messages, sdk.UserMessage(prompt.User))
	if f.completionTokens {
		params.MaxCompletionTokens = param.NewOpt(int64(prompt.MaxTokens))
	} else {
		params.MaxTokens = param.NewOpt(int64(prompt.MaxTokens))
	}
	if f.streamOptions {
		params.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	return params
}

// adapt changes the form after a refusal that names one of its fields, and
// reports whether it did. first is the form of the first call: no field is
// changed twice.
func (f *form) adapt(first form, err error) bool {
	var failed *summarizer.BackendError
	var refusal *endpoint.RefusalError
	if !errors.As(err, &failed) || failed.Failure != summarizer.FailureBadRequest || !errors.As(failed.Err, &refusal) {
		return false
	}
	if f.streamOptions && (refusal.About("stream_options") || refusal.About("include_usage")) {
		f.streamOptions = false
		return true
	}
	limit := refusal.About("max_tokens") || refusal.About("max_completion_tokens")
	if f.completionTokens == first.completionTokens && limit && !refusal.AboutSize() {
		f.completionTokens = !f.completionTokens
		return true
	}
	return false
}

// decodeWhole reads a document that came instead of a stream.
func decodeWhole(document []byte) (summarizer.Completion, error) {
	var response sdk.ChatCompletion
	if json.Unmarshal(document, &response) != nil {
		return summarizer.Completion{}, endpoint.Malformed("the answer is not JSON")
	}
	return completion(&response)
}
