// Command anthropic-loop is an agent that reads files, with the official Anthropic
// SDK and a context that Elbowroom keeps short and cacheable:
//
//	go run ./examples/go/anthropic-loop "What does main.go do?"
//
// It reads files of the current directory and needs ANTHROPIC_API_KEY, and a server
// at ELBOWROOM_ADDR (localhost:50051). Without the server it goes on with its whole
// history.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// maxTurns ends a loop that does not end by itself.
const maxTurns = 200

func main() {
	if err := run(context.Background(), strings.Join(os.Args[1:], " "), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, question string, out io.Writer) error {
	if question == "" {
		return errors.New("usage: anthropic-loop QUESTION")
	}
	service, err := elbowroom.Connect(cmp.Or(os.Getenv("ELBOWROOM_ADDR"), "localhost:50051"))
	if err != nil {
		return err
	}
	defer service.Close() //nolint:errcheck // nothing is left to do about it
	files, err := os.OpenRoot(".")
	if err != nil {
		return err
	}
	a := agent{
		name:  cmp.Or(os.Getenv("MODEL"), anthropic.ModelClaudeSonnet5_5),
		model: anthropic.NewClient(),
		conversation: service.NewConversation(&elbowroomv1.PrepareRequest{
			Strategy: elbowroomv1.Strategy_STRATEGY_ANCHORED,
		}, elbowroom.WithFailOpen()),
		files: files,
	}
	answer, err := a.ask(ctx, question)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, answer)
	return err
}

// agent asks the model and runs the tools it calls.
type agent struct {
	name         string // of the model
	model        anthropic.Client
	conversation *elbowroom.Conversation
	files        *os.Root
}

func readFile() anthropic.ToolUnionParam {
	return anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
		Name:        "read_file",
		Description: anthropic.String("Read a file of the current directory."),
		InputSchema: anthropic.ToolInputSchemaParam{
			Properties: map[string]any{"path": map[string]any{"type": "string"}},
			Required:   []string{"path"},
		},
	}}
}

// ask runs the loop until the model has an answer. The history in params is the whole
// one; what is sent is what the conversation makes of it.
func (a *agent) ask(ctx context.Context, question string) (string, error) {
	params := anthropic.MessageNewParams{
		Model:     a.name,
		MaxTokens: 4096,
		System:    []anthropic.TextBlockParam{{Text: "You answer questions about the files of a directory. Read what you need."}},
		Tools:     []anthropic.ToolUnionParam{readFile()},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(question))},
	}
	for range maxTurns {
		body, err := a.conversation.BeforeRequest(ctx, params)
		if err != nil {
			return "", err
		}
		reply, err := a.model.Messages.New(ctx, params, option.WithRequestBody("application/json", []byte(body)))
		if err != nil {
			return "", err
		}
		if err := a.conversation.AfterResponse(reply.Usage); err != nil {
			return "", err
		}
		params.Messages = append(params.Messages, reply.ToParam())
		var text strings.Builder
		var results []anthropic.ContentBlockParamUnion
		for _, block := range reply.Content {
			switch block := block.AsAny().(type) {
			case anthropic.TextBlock:
				text.WriteString(block.Text)
			case anthropic.ToolUseBlock:
				output, failed := a.call(block)
				results = append(results, anthropic.NewToolResultBlock(block.ID, output, failed))
			}
		}
		if len(results) == 0 {
			return text.String(), nil
		}
		params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}

// call runs a tool and returns its output, and whether it failed.
func (a *agent) call(use anthropic.ToolUseBlock) (string, bool) {
	var input struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal(use.Input, &input); err != nil {
		return err.Error(), true
	}
	text, err := a.files.ReadFile(input.Path)
	if err != nil {
		return err.Error(), true
	}
	return string(text), false
}
