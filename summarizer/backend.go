package summarizer

import (
	"context"
	"fmt"
	"time"
)

// Backend is a language model that answers one prompt with one text. It is the
// plumbing under the LLM rungs: it neither retries nor judges the answer, and it
// never sees text that was not redacted. Implementations are safe for concurrent
// use and end their call when the context ends.
type Backend interface {
	// Name is how configuration, requests and reports name the backend, for example
	// "openai:gpt-5-mini".
	Name() string
	// Complete answers the prompt. Where onText is not nil and the backend can
	// stream, it is called with each piece of text as it arrives, from one goroutine
	// at a time; an empty piece says that the text begins anew. The completion holds
	// the whole text either way. Errors are [*BackendError] or the context's.
	Complete(ctx context.Context, prompt Prompt, onText func(piece string)) (Completion, error)
}

// Prompt is one call to a [Backend]. No tools are ever offered with it.
type Prompt struct {
	// System holds the instructions, User the data they are about.
	System, User string
	// MaxTokens bounds the answer, in the backend's own tokens.
	MaxTokens int
}

// Completion is a backend's answer.
type Completion struct {
	// Text is the answer's visible text. Reasoning is not part of it.
	Text string
	// Finish is why the answer ended.
	Finish Finish
	// Model is the model that answered, as the backend names it; "" when it does not.
	Model string
	// PromptTokens and CompletionTokens are what the backend billed, 0 when it does
	// not say.
	PromptTokens, CompletionTokens int
	// Attempts is how many calls were made; 0 means one. It is set with an error too.
	Attempts int
}

// Finish is why an answer ended.
type Finish string

// The ways an answer ends.
const (
	FinishStop      Finish = "stop"       // complete
	FinishLength    Finish = "length"     // cut off at MaxTokens or at the window
	FinishRefusal   Finish = "refusal"    // the model or a filter declined
	FinishToolCalls Finish = "tool_calls" // the model called a tool it was not given
	FinishOther     Finish = "other"      // anything else
)

// Failure is the kind of a failed call, stable across backends: the ladder
// decides by it and reports carry it.
type Failure string

// The kinds of failure.
const (
	FailureAuth        Failure = "auth"         // 401, 403: the key is missing or not accepted
	FailureQuota       Failure = "quota"        // 402, or a 429 that says the account has no credit: waiting does not help
	FailureNotFound    Failure = "not_found"    // 404: no such model or endpoint
	FailureBadRequest  Failure = "bad_request"  // 400, 422: the backend does not take this request
	FailureTooLarge    Failure = "too_large"    // 413 or a context-length error: the prompt does not fit
	FailureRateLimited Failure = "rate_limited" // 429
	FailureOverloaded  Failure = "overloaded"   // 408, 409, 500, 502, 503, 504, 529
	FailureTimeout     Failure = "timeout"      // the call's own deadline passed
	FailureNetwork     Failure = "network"      // refused, reset, broken off mid-answer
	FailureBadResponse Failure = "bad_response" // not what the protocol promises, or larger than allowed
	FailureBreakerOpen Failure = "breaker_open" // no call was made: too many failed a short while ago
)

// Retryable reports whether the same call may succeed when made again.
func (f Failure) Retryable() bool {
	switch f {
	case FailureRateLimited, FailureOverloaded, FailureTimeout, FailureNetwork:
		return true
	default:
		return false
	}
}

// BackendError is a failed call.
type BackendError struct {
	// Failure is its kind.
	Failure Failure
	// Status is the HTTP or gRPC status, 0 when there was none.
	Status int
	// RetryAfter is how long the backend asked to wait, 0 when it did not.
	RetryAfter time.Duration
	// Err is the cause. Its text never holds a key or the prompt.
	Err error
}

func (e *BackendError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (status %d): %v", e.Failure, e.Status, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Failure, e.Err)
}

func (e *BackendError) Unwrap() error { return e.Err }
