// Command openai-loop is an agent that reads files, with the official OpenAI SDK and
// a context that Elbowroom keeps short and cacheable:
//
//	go run ./examples/go/openai-loop "What does main.go do?"
//
// It reads files of the current directory and needs OPENAI_API_KEY, and a server at
// ELBOWROOM_ADDR (localhost:50051). Without the server it goes on with its whole
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

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
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
		return errors.New("usage: openai-loop QUESTION")
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
		name:         cmp.Or(os.Getenv("MODEL"), openai.ChatModelGPT6Sol),
		model:        openai.NewClient(),
		conversation: service.NewConversation(nil, elbowroom.WithFailOpen()),
		files:        files,
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
	model        openai.Client
	conversation *elbowroom.Conversation
	files        *os.Root
}

func readFile() openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name:        "read_file",
		Description: openai.String("Read a file of the current directory."),
		Parameters: openai.FunctionParameters{
			"type":       "object",
			"properties": map[string]any{"path": map[string]any{"type": "string"}},
			"required":   []string{"path"},
		},
	})
}

// ask runs the loop until the model has an answer. The history in params is the whole
// one; what is sent is what the conversation makes of it.
func (a *agent) ask(ctx context.Context, question string) (string, error) {
	params := openai.ChatCompletionNewParams{
		Model: a.name,
		Tools: []openai.ChatCompletionToolUnionParam{readFile()},
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("You answer questions about the files of a directory. Read what you need."),
			openai.UserMessage(question),
		},
	}
	for range maxTurns {
		body, err := a.conversation.BeforeRequest(ctx, params)
		if err != nil {
			return "", err
		}
		reply, err := a.model.Chat.Completions.New(ctx, params, option.WithRequestBody("application/json", []byte(body)))
		if err != nil {
			return "", err
		}
		if err := a.conversation.AfterResponse(reply.Usage); err != nil {
			return "", err
		}
		if len(reply.Choices) == 0 {
			return "", errors.New("a reply without a choice")
		}
		message := reply.Choices[0].Message
		if len(message.ToolCalls) == 0 {
			return message.Content, nil
		}
		params.Messages = append(params.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			params.Messages = append(params.Messages, openai.ToolMessage(a.call(call.Function.Arguments), call.ID))
		}
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}

// call runs the tool and returns its output, or what went wrong.
func (a *agent) call(arguments string) string {
	var input struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal([]byte(arguments), &input); err != nil {
		return "error: " + err.Error()
	}
	text, err := a.files.ReadFile(input.Path)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(text)
}
