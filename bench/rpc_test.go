package bench

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/internal/telemetry"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

const messageLimit = 64 << 20

// newServer is the service with the embedded summarizer.
func newServer(counter *tokens.Counter, known *memo.Memo, recorder *telemetry.Recorder) (*server.Server, error) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		return nil, err
	}
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		return nil, err
	}
	steps, err := ladder.New(ladder.Options{Rungs: []summarizer.Summarizer{extractive.New()}, Store: memory})
	if err != nil {
		return nil, err
	}
	engine, err := compressor.New(compressor.Options{Counter: counter, Ladder: steps, Store: memory, Memo: known})
	if err != nil {
		return nil, err
	}
	return server.New(server.Options{
		Compressor: engine, Counter: counter, Registry: registry, Log: slog.New(slog.DiscardHandler), Telemetry: recorder,
	})
}

// dial starts the service on a free loopback port and connects to it.
func dial(b *testing.B, counter *tokens.Counter) elbowroomv1.ContextServiceClient {
	b.Helper()
	return dialKnowing(b, counter, memo.New(memo.DefaultBytes))
}

// dialKnowing is dial for a service that remembers texts in known, nil for none.
func dialKnowing(b *testing.B, counter *tokens.Counter, known *memo.Memo) elbowroomv1.ContextServiceClient {
	b.Helper()
	client, stop := startKnowing(b, counter, known, nil)
	b.Cleanup(stop)
	return client
}

// start is dial for those who stop the server themselves.
func start(b *testing.B, counter *tokens.Counter, recorder *telemetry.Recorder) (client elbowroomv1.ContextServiceClient, stop func()) {
	b.Helper()
	return startKnowing(b, counter, memo.New(memo.DefaultBytes), recorder)
}

func startKnowing(b *testing.B, counter *tokens.Counter, known *memo.Memo, recorder *telemetry.Recorder) (client elbowroomv1.ContextServiceClient, stop func()) {
	b.Helper()
	srv, err := newServer(counter, known, recorder)
	if err != nil {
		b.Fatal(err)
	}
	if err := srv.Warm(b.Context()); err != nil { // as the service does before it listens
		b.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = srv.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit), grpc.MaxCallSendMsgSize(messageLimit)))
	if err != nil {
		b.Fatal(err)
	}
	return elbowroomv1.NewContextServiceClient(conn), func() {
		_ = conn.Close()
		_ = srv.Shutdown(context.Background())
	}
}

// native wraps a request body.
func native(format elbowroomv1.Format, json string) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: format, Body: &elbowroomv1.NativeRequest_Json{Json: json},
	}}
}

// calls are the RPCs that carry a conversation.
func calls(client elbowroomv1.ContextServiceClient, c *elbowroomv1.Conversation) []struct {
	name string
	run  func(context.Context) error
} {
	const model = "claude-sonnet-4-5"
	return []struct {
		name string
		run  func(context.Context) error
	}{
		{"Compress", func(ctx context.Context) error {
			_, err := client.Compress(ctx, &elbowroomv1.CompressRequest{Conversation: c, Model: model, Force: true})
			return err
		}},
		{"Prepare", func(ctx context.Context) error {
			_, err := client.Prepare(ctx, &elbowroomv1.PrepareRequest{Conversation: c, Model: model, Force: true})
			return err
		}},
		{"ApplyCacheControl", func(ctx context.Context) error {
			_, err := client.ApplyCacheControl(ctx, &elbowroomv1.ApplyCacheControlRequest{Conversation: c, Model: model})
			return err
		}},
		{"CountTokens", func(ctx context.Context) error {
			_, err := client.CountTokens(ctx, &elbowroomv1.CountTokensRequest{Conversation: c, Model: model})
			return err
		}},
	}
}

// counters are the two states of a service that has been up for a while: it meets a conversation for the first time, or
// it has met all of it before.
func counters() []struct {
	name    string
	counter *tokens.Counter
	known   *memo.Memo
} {
	return []struct {
		name    string
		counter *tokens.Counter
		known   *memo.Memo
	}{
		{"nothing remembered", tokens.NewCounter(tokens.RememberedCounts(0)), nil},
		{"all remembered", tokens.NewCounter(), memo.New(memo.DefaultBytes)},
	}
}

// BenchmarkLargestConversation runs every RPC on the largest recorded conversation.
func BenchmarkLargestConversation(b *testing.B) {
	file, format := largest(b)
	for _, state := range counters() {
		client := dialKnowing(b, state.counter, state.known)
		for _, call := range calls(client, native(format, file.JSON)) {
			b.Run(call.name+"/"+file.Name+"/"+state.name, func(b *testing.B) { measure(b, len(file.JSON), call.run) })
		}
	}
}

// largest is the largest recorded conversation.
func largest(b *testing.B) (testdata.File, elbowroomv1.Format) {
	b.Helper()
	file := slices.MaxFunc(testdata.Conversations(b), func(x, y testdata.File) int { return len(x.JSON) - len(y.JSON) })
	if file.Format == testdata.Anthropic {
		return file, elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES
	}
	return file, elbowroomv1.Format_FORMAT_OPENAI_CHAT
}

// BenchmarkGrowth runs every RPC on conversations of 100, 1,000 and 10,000
// messages: the time of a tenfold conversation is to stay within twelve times.
func BenchmarkGrowth(b *testing.B) {
	for _, state := range counters() {
		client := dialKnowing(b, state.counter, state.known)
		for _, n := range []int{100, 1_000, 10_000} {
			json := agentSession(n)
			for _, call := range calls(client, native(elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, json)) {
				b.Run(fmt.Sprintf("%s/%d/%s", call.name, n, state.name), func(b *testing.B) { measure(b, len(json), call.run) })
			}
		}
	}
}

func measure(b *testing.B, size int, run func(context.Context) error) {
	if err := run(b.Context()); err != nil { // loads the vocabulary; the counter meets the conversation
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for b.Loop() {
		if err := run(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// agentSession is an invented coding session of n messages of even size.
func agentSession(n int) string {
	var sb strings.Builder
	sb.WriteString(`{"model":"claude-sonnet-4-5","system":"You maintain a booking service.","messages":[{"role":"user","content":"Make the nightly import of bookings idempotent."}`)
	for i := 1; i < n; i++ {
		if i%2 == 1 {
			fmt.Fprintf(&sb, `,{"role":"assistant","content":[{"type":"text","text":"Step %d: I look at importer/batch_%d.go."},{"type":"tool_use","id":"call_%d","name":"read_file","input":{"path":"importer/batch_%d.go","offset":%d}}]}`, i, i%97, i, i%97, i)
			continue
		}
		fmt.Fprintf(&sb, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":"package importer\n\n// Batch %d is written once per night.\nfunc batch%d(rows []Row) error {\n\tif len(rows) == %d {\n\t\treturn errEmpty\n\t}\n\treturn store.Upsert(rows, \"booking-%d\")\n}\n"}]}`, i-1, i, i, i%13, i*7919)
	}
	sb.WriteString("]}")
	return sb.String()
}
