package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/server"
)

// blocked is a compressor that waits until it is told to go on.
type blocked struct {
	server.Compressor
	entered chan struct{}
	goOn    chan struct{}
}

func newBlocked(t *testing.T) *blocked {
	return &blocked{Compressor: newEngine(t, true), entered: make(chan struct{}, 8), goOn: make(chan struct{})}
}

func (b *blocked) Compress(ctx context.Context, req compressor.Request) (*compressor.Result, error) {
	b.entered <- struct{}{}
	select {
	case <-b.goOn:
		return b.Compressor.Compress(ctx, req)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const greeting = `{"conversation":{"native":{"format":"FORMAT_OPENAI_CHAT","json":"[{\"role\":\"user\",\"content\":\"hi\"}]"}}}`

// Calls that are being worked on are finished; later ones find nobody.
func TestShutdownFinishesCalls(t *testing.T) {
	b := newBlocked(t)
	f := start(t, func(o *options) { o.server.Compressor = b })
	finished := make(chan reply, 2)
	go func() { finished <- f.post(service+"Compress", jsonType, greeting) }()
	go func() { finished <- f.post("/v1/compress", jsonType, `{"messages":[{"role":"user","content":"hi"}]}`) }()
	<-b.entered
	<-b.entered
	stopped := make(chan struct{})
	go func() { f.stop(); close(stopped) }()
	for range time.Tick(time.Millisecond) { // new calls are refused from then on
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(f.url, "http://"))
		if err != nil {
			break
		}
		_ = conn.Close()
	}
	select {
	case <-stopped:
		t.Fatal("the server stopped with calls in it")
	default:
	}
	close(b.goOn)
	for range 2 {
		if r := <-finished; r.status != http.StatusOK {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	<-stopped
}

// A caller that hangs up ends its call.
func TestACallEndsWithItsRequest(t *testing.T) {
	for _, path := range []string{service + "Compress", "/v1/compress"} {
		b := newBlocked(t)
		f := start(t, func(o *options) { o.server.Compressor = b })
		body := greeting
		if path == "/v1/compress" {
			body = `{"messages":[{"role":"user","content":"hi"}]}`
		}
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", jsonType)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if resp, err := f.http.Do(r); err == nil {
				_ = resp.Body.Close()
				t.Error("the request was answered")
			}
		}()
		<-b.entered
		cancel()
		<-done
		f.stop() // fails if the call does not end
	}
}

// A deadline of Connect reaches the engine.
func TestADeadlineIsKept(t *testing.T) {
	f := start(t, func(o *options) { o.server.Compressor = newBlocked(t) })
	r := f.post(service+"Compress", jsonType, greeting, "Connect-Timeout-Ms", "30")
	if e := r.failure(t); r.status != http.StatusGatewayTimeout || e.Code != "deadline_exceeded" {
		t.Errorf("%d %+v", r.status, e)
	}
}

// The bodies being received and worked on are bounded together.
func TestBodiesAreBoundedTogether(t *testing.T) {
	b := newBlocked(t)
	f := start(t, func(o *options) {
		o.server.Compressor = b
		o.edge.MaxInFlightBytes = 100_000
	})
	large := fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]}`, strings.Repeat("x", 60_000))
	first := make(chan reply, 1)
	go func() { first <- f.post("/v1/compress", jsonType, large) }()
	<-b.entered
	r := f.post("/v1/compress", jsonType, large)
	if e := r.failure(t); r.status != http.StatusTooManyRequests || e.Code != "resource_exhausted" || r.header.Get("Retry-After") != "1" {
		t.Errorf("%d %+v %v", r.status, e, r.header)
	}
	close(b.goOn)
	if r := <-first; r.status != http.StatusOK {
		t.Errorf("the first: %d %s", r.status, r.body)
	}
	if r := f.post("/v1/compress", jsonType, large); r.status != http.StatusOK {
		t.Errorf("after the first: %d %s", r.status, r.body)
	}
	f.stop()
	if held := f.edge.Held(); held != 0 {
		t.Errorf("%d bytes are held by nobody", held)
	}
}

// raw opens a connection and sends text as it stands.
func (f *fixture) raw(text string) net.Conn {
	f.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(f.t.Context(), "tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10) // else the system takes a long answer in for one who never reads
	}
	if _, err := io.WriteString(conn, text); err != nil {
		f.t.Fatal(err)
	}
	return conn
}

// A peer that stops in the middle of a body, or never reads, is let go.
func TestPeersThatStandStillAreLetGo(t *testing.T) {
	b := newBlocked(t)
	f := start(t, func(o *options) {
		o.server.Compressor = b
		o.edge.Pace = 50 * time.Millisecond
	})
	head := "POST " + service + "CountTokens HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	slow := f.raw(head + "Content-Length: 1000\r\n\r\n{\"text\":")
	resp, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a body that stops: %d", resp.StatusCode)
	}
	text := fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]}`, strings.Repeat("x", 16<<20))
	f.raw("POST /v1/compress HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text))
	<-b.entered
	close(b.goOn)
	f.stop() // waits for the call, which ends although its answer is never read
}

// Nobody who sends half of a body keeps the server from stopping, a stranger least of all.
func TestADrainingServerWaitsForNoBodyLong(t *testing.T) {
	f := start(t, nil)
	slow := f.raw("POST /v1/compress HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		"Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n")
	answers := bufio.NewReader(slow)
	resp, err := http.ReadResponse(answers, nil)
	if err != nil || resp.StatusCode != http.StatusContinue { // the body is being read
		t.Fatal(resp, err)
	}
	if _, err := io.WriteString(slow, `{"messages":`); err != nil {
		t.Fatal(err)
	}
	f.stop() // fails if it has to break the request off
	if resp, err = http.ReadResponse(answers, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("%d %v, want 503 and when to come again", resp.StatusCode, resp.Header)
	}
}

// A call may take longer than a piece of a body.
func TestACallMayTakeItsTime(t *testing.T) {
	b := newBlocked(t)
	f := start(t, func(o *options) {
		o.server.Compressor = b
		o.edge.Pace = 20 * time.Millisecond
	})
	done := make(chan reply, 1)
	go func() { done <- f.post(service+"Compress", jsonType, greeting) }()
	<-b.entered
	<-time.After(100 * time.Millisecond) // several times what a piece may take
	close(b.goOn)
	if r := <-done; r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	f := start(t, nil)
	r := f.post(service+"ListModels", jsonType, "{}", "X-Large", strings.Repeat("x", 128<<10))
	if r.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%d %s", r.status, r.body)
	}
	if d := f.edge.HeaderTimeout(); d <= 0 || d > time.Minute {
		t.Errorf("headers may take %v", d)
	}
}
