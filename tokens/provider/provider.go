package provider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// The defaults of [Options].
const (
	DefaultTimeout     = 5 * time.Second
	DefaultConcurrency = 8
)

// Count is what a provider answered.
type Count struct {
	// Tokens is the provider's number for the whole request, at least 1.
	Tokens int
	// Warnings name what the provider was not shown as it stands, code [WarnLossy]. Empty: nothing was left out.
	Warnings []conversation.Warning
}

// WarnLossy is the code of a warning about something that could not be put into the provider's own format, so that the
// count is that of a slightly different request. Its message is the index of the first message concerned.
const WarnLossy = "PROVIDER_COUNT_LOSSY"

// Backend counts by one provider's endpoint. Its HTTP client must be one of [NewHTTPClient], which watches the exchange.
type Backend interface {
	// Provider is the vendor as the model registry names it: anthropic, openai, google.
	Provider() string
	// Count makes one attempt. Errors that are no [*Error] are told apart by what happened on the wire; their text goes
	// nowhere, since SDKs put request and response into it.
	Count(ctx context.Context, c *conversation.Conversation, model tokens.Model) (Count, error)
}

// Options configure a [Counter]. The zero value has no provider.
type Options struct {
	// Backends are the providers that may be asked, one of each name.
	Backends []Backend
	// Timeout bounds one call, waiting for a free slot included. The caller's deadline bounds it too, with a fifth of what
	// is left kept for the answer. Default 5 s.
	Timeout time.Duration
	// Concurrency is how many calls may run at one time. Default 8.
	Concurrency int
}

// Counter asks providers. It is safe for concurrent use; a nil Counter knows no provider.
type Counter struct {
	backends []Backend
	timeout  time.Duration
	slots    chan struct{}
}

// New returns a counter. The error names a provider that is there twice.
func New(o Options) (*Counter, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Concurrency <= 0 {
		o.Concurrency = DefaultConcurrency
	}
	c := &Counter{timeout: o.Timeout, slots: make(chan struct{}, o.Concurrency)}
	for _, b := range o.Backends {
		if c.backend(b.Provider()) != nil {
			return nil, fmt.Errorf("provider counts: %s is configured twice", b.Provider())
		}
		c.backends = append(c.backends, b)
	}
	return c, nil
}

// backend finds a provider's backend, nil without one.
func (c *Counter) backend(name string) Backend {
	if c == nil {
		return nil
	}
	for _, b := range c.backends {
		if b.Provider() == name {
			return b
		}
	}
	return nil
}

// Count asks the provider of the model, once. Every error is a [*Error].
func (c *Counter) Count(ctx context.Context, conv *conversation.Conversation, model tokens.Model) (Count, error) {
	if model.Provider == "" || model.Family == tokens.FamilyUnknown {
		return Count{}, &Error{Kind: NoProvider}
	}
	b := c.backend(model.Provider)
	if b == nil {
		return Count{}, &Error{Kind: NotConfigured, Provider: model.Provider}
	}
	ctx, cancel := context.WithTimeout(ctx, c.budget(ctx))
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return Count{}, &Error{Kind: Busy, Provider: model.Provider}
	}
	var x exchange
	n, err := b.Count(withExchange(ctx, &x), conv, model)
	if failure := c.failure(ctx, &x, n, err); failure != nil {
		failure.Provider = model.Provider
		return Count{}, failure
	}
	return n, nil
}

// budget is how long a call may take.
func (c *Counter) budget(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return c.timeout
	}
	left := time.Until(deadline)
	return min(c.timeout, left-left/5)
}

// failure says what went wrong, nil when nothing did.
func (c *Counter) failure(ctx context.Context, x *exchange, n Count, err error) *Error {
	var known *Error
	status, retryAfter, sort := x.outcome()
	switch {
	case errors.As(err, &known):
		return &Error{Kind: known.Kind, Detail: known.Detail}
	case err != nil && ctx.Err() != nil:
		return &Error{Kind: Timeout}
	case status != 0 && (status < 200 || status > 299):
		return &Error{Kind: kindOf(status), Status: status, RetryAfter: retryAfter}
	case sort == exchangeBroken:
		return &Error{Kind: Unreachable}
	case sort == exchangeTooLarge, sort == exchangeNotJSON:
		return &Error{Kind: BadAnswer}
	case err != nil && status == 0:
		return &Error{Kind: Unreachable}
	case err != nil, n.Tokens < 1, n.Tokens > math.MaxInt32:
		return &Error{Kind: BadAnswer}
	default:
		return nil
	}
}

// WithoutKey stands in for a provider that is configured but has no key.
func WithoutKey(provider, variable string) Backend { return withoutKey{provider, variable} }

type withoutKey struct{ provider, variable string }

func (w withoutKey) Provider() string { return w.provider }

func (w withoutKey) Count(context.Context, *conversation.Conversation, tokens.Model) (Count, error) {
	return Count{}, &Error{Kind: NoKey, Detail: w.variable}
}
