package endpoint

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/elbowroom/elbowroom/summarizer"
)

// RefusalError is what a server said when it did not answer. Its text holds the
// status and the machine-readable names only: messages quote keys and prompts.
type RefusalError struct {
	// Status is the HTTP status; that of an error inside a 200 is the one the body
	// names, else 200.
	Status int
	// Kind, Code and Param are the error's type, code and parameter as the server
	// names them, "" where it does not or where what it says is no name.
	Kind, Code, Param string
	message           string
}

func (r *RefusalError) Error() string {
	var names []string
	for _, name := range []string{r.Kind, r.Code, r.Param} {
		if name != "" {
			names = append(names, name)
		}
	}
	text := http.StatusText(r.Status)
	if text == "" || r.Status == http.StatusOK {
		text = "the server answered with an error"
	}
	if len(names) == 0 {
		return text
	}
	return text + ": " + strings.Join(names, ", ")
}

// About reports whether the refusal is about the request field named.
func (r *RefusalError) About(field string) bool {
	return r.Param == field || strings.HasPrefix(r.Param, field+".") || containsName(r.message, field)
}

// AboutSize reports whether the refusal is about how large a value is, and not
// about the field itself.
func (r *RefusalError) AboutSize() bool {
	message := strings.ToLower(r.message)
	for _, word := range []string{"too large", "too high", "too small", "at most", "at least", "less than", "greater than", "exceed", "maximum"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// containsName reports whether text has the name as a whole word: max_tokens is
// not in max_completion_tokens.
func containsName(text, name string) bool {
	for {
		at := strings.Index(text, name)
		if at < 0 {
			return false
		}
		before, after := at == 0 || !isNameByte(text[at-1]), true
		if end := at + len(name); end < len(text) {
			after = !isNameByte(text[end])
		}
		if before && after {
			return true
		}
		text = text[at+len(name):]
	}
}

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// errorBody is the union of the error bodies in use: OpenAI's and Anthropic's
// {"error":{...}}, Ollama's {"error":"..."}, vLLM's flat object, FastAPI's
// {"detail":...}.
type errorBody struct {
	Error     json.RawMessage `json:"error"`
	Type      json.RawMessage `json:"type"`
	ErrorType json.RawMessage `json:"error_type"`
	Code      json.RawMessage `json:"code"`
	Status    json.RawMessage `json:"status"`
	Param     json.RawMessage `json:"param"`
	Message   json.RawMessage `json:"message"`
	Detail    json.RawMessage `json:"detail"`
}

// namePattern is what a type, code or parameter looks like. Keys have digits or
// both cases, so none passes.
var namePattern = regexp.MustCompile(`^(?:[a-z_.]{1,64}|[A-Z_]{1,64})$`)

// parseRefusal reads an error's body, whatever it is.
func parseRefusal(status int, body []byte) *RefusalError {
	refusal := &RefusalError{Status: status}
	body = bytes.TrimSpace(body)
	if list := []json.RawMessage(nil); json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0] // Gemini's endpoint sends a list of one.
	}
	var outer errorBody
	if json.Unmarshal(body, &outer) != nil {
		return refusal
	}
	inner := outer
	if len(outer.Error) > 0 {
		inner = errorBody{Message: outer.Error}
		if bytes.HasPrefix(outer.Error, []byte("{")) && json.Unmarshal(outer.Error, &inner) != nil {
			return refusal
		}
	}
	name := func(candidates ...json.RawMessage) string {
		for _, raw := range candidates {
			if text := textOf(raw); namePattern.MatchString(text) {
				return text
			}
		}
		return ""
	}
	refusal.Kind = name(inner.Type, inner.ErrorType, outer.ErrorType, inner.Status)
	refusal.Code = name(inner.Code)
	refusal.Param = name(inner.Param)
	refusal.message = textOf(inner.Message)
	if refusal.message == "" && len(inner.Detail) > 0 {
		refusal.message = string(inner.Detail)
	}
	if number, err := strconv.Atoi(string(inner.Code)); err == nil && status == http.StatusOK && number >= 400 && number < 600 {
		refusal.Status = number
	}
	return refusal
}

// textOf is the string that raw holds, "" if it holds none.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// statusError makes the error of an answer that is not a success.
func statusError(status int, header http.Header, body []byte) *summarizer.BackendError {
	refusal := parseRefusal(status, body)
	return &summarizer.BackendError{
		Failure: refusal.failure(), Status: status, RetryAfter: RetryAfter(header), Err: refusal,
	}
}

