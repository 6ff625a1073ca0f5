package wiredouble

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// openAI is the wire of Chat Completions.
type openAI struct{}

func (openAI) path() string { return "/v1/chat/completions" }

func (openAI) key(header http.Header) (string, bool) { return bearer(header) }

// bearer is the token of the Authorization header, "" when there is none.
func bearer(header http.Header) (string, bool) {
	value := header.Get("Authorization")
	if value == "" {
		return "", true
	}
	return strings.CutPrefix(value, "Bearer ")
}

func (openAI) parse(_ http.Header, body []byte) (Request, []string) {
	var sent struct {
		Model               string `json:"model"`
		MaxTokens           *int   `json:"max_tokens"`
		MaxCompletionTokens *int   `json:"max_completion_tokens"`
		Stream              bool   `json:"stream"`
		StreamOptions       struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := strictly(body, &sent); err != nil {
		return Request{}, []string{err.Error()}
	}
	request := Request{Model: sent.Model, Stream: sent.Stream, Usage: sent.StreamOptions.IncludeUsage}
	var problems []string
	switch {
	case sent.MaxTokens != nil && sent.MaxCompletionTokens != nil:
		problems = append(problems, "max_tokens and max_completion_tokens")
	case sent.MaxTokens != nil:
		request.MaxTokens, request.LimitField = *sent.MaxTokens, "max_tokens"
	case sent.MaxCompletionTokens != nil:
		request.MaxTokens, request.LimitField = *sent.MaxCompletionTokens, "max_completion_tokens"
	}
	if sent.StreamOptions.IncludeUsage && !sent.Stream {
		problems = append(problems, "stream_options without stream")
	}
	messages := sent.Messages
	if len(messages) > 0 && messages[0].Role == "system" {
		request.System, messages = messages[0].Content, messages[1:]
	}
	if len(messages) != 1 || messages[0].Role != "user" {
		problems = append(problems, "messages other than one of the system and one of the user")
	} else {
		request.User = messages[0].Content
	}
	return request, append(problems, request.gaps()...)
}

// strictly decodes a body that has no field but those of into.
func strictly(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	return nil
}

// gaps lists what every request must have and this one has not.
func (r Request) gaps() []string {
	var problems []string
	if r.Model == "" {
		problems = append(problems, "no model")
	}
	if r.MaxTokens <= 0 {
		problems = append(problems, "no length limit")
	}
	if r.User == "" {
		problems = append(problems, "no user text")
	}
	return problems
}

// encode is the value as JSON. What doubles encode is made of strings and numbers.
func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%q", err)
	}
	return string(text)
}

type object map[string]any

func (openAI) whole(a answer) string {
	message := object{"role": "assistant", "content": a.text, "refusal": nil}
	if a.thinking != "" {
		message["reasoning_content"], message["reasoning"] = a.thinking, a.thinking
	}
	if a.ending == endRefusal {
		message["content"], message["refusal"] = nil, "I will not do that."
	}
	if a.called {
		message["content"] = nil
		message["tool_calls"] = []object{{
			"id": "call_1", "type": "function", "function": object{"name": "read_file", "arguments": `{"path":"a.txt"}`},
		}}
	}
	document := object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": Model,
		"choices": []object{{"index": 0, "message": message, "logprobs": nil, "finish_reason": openAIReason(a)}},
	}
	if !a.silent {
		document["usage"] = openAIUsage(a)
	}
	return encode(document)
}

func openAIUsage(a answer) object {
	prompt, completion := a.promptTokens(), a.completionTokens()
	return object{"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
}

func openAIReason(a answer) string {
	switch a.ending {
	case endLength:
		return "length"
	case endFilter:
		return "content_filter"
	case endTools:
		return "tool_calls"
	default: // OpenAI's refusals end in "stop".
		return "stop"
	}
}

func openAIChunk(delta object, reason any) string {
	return "data: " + encode(object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": Model,
		"choices": []object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": reason}},
	}) + "\n\n"
}

func (w openAI) events(a answer, request Request) []string {
	events := []string{openAIChunk(object{"role": "assistant", "content": ""}, nil)}
	for _, piece := range chop(a.thinking) {
		events = append(events, openAIChunk(object{"reasoning_content": piece, "reasoning": piece}, nil))
	}
	for _, piece := range chop(a.text) {
		events = append(events, w.piece(piece))
	}
	if a.ending == endRefusal {
		events = append(events, openAIChunk(object{"refusal": "I will not do that."}, nil))
	}
	if a.called {
		events = append(events, openAIChunk(object{"tool_calls": []object{{
			"index": 0, "id": "call_1", "type": "function", "function": object{"name": "read_file", "arguments": "{}"},
		}}}, nil))
	}
	events = append(events, openAIChunk(object{}, openAIReason(a)))
	if request.Usage && !a.silent {
		events = append(events, "data: "+encode(object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": Model,
			"choices": []object{}, "usage": openAIUsage(a),
		})+"\n\n")
	}
	return append(events, "data: [DONE]\n\n")
}

func (openAI) piece(text string) string { return openAIChunk(object{"content": text}, nil) }

func (openAI) around() (opening, closing string) {
	return `{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"`, `"}}]}`
}

func (openAI) ping() string { return ": OPENROUTER PROCESSING\n\n" }

func (openAI) errorBody(status int) string {
	kind, code, message := "server_error", any(nil), "The server had an error while processing your request."
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		kind, message = "invalid_request_error", "Invalid request."
	case http.StatusUnauthorized:
		kind, code = "invalid_request_error", "invalid_api_key"
		message = "Incorrect API key provided: key-of-******uble. You can find your API key in your account."
	case http.StatusPaymentRequired:
		code, message = status, "Insufficient credits."
	case http.StatusForbidden:
		kind, message = "invalid_request_error", "You have insufficient permissions for this operation."
	case http.StatusNotFound:
		kind, code, message = "invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."
	case http.StatusTooManyRequests:
		kind, code, message = "requests", "rate_limit_exceeded", "Rate limit reached for requests."
	}
	return encode(object{"error": object{"message": message, "type": kind, "param": nil, "code": code}})
}

func (w openAI) errorEvent() string {
	return "data: " + w.errorBody(http.StatusServiceUnavailable) + "\n\n"
}

func (openAI) tooLong() (status int, body string) {
	return http.StatusBadRequest, encode(object{"error": object{
		"message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
		"type":    "invalid_request_error", "param": "messages", "code": "context_length_exceeded",
	}})
}
