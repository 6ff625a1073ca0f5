package server_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logBuffer keeps a log that several goroutines write.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// outline is a summarizer that writes what it was given to summarize in a few
// words, or fails as it is told.
type outline struct {
	name string
	err  error
}

func (o outline) Name() string { return o.name }

func (o outline) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Response, error) {
	if o.err != nil {
		return summarizer.Response{}, o.err
	}
	text := fmt.Sprintf("## %s\n\n%d messages were summarized.\n", summarizer.SectionProgress, len(req.Turns))
	n, err := req.Count(ctx, text)
	return summarizer.Response{Text: text, Tokens: n}, err
}

// counter is shared: its vocabularies take a second to load under the race
// detector.
var counter = sync.OnceValue(func() *tokens.Counter { return tokens.NewCounter() })

// newEngine returns the real engine over the given ladder.
func newEngine(t testing.TB, rungs ...summarizer.Summarizer) *compressor.Engine {
	t.Helper()
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := ladder.New(ladder.Options{Rungs: rungs, Store: memory})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := compressor.New(compressor.Options{Counter: counter(), Ladder: steps, Store: memory})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// fixture is a running server and a client of it.
type fixture struct {
	client elbowroomv1.ContextServiceClient
	conn   *grpc.ClientConn
	server *server.Server
	log    *logBuffer
	// served is closed when Serve has returned.
	served chan struct{}
}

// start runs a server with the whole chain and connects to it.
func start(t testing.TB, change func(o *server.Options)) *fixture {
	t.Helper()
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{log: &logBuffer{}, served: make(chan struct{})}
	o := server.Options{
		Counter: counter(), Registry: registry,
		Log: slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&o)
	}
	if o.Compressor == nil {
		o.Compressor = newEngine(t, outline{name: "outline"})
	}
	if f.server, err = server.New(o); err != nil {
		t.Fatal(err)
	}
	lis := bufconn.Listen(1 << 20)
	go func() {
		defer close(f.served)
		if err := f.server.Serve(lis); err != nil {
			t.Errorf("Serve: %v", err)
		}
	}()
	f.conn, err = grpc.NewClient("passthrough:///bufconn",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(128<<20), grpc.MaxCallSendMsgSize(128<<20)))
	if err != nil {
		t.Fatal(err)
	}
	f.client = elbowroomv1.NewContextServiceClient(f.conn)
	t.Cleanup(func() {
		_ = f.conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := f.server.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		<-f.served
	})
	return f
}

// anthropic wraps a native Anthropic body.
func anthropic(json string) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, Body: &elbowroomv1.NativeRequest_Json{Json: json},
	}}
}

// openai wraps a native OpenAI chat body.
func openai(json string) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT, Body: &elbowroomv1.NativeRequest_Json{Json: json},
	}}
}

// inBytes is the same conversation with json_bytes in place of json.
func inBytes(c *elbowroomv1.Conversation) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: c.GetNative().GetFormat(), Body: &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: []byte(c.GetNative().GetJson())},
	}}
}

// prose is text of about n tokens, different for each seed.
func prose(seed, n int) string {
	words := []string{"the", "server", "returned", "an", "error", "while", "reading", "from", "disk", "and", "then", "retried"}
	var sb strings.Builder
	for i := range n {
		sb.WriteString(words[(seed*7+i*5)%len(words)])
		if i%10 == 9 {
			fmt.Fprintf(&sb, " %d\n", seed*1000+i)
			continue
		}
		sb.WriteByte(' ')
	}
	return sb.String()
}