// BodyError makes the error of a 200 whose body, or an event of whose stream,
// says that something went wrong.
func BodyError(body []byte) *summarizer.BackendError {
	refusal := parseRefusal(http.StatusOK, body)
	return &summarizer.BackendError{Failure: refusal.failure(), Status: refusal.Status, Err: refusal}
}

// failure is the kind of the refusal. The names come first: gateways wrap one
// provider's error in another status.
func (r *RefusalError) failure() summarizer.Failure {
	for _, name := range []string{r.Code, r.Kind} {
		switch name {
		case "context_length_exceeded", "exceed_context_size_error", "request_too_large":
			return summarizer.FailureTooLarge
		case "insufficient_quota", "billing_error", "billing_hard_limit_reached":
			return summarizer.FailureQuota
		case "model_not_found":
			return summarizer.FailureNotFound
		}
	}
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusOK:
		if isContextLength(r.message) {
			return summarizer.FailureTooLarge
		}
	}
	switch status := r.Status; {
	case status == http.StatusOK:
		return failureByName(r.Kind, r.Code)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return summarizer.FailureAuth
	case status == http.StatusPaymentRequired:
		return summarizer.FailureQuota
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusGone:
		return summarizer.FailureNotFound
	case status == http.StatusRequestEntityTooLarge:
		return summarizer.FailureTooLarge
	case status == http.StatusTooManyRequests:
		return summarizer.FailureRateLimited
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return summarizer.FailureOverloaded
	case status >= 400:
		return summarizer.FailureBadRequest
	default: // A redirect, which is not followed.
		return summarizer.FailureBadResponse
	}
}

// failureByName is the kind of an error that has no status: one in the middle of
// a stream.
func failureByName(names ...string) summarizer.Failure {
	for _, name := range names {
		switch name {
		case "overloaded_error", "api_error", "server_error", "internal_server_error", "timeout_error", "service_unavailable",
			"service_unavailable_error", "UNAVAILABLE", "INTERNAL":
			return summarizer.FailureOverloaded
		case "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED":
			return summarizer.FailureRateLimited
		case "authentication_error", "permission_error", "invalid_api_key", "UNAUTHENTICATED", "PERMISSION_DENIED":
			return summarizer.FailureAuth
		case "not_found_error", "NOT_FOUND":
			return summarizer.FailureNotFound
		case "invalid_request_error", "INVALID_ARGUMENT":
			return summarizer.FailureBadRequest
		}
	}
	return summarizer.FailureBadResponse
}

// contextLengthTexts are what servers say, in lower case, when a prompt is larger
// than the window and no machine-readable name says so. "max_tokens is larger
// than the model can write" is not among them: that prompt fits.
var contextLengthTexts = []string{
	"maximum context length",                // OpenAI, vLLM, OpenRouter, Mistral
	"prompt is too long",                    // Anthropic
	"exceed context limit",                  // Anthropic, prompt and max_tokens together
	"available context size",                // llama.cpp
	"exceed context window",                 // llama-cpp-python
	"exceeds the context window",            // OpenAI's newer text
	"longer than the maximum model length",  // vLLM
	"exceeds the context length",            // Ollama
	"input token count",                     // Gemini
	"input is too long",                     // Bedrock behind a gateway
	"reduce the length of the messages",     // OpenAI, Groq
	"reduce the length of the input prompt", // vLLM
	"inputs tokens + max_new_tokens",        // Text Generation Inference, whose backticks are taken out first
}

func isContextLength(message string) bool {
	message = strings.ReplaceAll(strings.ToLower(message), "`", "")
	for _, text := range contextLengthTexts {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// maxRetryAfter bounds what is believed of a Retry-After.
const maxRetryAfter = 24 * time.Hour

// RetryAfter is how long the server asks to wait: Retry-After-Ms in milliseconds
// where it is sent, else Retry-After in seconds or as a date, which counts from
// the server's own Date. 0 when there is neither.
func RetryAfter(header http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return clampWait(ms * float64(time.Millisecond))
	}
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return clampWait(seconds * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return clampWait(float64(at.Sub(now)))
}

func clampWait(nanoseconds float64) time.Duration {
	if math.IsNaN(nanoseconds) || nanoseconds <= 0 {
		return 0
	}
	return time.Duration(min(nanoseconds, float64(maxRetryAfter)))
}
