package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// input are the file and the flags of the commands that read one conversation.
type input struct {
	File string `arg:"" placeholder:"FILE" help:"A request body or an array of messages in JSON; - reads standard input."`
	source
}

// source are the flags that say how to read a conversation, and who works on it.
type source struct {
	Format string `enum:"auto,openai,anthropic" default:"auto" help:"Form of the JSON: auto, openai or anthropic."`
	Model  string `placeholder:"NAME" help:"The main model. Default: the one named in the file."`
	Server string `placeholder:"ADDR" help:"Use the server at this address. Default: one that lives as long as the command."`
	Config string `placeholder:"FILE" help:"YAML file with settings for the command's own server ($ELBOWROOM_CONFIG)."`
	JSON   bool   `name:"json" help:"Print the report as JSON."`
	remote
}

// output are the flags of the commands that write one.
type output struct {
	Out string `placeholder:"FILE" help:"Write the resulting conversation there, byte for byte; - is standard output, and the report then goes to standard error."`
}

// text reads the file.
func (in input) text(p process) (string, error) { return readText(p, in.File) }

// readText reads a file, or standard input for "-".
func readText(p process, file string) (string, error) {
	if file == "-" {
		text, err := io.ReadAll(p.stdin)
		if err != nil {
			return "", fmt.Errorf("read standard input: %w", err)
		}
		return string(text), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// conversation wraps the text for a request.
func (in source) conversation(text string) *elbowroomv1.Conversation {
	format := elbowroomv1.Format_FORMAT_OPENAI_CHAT
	switch in.Format {
	case "anthropic":
		format = elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES
	case "auto":
		if looksAnthropic(text) {
			format = elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES
		}
	}
	// As bytes: the server then says where invalid UTF-8 stands.
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: format, Body: &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: []byte(text)},
	}}
}

// looksAnthropic guesses the form of a body. What only one of the two forms has
// decides; where a file has nothing of the kind, the model's name does, and what
// is left is taken for OpenAI's, which the most programs write. JSON that cannot
// be read is left to the server to refuse.
func looksAnthropic(text string) bool {
	var body struct {
		Model    string            `json:"model"`
		System   json.RawMessage   `json:"system"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []json.RawMessage `json:"messages"`
	}
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		_ = json.Unmarshal([]byte(text), &body.Messages)
	} else {
		_ = json.Unmarshal([]byte(text), &body)
	}
	if body.System != nil {
		return true
	}
	for _, raw := range body.Tools {
		var tool struct {
			Function    json.RawMessage `json:"function"`
			InputSchema json.RawMessage `json:"input_schema"`
		}
		_ = json.Unmarshal(raw, &tool)
		if tool.Function != nil || tool.InputSchema != nil {
			return tool.InputSchema != nil
		}
	}
	for _, raw := range body.Messages {
		if verdict := formOfMessage(raw); verdict != undecided {
			return verdict == isAnthropic
		}
	}
	return strings.HasPrefix(body.Model, "claude")
}

// formVerdict is what one message says about the form of a body.
type formVerdict int

const (
	undecided formVerdict = iota
	isOpenAI
	isAnthropic
)

func formOfMessage(raw json.RawMessage) formVerdict {
	var m struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCalls  json.RawMessage `json:"tool_calls"`
		ToolCallID json.RawMessage `json:"tool_call_id"`
	}
	_ = json.Unmarshal(raw, &m)
	switch {
	case m.ToolCalls != nil, m.ToolCallID != nil:
		return isOpenAI
	case m.Role == "system", m.Role == "developer", m.Role == "tool", m.Role == "function":
		return isOpenAI
	}
	var blocks []struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(m.Content, &blocks)
	for _, b := range blocks {
		switch b.Type {
		case "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document":
			return isAnthropic
		case "image_url", "input_audio", "file", "refusal":
			return isOpenAI
		}
	}
	return undecided
}

// write puts the conversation where --out says. What a terminal or a pipe gets
// beside it goes to the writer that is returned.
func (o output) write(p process, c *elbowroomv1.Conversation) (report io.Writer, err error) {
	text := c.GetNative().GetJsonBytes()
	switch o.Out {
	case "":
		return p.stdout, nil
	case "-":
		if _, err := p.stdout.Write(text); err != nil {
			return nil, fmt.Errorf("write standard output: %w", err)
		}
		return p.stderr, nil
	default:
		if err := os.WriteFile(o.Out, text, 0o644); err != nil {
			return nil, err
		}
		return p.stdout, nil
	}
}
