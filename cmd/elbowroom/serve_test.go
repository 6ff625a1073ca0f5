package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// syncBuffer is a buffer that one goroutine writes and another one waits on.
type syncBuffer struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	changed chan struct{}
}

func newSyncBuffer() *syncBuffer { return &syncBuffer{changed: make(chan struct{}, 1)} }

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// serve runs a server until the test ends or stop is called, and returns its
// address.
func serve(t *testing.T, args ...string) (addr string, b background) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	b = background{out: newSyncBuffer(), err: newSyncBuffer(), cancel: cancel, code: make(chan int, 1)}
	go func() {
		b.code <- run(ctx, process{args: append([]string{"serve", "--grpc-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, args...), stdout: b.out, stderr: b.err})
	}()
	t.Cleanup(cancel)
	where := regexp.MustCompile(`(?m)^gRPC: (\S+)$`)
	for {
		if found := where.FindStringSubmatch(b.out.String()); found != nil {
			return found[1], b
		}
		select {
		case <-b.out.changed:
		case code := <-b.code:
			t.Fatalf("serve ended with exit code %d: %s", code, b.err.String())
		}
	}
}

func TestServeSaysWhatIsOnAnswersAndStops(t *testing.T) {
	addr, b := serve(t, "--compression-model-thresholds", "claude=0.6")
	if got := runArgs(t, "healthcheck", "--server", addr); got.code != exitOK || got.stdout != addr+": SERVING\n" {
		t.Errorf("healthcheck: %+v", got)
	}
	if got := runArgs(t, "count", "--server", addr, "testdata/openai.json"); got.code != exitOK || !strings.Contains(got.stdout, "tokens") {
		t.Errorf("count: %+v", got)
	}
	if code := b.stop(); code != exitOK {
		t.Errorf("exit code %d after the signal", code)
	}
	golden(t, "serve", regexp.MustCompile(`(HTTP/JSON|Admin): 127.0.0.1:\d+`).ReplaceAllString(strings.ReplaceAll(b.out.String(), addr, "ADDR"), "$1: ANOTHER"))
	if got := runArgs(t, "healthcheck", "--server", addr, "--timeout", "1s"); got.code != exitError {
		t.Errorf("healthcheck after the end: %+v", got)
	}
}

func TestServeSaysWhoMayCall(t *testing.T) {
	_, open := serve(t, "--grpc-addr", "0.0.0.0:0", "--insecure")
	if code := open.stop(); code != exitOK || !strings.Contains(open.out.String(), "Authentication: off (--insecure: whoever reaches the address may call)\n") {
		t.Errorf("exit code %d:\n%s", code, open.out.String())
	}
	addr, b := serve(t, "--compression-enabled=false", "--prompt-caching-cache-ttl", "1h")
	b.stop()
	for _, want := range []string{
		"gRPC: " + addr, "Authentication: off (only this machine can reach the server)", "agent layer: DISABLED",
		"Prompt caching: ENABLED (Claude natively and via OpenRouter, 1h TTL)",
	} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("serve does not say %q:\n%s", want, b.out.String())
		}
	}
}

func TestAnAddressInUseIsAnError(t *testing.T) {
	addr, b := serve(t)
	defer b.stop()
	for key, args := range map[string][]string{
		"grpc_addr":  {"--grpc-addr", addr, "--http-addr", "", "--admin-addr", ""},
		"http_addr":  {"--grpc-addr", "127.0.0.1:0", "--http-addr", addr, "--admin-addr", ""},
		"admin_addr": {"--grpc-addr", "127.0.0.1:0", "--http-addr", "", "--admin-addr", addr},
	} {
		got := runArgs(t, append([]string{"serve"}, args...)...)
		if got.code != exitError || !strings.Contains(got.stderr, key) || !strings.Contains(got.stderr, "in use") {
			t.Errorf("%s: %+v", key, got)
		}
	}
}

// In a container the environment names addresses that only serve may judge.
func TestOtherCommandsDoNotJudgeTheServersAddress(t *testing.T) {
	addr, b := serve(t)
	defer b.stop()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	p := process{environ: []string{"ELBOWROOM_GRPC_ADDR=0.0.0.0:" + port, "ELBOWROOM_HTTP_ADDR=0.0.0.0:8051"}}
	for _, args := range [][]string{{"healthcheck"}, {"count", "testdata/openai.json"}, {"models", "gpt-4o"}} {
		if got := runWith(t, p, args...); got.code != exitOK {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := runWith(t, p, "serve"); got.code != exitUsage {
		t.Errorf("serve: %+v", got)
	}
}

func TestReachable(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:50051": "127.0.0.1:50051", ":50051": "127.0.0.1:50051", "0.0.0.0:50051": "127.0.0.1:50051",
		"[::]:50051": "127.0.0.1:50051", "10.0.0.7:1": "10.0.0.7:1", "odd": "odd",
	} {
		if got := reachable(addr); got != want {
			t.Errorf("reachable(%q) = %q, want %q", addr, got, want)
		}
	}
}

// --out gives the very bytes: a conversation that did not change comes back as it
// was, and one that did differs from it only where it says.
func TestOutWritesTheConversationByteForByte(t *testing.T) {
	in, err := os.ReadFile("testdata/openai.json")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "out.json")
	got := runArgs(t, "compress", "--out", file, "testdata/openai.json")
	if got.code != exitOK || !strings.HasPrefix(got.stdout, "BELOW THRESHOLD") {
		t.Fatalf("%+v", got)
	}
	out, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(in), string(out)); diff != "" {
		t.Errorf("unchanged conversation (-in +out):\n%s", diff)
	}

	got = runArgs(t, "cache", "--out", "-", "testdata/anthropic.json")
	if got.code != exitOK || !strings.Contains(got.stderr, "Breakpoints (4 of at most 4)") {
		t.Fatalf("%+v", got)
	}
	golden(t, "cache-out", got.stdout)
}

func TestStandardInputIsAFile(t *testing.T) {
	text, err := os.ReadFile("testdata/anthropic.json")
	if err != nil {
		t.Fatal(err)
	}
	file := runArgs(t, "count", "testdata/anthropic.json")
	piped := runWith(t, process{stdin: bytes.NewReader(text)}, "count", "-")
	if file != piped || file.code != exitOK {
		t.Errorf("from the file: %+v\nfrom standard input: %+v", file, piped)
	}
}
