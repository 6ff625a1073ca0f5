package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/internal/endpoint"
)

// completion reads a whole answer. The SDK makes nil of the document "null".
func completion(message *sdk.Message) (summarizer.Completion, error) {
	if message == nil {
		return summarizer.Completion{}, endpoint.Malformed("the answer is null")
	}
	if message.Type != "message" {
		if raw := message.RawJSON(); hasError(raw) {
			return summarizer.Completion{}, endpoint.BodyError([]byte(raw))
		}
		return summarizer.Completion{}, endpoint.Malformed("the answer is no message")
	}
	var text strings.Builder
	called := false
	for _, block := range message.Content {
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "tool_use", "server_tool_use":
			called = true
		}
	}
	usage := message.Usage
	return summarizer.Completion{
		Text:             text.String(),
		Finish:           finish(message.StopReason, called, text.Len() == 0),
		Model:            message.Model,
		PromptTokens:     int(usage.InputTokens + usage.CacheCreationInputTokens + usage.CacheReadInputTokens),
		CompletionTokens: int(usage.OutputTokens),
	}, nil
}

func hasError(raw string) bool {
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	return json.Unmarshal([]byte(raw), &body) == nil && len(body.Error) > 0
}

// finish translates the stop reason; called says that a tool was called, empty
// that there was no text beside it.
func finish(reason sdk.StopReason, called, empty bool) summarizer.Finish {
	switch reason {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return summarizer.FinishLength
	case sdk.StopReasonRefusal:
		return summarizer.FinishRefusal
	case sdk.StopReasonToolUse:
		return summarizer.FinishToolCalls
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence:
		if called && empty {
			return summarizer.FinishToolCalls
		}
		return summarizer.FinishStop
	}
	return summarizer.FinishOther
}

// stream answers with the text as it arrives.
func (b *Backend) stream(ctx context.Context, params sdk.MessageNewParams, onText func(piece string)) (summarizer.Completion, error) {
	call := &endpoint.Call{Stream: true, MaxBytes: b.client.MaxBytes}
	events := b.messages.NewStreaming(ctx, params, option.WithMiddleware(call.Middleware))
	defer func() { _ = events.Close() }()

	answer := streamed{maxBytes: b.client.MaxBytes}
	for events.Next() {
		if err := answer.add(events.Current(), onText); err != nil {
			return summarizer.Completion{}, err
		}
		if answer.ended {
			// A server that keeps the connection open would hold the call until its deadline.
			return answer.completion(), nil
		}
	}
	err := events.Err()
	var said *sdk.Error
	switch {
	case errors.Is(err, endpoint.ErrWhole):
		return b.instead(call.Whole, onText)
	case errors.As(err, &said):
		return summarizer.Completion{}, endpoint.BodyError([]byte(said.RawJSON()))
	case err != nil:
		return summarizer.Completion{}, endpoint.Explain(ctx, err)
	}
	return summarizer.Completion{}, endpoint.BrokenOff()
}

// instead reads the document that came instead of a stream.
func (b *Backend) instead(document []byte, onText func(piece string)) (summarizer.Completion, error) {
	var message sdk.Message
	if json.Unmarshal(document, &message) != nil {
		return summarizer.Completion{}, endpoint.Malformed("the answer is not JSON")
	}
	answer, err := completion(&message)
	if err == nil && answer.Text != "" {
		onText(answer.Text)
	}
	return answer, err
}

// streamed is an answer as far as it has arrived.
type streamed struct {
	maxBytes       int64
	text           strings.Builder
	reason         sdk.StopReason
	model          string
	called, ended  bool
	prompt, output int64
}

func (s *streamed) add(event sdk.MessageStreamEventUnion, onText func(piece string)) error {
	switch event.Type {
	case "message_start":
		usage := event.Message.Usage
		s.model = event.Message.Model
		s.prompt = usage.InputTokens + usage.CacheCreationInputTokens + usage.CacheReadInputTokens
		s.output = usage.OutputTokens
	case "content_block_start":
		switch event.ContentBlock.Type {
		case "text":
			return s.write(event.ContentBlock.Text, onText)
		case "tool_use", "server_tool_use":
			s.called = true
		}
	case "content_block_delta":
		if event.Delta.Type == "text_delta" {
			return s.write(event.Delta.Text, onText)
		}
	case "message_delta":
		if event.Delta.StopReason != "" {
			s.reason = event.Delta.StopReason
		}
		// The counts here are totals, and some gateways know the prompt's only at the end.
		usage := event.Usage
		s.output = max(s.output, usage.OutputTokens)
		s.prompt = max(s.prompt, usage.InputTokens+usage.CacheCreationInputTokens+usage.CacheReadInputTokens)
	case "message_stop":
		s.ended = true
	}
	return nil
}

func (s *streamed) write(piece string, onText func(piece string)) error {
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
		Finish:           finish(s.reason, s.called, s.text.Len() == 0),
		Model:            s.model,
		PromptTokens:     int(s.prompt),
		CompletionTokens: int(s.output),
	}
}
