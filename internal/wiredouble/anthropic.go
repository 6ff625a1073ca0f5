package wiredouble

import (
	"net/http"
	"regexp"
)

// anthropic is the wire of the Messages API.
type anthropic struct{}

func (anthropic) path() string { return "/v1/messages" }

// key takes both headers the API knows, one of them.
func (anthropic) key(header http.Header) (string, bool) {
	if value := header.Get("X-Api-Key"); value != "" {
		return value, header.Get("Authorization") == ""
	}
	return bearer(header)
}

var versionPattern = regexp.MustCompile(`^20\d\d-\d\d-\d\d$`)

func (anthropic) parse(header http.Header, body []byte) (Request, []string) {
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var sent struct {
		Model     string  `json:"model"`
		MaxTokens int     `json:"max_tokens"`
		Stream    bool    `json:"stream"`
		System    []block `json:"system"`
		Messages  []struct {
			Role    string  `json:"role"`
			Content []block `json:"content"`
		} `json:"messages"`
	}
	if err := strictly(body, &sent); err != nil {
		return Request{}, []string{err.Error()}
	}
	request := Request{Model: sent.Model, Stream: sent.Stream, MaxTokens: sent.MaxTokens, LimitField: "max_tokens"}
	var problems []string
	if !versionPattern.MatchString(header.Get("Anthropic-Version")) {
		problems = append(problems, "no anthropic-version")
	}
	text := func(blocks []block) string {
		if len(blocks) != 1 || blocks[0].Type != "text" || blocks[0].Text == "" {
			problems = append(problems, "content other than one block of text")
			return ""
		}
		return blocks[0].Text
	}
	if len(sent.System) > 0 {
		request.System = text(sent.System)
	}
	if len(sent.Messages) != 1 || sent.Messages[0].Role != "user" {
		problems = append(problems, "messages other than one of the user")
	} else {
		request.User = text(sent.Messages[0].Content)
	}
	return request, append(problems, request.gaps()...)
}

func (anthropic) whole(a answer) string {
	content := []object{}
	if a.thinking != "" {
		content = append(content, object{"type": "thinking", "thinking": a.thinking, "signature": "c2ln"})
	}
	if a.text != "" {
		content = append(content, object{"type": "text", "text": a.text})
	}
	if a.called {
		content = append(content, object{"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": object{"path": "a.txt"}})
	}
	usage := object{}
	if !a.silent {
		usage = anthropicUsage(a)
	}
	return encode(object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": Model, "content": content,
		"stop_reason": anthropicReason(a), "stop_sequence": nil, "usage": usage,
	})
}

// anthropicUsage adds up to the prompt's tokens: what was read from a cache is not part
// of input_tokens.
func anthropicUsage(a answer) object {
	return object{
		"input_tokens": a.promptTokens() - 5, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2,
		"output_tokens": a.completionTokens(),
	}
}

func anthropicReason(a answer) string {
	switch a.ending {
	case endLength:
		return "max_tokens"
	case endRefusal, endFilter:
		return "refusal"
	case endTools:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func anthropicEvent(kind string, fields object) string {
	fields["type"] = kind
	return "event: " + kind + "\ndata: " + encode(fields) + "\n\n"
}

func (w anthropic) events(a answer, _ Request) []string {
	start := object{}
	if !a.silent {
		start = anthropicUsage(a)
		start["output_tokens"] = 1
	}
	events := []string{
		anthropicEvent("message_start", object{"message": object{
			"id": "msg_1", "type": "message", "role": "assistant", "model": Model, "content": []object{},
			"stop_reason": nil, "stop_sequence": nil, "usage": start,
		}}),
		w.ping(),
	}
	index := 0
	block := func(begin object, deltas []object) {
		events = append(events, anthropicEvent("content_block_start", object{"index": index, "content_block": begin}))
		for _, delta := range deltas {
			events = append(events, anthropicEvent("content_block_delta", object{"index": index, "delta": delta}))
		}
		events = append(events, anthropicEvent("content_block_stop", object{"index": index}))
		index++
	}
	if a.thinking != "" {
		var deltas []object
		for _, piece := range chop(a.thinking) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": piece})
		}
		block(object{"type": "thinking", "thinking": "", "signature": ""},
			append(deltas, object{"type": "signature_delta", "signature": "c2ln"}))
	}
	if a.text != "" {
		var deltas []object
		for _, piece := range chop(a.text) {
			deltas = append(deltas, object{"type": "text_delta", "text": piece})
		}
		block(object{"type": "text", "text": ""}, deltas)
	}
	if a.called {
		block(object{"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": object{}},
			[]object{{"type": "input_json_delta", "partial_json": `{"path":"a.txt"}`}})
	}
	usage := object{}
	if !a.silent {
		usage["output_tokens"] = a.completionTokens()
	}
	return append(events,
		anthropicEvent("message_delta", object{"delta": object{"stop_reason": anthropicReason(a), "stop_sequence": nil}, "usage": usage}),
		anthropicEvent("message_stop", object{}))
}

func (anthropic) piece(text string) string {
	return anthropicEvent("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": text}})
}

func (anthropic) around() (opening, closing string) {
	return `{"id":"msg_1","type":"message","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"`, `"}]}`
}

func (anthropic) ping() string { return anthropicEvent("ping", object{}) }

func (anthropic) errorBody(status int) string {
	kind := "api_error"
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusConflict:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusPaymentRequired:
		kind = "billing_error"
	case http.StatusForbidden:
		kind = "permission_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusRequestEntityTooLarge:
		kind = "request_too_large"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		kind = "timeout_error"
	case http.StatusServiceUnavailable, 529:
		kind = "overloaded_error"
	}
	return encode(object{"type": "error", "error": object{"type": kind, "message": "Something about key-of-the-double."}, "request_id": "req_1"})
}

func (w anthropic) errorEvent() string {
	return "event: error\ndata: " + w.errorBody(529) + "\n\n"
}

func (anthropic) tooLong() (status int, body string) {
	return http.StatusBadRequest, encode(object{"type": "error", "error": object{
		"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum",
	}})
}
