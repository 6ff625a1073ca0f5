package elbowroom_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testutil/localserver"
)

// server is where the examples find the service, for example "localhost:50051".
var server string

// TestMain runs a server for the examples.
func TestMain(m *testing.M) {
	lis, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	stop, err := localserver.Run(lis)
	if err != nil {
		panic(err)
	}
	server = lis.Addr().String()
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func Example() {
	client, err := elbowroom.Connect(server)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	body := `{"model": "claude-sonnet-4-5", "max_tokens": 1e3, "system": "Be brief.", "messages": [{"role": "user", "content": "hi"}]}`
	result, err := client.Compress(context.Background(), body, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.GetOutcome(), result.GetReport().GetContextWindow())
	fmt.Println(string(result.Body))
	// Output:
	// OUTCOME_BELOW_THRESHOLD 200000
	// {"model": "claude-sonnet-4-5", "max_tokens": 1e3, "system": "Be brief.", "messages": [{"role": "user", "content": "hi"}]}
}

func ExampleConversation() {
	client, err := elbowroom.Connect(server)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	conversation := client.NewConversation(&elbowroomv1.PrepareRequest{
		Strategy: elbowroomv1.Strategy_STRATEGY_ANCHORED,
	}, elbowroom.WithFailOpen())

	type message map[string]any
	messages := []message{{"role": "user", "content": "What is in a.txt?"}}
	for range 2 {
		body, err := conversation.BeforeRequest(context.Background(), map[string]any{
			"model": "claude-sonnet-4-5", "max_tokens": 1024, "system": "Be brief.", "messages": messages,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		// Send body to the provider, and give its usage back.
		if err := conversation.AfterResponse(map[string]int{"input_tokens": len(body) / 4, "output_tokens": 9}); err != nil {
			fmt.Println(err)
			return
		}
		turn := conversation.Last()
		fmt.Println(turn.Outcome, len(turn.Breakpoints), "breakpoints, continued:", turn.Continued)
		messages = append(messages, message{"role": "assistant", "content": "Alpha."}, message{"role": "user", "content": "And in b.txt?"})
	}
	// Output:
	// OUTCOME_BELOW_THRESHOLD 2 breakpoints, continued: false
	// OUTCOME_BELOW_THRESHOLD 3 breakpoints, continued: true
}

func ExampleClient_ApplyCacheControl() {
	client, err := elbowroom.Connect(server)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	body := `[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]`
	result, err := client.ApplyCacheControl(context.Background(), body, &elbowroomv1.ApplyCacheControlRequest{
		Model: "anthropic/claude-sonnet-4.5", Ttl: elbowroomv1.CacheTtl_CACHE_TTL_1H,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.GetLayout())
	fmt.Println(string(result.Body))
	// Output:
	// LAYOUT_OPENROUTER
	// [{"role":"system","content":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral","ttl":"1h"}}]},{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]
}

func ExampleClient_CountText() {
	client, err := elbowroom.Connect(server)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	count, err := client.CountText(context.Background(), "Hello, world!", "gpt-4o")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(count.GetTokens(), count.GetEncoding())
	// Output: 4 o200k_base
}

func ExampleInvalidRequestError() {
	client, err := elbowroom.Connect(server)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	_, err = client.Compress(context.Background(), `[{"role":"user",}]`, nil, elbowroom.WithFormat(elbowroom.OpenAIChat))
	var invalid *elbowroom.InvalidRequestError
	if errors.As(err, &invalid) {
		fmt.Println(invalid.Field, "byte", invalid.ByteOffset)
		fmt.Println(invalid.Err.Advice)
	}
	// Output:
	// conversation.native.json byte 16
	// correct the request; sending it again does not help
}
