package elbowroom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/grpc/codes"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// The wire formats of conversations, for [WithFormat] and [Native].
const (
	// OpenAIChat is OpenAI Chat Completions, and everything that copies its shape.
	OpenAIChat = elbowroomv1.Format_FORMAT_OPENAI_CHAT
	// AnthropicMessages is Anthropic Messages.
	AnthropicMessages = elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES
)

// JSON is the JSON of a body: []byte, [json.RawMessage] and string are JSON already
// and stay as they are, anything else is marshalled, without escaping <, > and &.
func JSON(body any) (json.RawMessage, error) {
	switch b := body.(type) {
	case json.RawMessage:
		return b, nil
	case []byte:
		return b, nil
	case string:
		return json.RawMessage(b), nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return nil, fmt.Errorf("elbowroom: body: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Native wraps a body for requests that carry several conversations, for example
// those of [Client.SimulateCache]. Without a format it is told from the body.
func Native(body any, format elbowroomv1.Format) (*elbowroomv1.Conversation, error) {
	text, err := JSON(body)
	if err != nil {
		return nil, err
	}
	_, isText := body.(string)
	return native(text, isText, format)
}

// native wraps JSON text. What came as bytes goes as bytes, and so does what is no
// UTF-8, which the service names the offset of.
func native(text json.RawMessage, isText bool, format elbowroomv1.Format) (*elbowroomv1.Conversation, error) {
	if format == elbowroomv1.Format_FORMAT_UNSPECIFIED {
		var err error
		if format, err = detectFormat(text); err != nil {
			return nil, err
		}
	}
	n := &elbowroomv1.NativeRequest{Format: format}
	if isText && utf8.Valid(text) {
		n.Body = &elbowroomv1.NativeRequest_Json{Json: string(text)}
	} else {
		n.Body = &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: text}
	}
	return &elbowroomv1.Conversation{Native: n}, nil
}

// shape is the part of a body that tells its format.
type shape struct {
	System   json.RawMessage `json:"system"`
	Tools    []toolShape     `json:"tools"`
	Messages []messageShape  `json:"messages"`
}

type toolShape struct {
	Type        string          `json:"type"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type messageShape struct {
	Role      string          `json:"role"`
	ToolCalls json.RawMessage `json:"tool_calls"`
	Content   json.RawMessage `json:"content"`
}

// partFormats are the kinds of content that only one format has.
var partFormats = map[string]elbowroomv1.Format{
	"tool_use": AnthropicMessages, "tool_result": AnthropicMessages, "thinking": AnthropicMessages,
	"redacted_thinking": AnthropicMessages, "image": AnthropicMessages, "document": AnthropicMessages,
	"image_url": OpenAIChat, "input_audio": OpenAIChat, "file": OpenAIChat, "refusal": OpenAIChat,
}

// detectFormat tells the format from members that only one of them has.
func detectFormat(text json.RawMessage) (elbowroomv1.Format, error) {
	var s shape
	var err error
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		err = json.Unmarshal(text, &s.Messages)
	} else {
		err = json.Unmarshal(text, &s)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return 0, invalid("body", "it is no JSON: "+syntax.Error(), syntax.Offset)
	}
	if len(s.System) > 0 {
		return AnthropicMessages, nil
	}
	for _, t := range s.Tools {
		switch {
		case len(t.InputSchema) > 0:
			return AnthropicMessages, nil
		case t.Type == "function":
			return OpenAIChat, nil
		}
	}
	for _, m := range s.Messages {
		switch m.Role {
		case "system", "developer", "tool", "function":
			return OpenAIChat, nil
		}
		if len(m.ToolCalls) > 0 {
			return OpenAIChat, nil
		}
		var parts []struct {
			Type string `json:"type"`
		}
		if len(m.Content) == 0 || m.Content[0] != '[' || json.Unmarshal(m.Content, &parts) != nil {
			continue
		}
		for _, p := range parts {
			if format, ok := partFormats[p.Type]; ok {
				return format, nil
			}
		}
	}
	return 0, invalid("format", "the body could be of either format; name it with WithFormat", -1)
}

// invalid is a request that the client itself finds wrong.
func invalid(field, message string, offset int64) error {
	return &InvalidRequestError{
		Err: &Error{
			Code: codes.InvalidArgument, Message: field + ": " + message,
			Advice: advice(codes.InvalidArgument, ""),
		},
		Field: field, ByteOffset: offset, Index: -1,
	}
}

// spliced applies byte edits to the text they were made for. The result shares
// nothing with it.
func spliced(text []byte, splices []*elbowroomv1.Splice) (json.RawMessage, error) {
	size := len(text)
	for _, s := range splices {
		size += len(s.GetText())
	}
	out := make([]byte, 0, size)
	at := int64(0)
	for i, s := range splices {
		end := s.GetOffset() + s.GetLength()
		if s.GetOffset() < at || end < s.GetOffset() || end > int64(len(text)) {
			return nil, &InternalError{Err: &Error{
				Code:    codes.Internal,
				Message: fmt.Sprintf("splice %d of the answer covers [%d,%d), after %d of %d bytes", i, s.GetOffset(), end, at, len(text)),
				Advice:  advice(codes.Internal, ""),
			}}
		}
		out = append(out, text[at:s.GetOffset()]...)
		out = append(out, s.GetText()...)
		at = end
	}
	return append(out, text[at:]...), nil
}
