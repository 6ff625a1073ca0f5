package main

import (
	"fmt"
	"io"
	"os"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
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
		if conversation.DetectFormat(text) == conversation.FormatAnthropicMessages {
			format = elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES
		}
	}
	// As bytes: the server then says where invalid UTF-8 stands.
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: format, Body: &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: []byte(text)},
	}}
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
