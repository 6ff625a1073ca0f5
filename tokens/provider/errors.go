package provider

import (
	"fmt"
	"net/http"
	"time"
)

// Kind says why there is no provider count.
type Kind int

// The kinds of failure.
const (
	// NoProvider: no provider is known for the model.
	NoProvider Kind = iota
	// NotConfigured: the server does not ask this provider.
	NotConfigured
	// NoKey: the environment holds no key for it.
	NoKey
	// NotConversation: only conversations have a provider count.
	NotConversation
	// Busy: no slot became free in time.
	Busy
	// Timeout: no answer in time.
	Timeout
	// Unreachable: no connection, or it broke off.
	Unreachable
	// KeyRefused: status 401 or 403.
	KeyRefused
	// NotFound: status 404, no such model or endpoint.
	NotFound
	// RateLimited: status 429 or 529.
	RateLimited
	// TooLarge: status 413.
	TooLarge
	// Refused: any other status from 300 to 499. Redirects are not followed.
	Refused
	// ProviderFailed: any other status.
	ProviderFailed
	// BadAnswer: an answer that is no count, or more than [MaxResponseBytes] of it.
	BadAnswer
)

// Error is why there is no provider count. Its text is short and holds neither key nor content.
type Error struct {
	Kind Kind
	// Provider is the registry's name of the provider, empty for NoProvider and NotConversation.
	Provider string
	// Status is the HTTP status, 0 where there was none.
	Status int
	// RetryAfter is what the provider asks to wait, 0 when it names nothing.
	RetryAfter time.Duration
	// Detail is the name of the missing variable (NoKey).
	Detail string
}

// Error implements error: the reason as callers read it.
func (f *Error) Error() string {
	switch f.Kind {
	case NoProvider:
		return "no provider is known for the model"
	case NotConfigured:
		return "the server is not configured to ask " + f.Provider
	case NoKey:
		return "no key for " + f.Provider + ": " + f.Detail + " is not set"
	case NotConversation:
		return "providers count conversations, not plain texts"
	case Busy:
		return "too many provider counts at one time"
	case Timeout:
		return "no answer from " + f.Provider + " in time"
	case Unreachable:
		return "no connection to " + f.Provider + ", or it broke off"
	case BadAnswer:
		return f.Provider + " answered with something that is no count"
	case KeyRefused:
		return f.status("refused the key")
	case NotFound:
		return f.status("does not know the model or the endpoint")
	case RateLimited:
		return f.status("limits the rate")
	case TooLarge:
		return f.status("finds the request too large")
	case Refused:
		return f.status("refused the request")
	default:
		return f.status("failed")
	}
}

// status adds the HTTP status, and the wait when there is one, to what the provider did.
func (f *Error) status(did string) string {
	text := fmt.Sprintf("%s %s (status %d)", f.Provider, did, f.Status)
	if f.RetryAfter > 0 {
		text += fmt.Sprintf(", retry after %v", f.RetryAfter)
	}
	return text
}

// kindOf sorts the statuses that are no success.
func kindOf(status int) Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return KeyRefused
	case status == http.StatusNotFound:
		return NotFound
	case status == http.StatusTooManyRequests, status == statusOverloaded:
		return RateLimited
	case status == http.StatusRequestEntityTooLarge:
		return TooLarge
	case status >= 300 && status < 500:
		return Refused
	default:
		return ProviderFailed
	}
}

// statusOverloaded is Anthropic's own status for too much load.
const statusOverloaded = 529
