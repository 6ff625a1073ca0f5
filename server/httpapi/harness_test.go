package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/server/httpapi"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	jsonType = "application/json"
	service  = "/elbowroom.v1.ContextService/"
)

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

// counter is shared: its vocabularies take a second to load under the race detector.
var counter = sync.OnceValue(func() *tokens.Counter { return tokens.NewCounter() })

// fixture is the service on both ports.
type fixture struct {
	t      testing.TB
	server *server.Server
	edge   *httpapi.Server
	client elbowroomv1.ContextServiceClient // over gRPC
	http   *http.Client
	url    string // of the HTTP edge, without a slash
	log    *logBuffer
	served chan struct{} // closed when both have ended
	stop   func()
}

// options are what a test changes.
type options struct {
	server server.Options
	edge   httpapi.Options
}

// newEngine returns the real engine with the embedded summarizer.
func newEngine(t testing.TB, continuity bool, rungs ...summarizer.Summarizer) *compressor.Engine {
	t.Helper()
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(rungs) == 0 {
		rungs = append(rungs, extractive.New())
	}
	steps, err := ladder.New(ladder.Options{Rungs: rungs, Store: memory})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := compressor.New(compressor.Options{Counter: counter(), Ladder: steps, Store: memory, Continuity: continuity})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// start runs the service on loopback until the test ends.
func start(t testing.TB, change func(*options)) *fixture {
	t.Helper()
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, log: &logBuffer{}, served: make(chan struct{})}
	log := slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o := &options{server: server.Options{Counter: counter(), Registry: registry, Log: log}, edge: httpapi.Options{Log: log}}
	if change != nil {
		change(o)
	}
	if o.server.Compressor == nil {
		o.server.Compressor = newEngine(t, true)
	}
	if f.server, err = server.New(o.server); err != nil {
		t.Fatal(err)
	}
	o.edge.GRPC, o.edge.Recognize = f.server.Handler(), f.server.Recognize
	if f.edge, err = httpapi.New(o.edge); err != nil {
		t.Fatal(err)
	}
	native, web := listen(t), listen(t)
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.server.Serve(native); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	running.Go(func() {
		if err := f.edge.Serve(web); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	go func() { running.Wait(); close(f.served) }()
	conn, err := grpc.NewClient(native.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(128<<20), grpc.MaxCallSendMsgSize(128<<20)))
	if err != nil {
		t.Fatal(err)
	}
	f.client = elbowroomv1.NewContextServiceClient(conn)
	transport := &http.Transport{}
	f.http = &http.Client{Transport: transport, Timeout: time.Minute}
	f.url = "http://" + web.Addr().String()
	f.stop = sync.OnceFunc(func() {
		_ = conn.Close()
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		f.server.Drain()
		if err := errors.Join(f.edge.Shutdown(ctx), f.server.Shutdown(ctx)); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		<-f.served
	})
	t.Cleanup(f.stop)
	return f
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	var c net.ListenConfig
	lis, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return lis
}

// reply is what an HTTP request was answered with.
type reply struct {
	status int
	header http.Header
	body   string
}

// post sends a body. header are names and values by turns.
func (f *fixture) post(path, contentType, body string, header ...string) reply {
	f.t.Helper()
	return f.send(http.MethodPost, path, strings.NewReader(body), append([]string{"Content-Type", contentType}, header...)...)
}

func (f *fixture) send(method, path string, body io.Reader, header ...string) reply {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, body)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := f.http.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// failure is an error of the HTTP edge taken apart.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details []struct {
		Type  string `json:"type"`
		Debug struct {
			Reason          string            `json:"reason"`
			Metadata        map[string]string `json:"metadata"`
			FieldViolations []struct {
				Field string `json:"field"`
			} `json:"fieldViolations"`
		} `json:"debug"`
	} `json:"details"`
}

// failure reads the reply as an error.
func (r reply) failure(t testing.TB) failure {
	t.Helper()
	var out failure
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || out.Code == "" || r.header.Get("Content-Type") != jsonType {
		t.Fatalf("no error in JSON: %d %s %q", r.status, r.header.Get("Content-Type"), r.body)
	}
	return out
}

// field is the first field that the error names.
func (e failure) field() string {
	for _, d := range e.Details {
		if len(d.Debug.FieldViolations) > 0 {
			return d.Debug.FieldViolations[0].Field
		}
	}
	return ""
}

// fact is an entry of the error's metadata.
func (e failure) fact(key string) string {
	for _, d := range e.Details {
		if v := d.Debug.Metadata[key]; v != "" {
			return v
		}
	}
	return ""
}

// prose is text of about n tokens, different for each seed.
func prose(seed, n int) string {
	words := []string{"the", "server", "returned", "an", "error", "while", "reading", "from", "disk", "and", "then", "retried"}
	var sb strings.Builder
	for i := range n {
		sb.WriteString(words[(seed*7+i*5)%len(words)])
		if i%10 == 9 {
			fmt.Fprintf(&sb, " %d. ", seed*1000+i)
			continue
		}
		sb.WriteByte(' ')
	}
	return sb.String()
}

// talk is an OpenAI conversation of n turns that differ, as a JSON array.
func talk(n, tokensEach int) string {
	var sb strings.Builder
	sb.WriteString(`[{"role":"system","content":"You are terse."}`)
	for i := range n {
		fmt.Fprintf(&sb, ",\n {\"content\": %q, \"role\": \"user\", \"x\": 1.%d0}", prose(2*i, tokensEach), i)
		fmt.Fprintf(&sb, ",\n {\"role\": \"assistant\", \"content\": %q}", prose(2*i+1, tokensEach))
	}
	sb.WriteString(`]`)
	return sb.String()
}
