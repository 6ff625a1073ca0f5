package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// serveConfig starts the service that a configuration describes and connects to it.
func serveConfig(t *testing.T, flags map[string]any) elbowroomv1.ContextServiceClient {
	t.Helper()
	c, err := config.Load(config.Sources{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(t.Context(), c, slog.New(slog.DiscardHandler), security{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var listen net.ListenConfig
	lis, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	conn, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		if err := s.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return elbowroomv1.NewContextServiceClient(conn)
}

func talk(n int) *elbowroomv1.Conversation {
	var list []string
	for i := range n {
		role := []string{"user", "assistant"}[i%2]
		list = append(list, `{"role":"`+role+`","content":`+conversation.Quote(strings.Repeat("The tide at the pier turns at noon. ", 60))+`}`)
	}
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT,
		Body:   &elbowroomv1.NativeRequest_Json{Json: "[" + strings.Join(list, ",") + "]"},
	}}
}

func TestALadderOfModelsIsBuiltFromNamesAndTheSDKsVariables(t *testing.T) {
	broken := wiredouble.Anthropic(t, wiredouble.Status(401))
	working := wiredouble.OpenAI(t, wiredouble.Text("## Goal\n- Watch the tide at the pier.\n"))
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": broken.URL, "ANTHROPIC_API_KEY": broken.Key,
		"OPENAI_BASE_URL": working.URL, "OPENAI_API_KEY": working.Key,
	} {
		t.Setenv(name, value)
	}
	client := serveConfig(t, map[string]any{
		"summarizers": []string{"anthropic:claude-haiku-4-5", "openai:gpt-5-mini", "extractive"},
	})
	compress := func(summarizer *string) (*elbowroomv1.CompressResponse, error) {
		return client.Compress(t.Context(), &elbowroomv1.CompressRequest{
			Conversation: talk(60), Model: "gpt-4o", ContextWindow: 32_000, Force: true,
			Policy: &elbowroomv1.CompressionPolicy{Summarizer: summarizer},
		})
	}
	reply, err := compress(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := reply.GetReport()
	if r.GetRung() != elbowroomv1.Rung_RUNG_LLM || r.GetSummarizerUsage().GetSummarizer() != "openai:gpt-5-mini" || !strings.Contains(reply.GetSummary(), "tide at the pier") {
		t.Errorf("rung %v by %v: %s", r.GetRung(), r.GetSummarizerUsage(), reply.GetSummary())
	}
	failed := r.GetFailedRungs()
	if len(failed) != 1 || failed[0].GetSummarizer() != "anthropic:claude-haiku-4-5" || failed[0].GetCode() != "auth" || failed[0].GetAttempts() != 1 {
		t.Errorf("failed rungs %v", failed)
	}
	// By name from the list, and no other.
	reply, err = compress(new("extractive"))
	if err != nil || reply.GetReport().GetRung() != elbowroomv1.Rung_RUNG_EXTRACTIVE {
		t.Errorf("by name: %v, %v", reply.GetReport().GetRung(), err)
	}
	if _, err = compress(new("openai:gpt-9")); err == nil || !strings.Contains(err.Error(), "anthropic:claude-haiku-4-5, openai:gpt-5-mini, extractive") {
		t.Errorf("another name: %v", err)
	}
}

func TestAPromptFileReplacesTheBuiltInPromptOrIsRefused(t *testing.T) {
	double := wiredouble.OpenAI(t, wiredouble.Text("## Goal\n- Watch the tide.\n"))
	t.Setenv("OPENAI_BASE_URL", double.URL)
	t.Setenv("OPENAI_API_KEY", double.Key)
	file := filepath.Join(t.TempDir(), "prompt.tmpl")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{{define "system"}}Note the tides.{{end}}{{define "user"}}{{.Previous}}{{.Focus}}{{.Boundary}}
{{.Conversation}}
## Goal{{end}}`)
	flags := map[string]any{"summarizers": []string{"openai:m"}, "summarizer.prompt_file": file}
	client := serveConfig(t, flags)
	if _, err := client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: talk(60), Model: "gpt-4o", ContextWindow: 32_000, Force: true}); err != nil {
		t.Fatal(err)
	}
	if sent := double.Requests(); len(sent) != 1 || !strings.Contains(string(sent[0].Body), "Note the tides.") {
		t.Errorf("%d requests", len(sent))
	}
	write(`{{define "system"}}Note the tides.{{end}}{{define "user"}}no conversation{{end}}`)
	c, err := config.Load(config.Sources{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newServer(t.Context(), c, slog.New(slog.DiscardHandler), security{}, nil); err == nil || !strings.Contains(err.Error(), "summarizer.prompt_file: ") {
		t.Errorf("a prompt without the conversation: %v", err)
	}
}

func TestAPluginElsewhereNeedsTLS(t *testing.T) {
	c, err := config.Load(config.Sources{Flags: map[string]any{"summarizers": []string{"plugin:summarizer.example:7000"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newServer(t.Context(), c, slog.New(slog.DiscardHandler), security{}, nil); err == nil || !strings.Contains(err.Error(), "plugin:summarizer.example:7000") {
		t.Errorf("plain text to another machine: %v", err)
	}
}
