package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/internal/endpoint"
)

// completion reads a whole answer. The SDK makes nil of the document "null".
func completion(response *sdk.ChatCompletion) (summarizer.Completion, error) {
	if response == nil {
		return summarizer.Completion{}, endpoint.Malformed("the answer is null")
	}
	if failed := errorIn(response.JSON.ExtraFields); failed != nil {
		return summarizer.Completion{}, failed
	}
	if len(response.Choices) == 0 {
		return summarizer.Completion{}, endpoint.Malformed("the answer has no choices")
	}
	choice := response.Choices[0]
	if failed := choiceError(choice.JSON.ExtraFields, choice.FinishReason); failed != nil {
		return summarizer.Completion{}, failed
	}
	message := choice.Message
	text := content(message.Content, message.JSON.Content)
	called := len(message.ToolCalls) > 0
	return summarizer.Completion{
		Text:             text,
		Finish:           finish(choice.FinishReason, message.Refusal != "", called && text == ""),
		Model:            response.Model,
		PromptTokens:     int(response.Usage.PromptTokens),
		CompletionTokens: int(response.Usage.CompletionTokens),
	}, nil
}

// errorIn is the failure that a 200 reports in an "error" field, nil without one.
func errorIn(extra map[string]respjson.Field) error {
	field, ok := extra["error"]
	if raw := field.Raw(); ok && raw != "" && raw != "null" {
		return endpoint.BodyError([]byte(`{"error":` + raw + `}`))
	}
	return nil
}

// choiceError is the failure that OpenRouter reports in a choice.
func choiceError(extra map[string]respjson.Field, reason string) error {
	if failed := errorIn(extra); failed != nil {
		return failed
	}
	if reason == "error" {
		return endpoint.Malformed("the answer ended in an error")
	}
	return nil
}

// content is the text of a message or delta. Some servers send a list of parts
// instead of a string; reasoning is none of it.
func content(text string, field respjson.Field) string {
	raw := field.Raw()
	if !strings.HasPrefix(raw, "[") {
		return text
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(raw), &parts) != nil {
		return ""
	}
	var joined strings.Builder
	for _, part := range parts {
		if part.Type == "text" || part.Type == "output_text" {
			joined.WriteString(part.Text)
		}
	}
	return joined.String()
}

// finish translates the finish reason, which servers write in their own ways.
func finish(reason string, refused, onlyCalls bool) summarizer.Finish {
	if refused {
		return summarizer.FinishRefusal
	}
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "model_length":
		return summarizer.FinishLength
	case "content_filter", "refusal", "safety":
		return summarizer.FinishRefusal
	case "tool_calls", "function_call", "tool_use":
		return summarizer.FinishToolCalls
	case "stop", "stop_sequence", "end_turn", "eos", "eos_token":
		if onlyCalls {
			return summarizer.FinishToolCalls
		}
		return summarizer.FinishStop
	}
	return summarizer.FinishOther
}

// stream answers with the text as it arrives.
func (b *Backend) stream(ctx context.Context, params sdk.ChatCompletionNewParams, onText func(piece string)) (summarizer.Completion, error) {
	call := &endpoint.Call{Stream: true, MaxBytes: b.client.MaxBytes}
	chunks := b.chat.NewStreaming(ctx, params, option.WithMiddleware(call.Middleware))
	defer func() { _ = chunks.Close() }()

	answer, begun := streamed{maxBytes: b.client.MaxBytes}, false
	for chunks.Next() {
		begun = true
		if err := answer.add(chunks.Current(), onText); err != nil {
			return summarizer.Completion{}, err
		}
	}
	err := chunks.Err()
	var said *ssestream.StreamError
	switch {
	case errors.Is(err, endpoint.ErrWhole):
		return inOnePiece(onText)(decodeWhole(call.Whole))
	case errors.As(err, &said):
		return summarizer.Completion{}, endpoint.BodyError(said.Event.Data)
	case err != nil:
		return summarizer.Completion{}, endpoint.Explain(ctx, err)
	case !begun:
		// llama-cpp-python ends a stream like this when the prompt does not fit. Asked for a whole answer, it says why;
		// on a new connection, because it closes this one a moment later.
		b.client.HTTP.CloseIdleConnections()
		params.StreamOptions = sdk.ChatCompletionStreamOptionsParam{}
		return inOnePiece(onText)(b.whole(ctx, params))
	case answer.reason == "":
		// The end marker is not told apart from the end of the connection, but a finish reason comes before either.
		return summarizer.Completion{}, endpoint.BrokenOff()
	}
	return answer.completion(), nil
}

// inOnePiece passes on a whole answer where a stream was wanted.
func inOnePiece(onText func(piece string)) func(summarizer.Completion, error) (summarizer.Completion, error) {
	return func(answer summarizer.Completion, err error) (summarizer.Completion, error) {
		if err == nil && answer.Text != "" {
			onText(answer.Text)
		}
		return answer, err
	}
}

// streamed is an answer as far as it has arrived.
type streamed struct {
	maxBytes        int64
	text            strings.Builder
	reason, model   string
	refused, called bool
	prompt, output  int64
}

func (s *streamed) add(chunk sdk.ChatCompletionChunk, onText func(piece string)) error {
	if chunk.Model != "" {
		s.model = chunk.Model
	}
	// Totals, in the last chunk or, with some servers, in each.
	s.prompt = max(s.prompt, chunk.Usage.PromptTokens)
	s.output = max(s.output, chunk.Usage.CompletionTokens)
	if len(chunk.Choices) == 0 || chunk.Choices[0].Index != 0 {
		return nil
	}
	choice := chunk.Choices[0]
	if failed := choiceError(choice.JSON.ExtraFields, choice.FinishReason); failed != nil {
		return failed
	}
	s.refused = s.refused || choice.Delta.Refusal != ""
	s.called = s.called || len(choice.Delta.ToolCalls) > 0
	if choice.FinishReason != "" {
		s.reason = choice.FinishReason
	}
	piece := content(choice.Delta.Content, choice.Delta.JSON.Content)
	if piece == "" {
		return nil
	}
	if int64(s.text.Len()+len(piece)) > s.maxBytes {
		return endpoint.TooLarge()
	}
	s.text.WriteString(piece)
	onText(piece)
	return nil
}

func (s *streamed) completion() summarizer.Completion {
	return summarizer.Completion{
		Text:             s.text.String(),
		Finish:           finish(s.reason, s.refused, s.called && s.text.Len() == 0),
		Model:            s.model,
		PromptTokens:     int(s.prompt),
		CompletionTokens: int(s.output),
	}
}
