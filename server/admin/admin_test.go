package admin_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/server/admin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves on a free port and returns a function that asks for a path.
func start(t *testing.T, o admin.Options) (get func(method, path string) (int, string)) {
	t.Helper()
	o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics\n") })
	s, err := admin.New(o)
	if err != nil {
		t.Fatal(err)
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	return func(method, path string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+lis.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}

func TestThePortSaysWhetherTheServerLivesAndIsReady(t *testing.T) {
	var ready atomic.Bool
	get := start(t, admin.Options{Ready: ready.Load})
	for _, x := range []struct {
		ready        bool
		method, path string
		code         int
		text         string
	}{
		{false, "GET", "/healthz", 200, "ok\n"},
		{false, "GET", "/readyz", 503, "not ready\n"},
		{true, "GET", "/readyz", 200, "ready\n"},
		{true, "HEAD", "/readyz", 200, ""},
		{true, "GET", "/metrics", 200, "metrics\n"},
		{true, "POST", "/metrics", 405, "Method Not Allowed\n"},
		{true, "GET", "/", 404, "404 page not found\n"},
	} {
		ready.Store(x.ready)
		if code, text := get(x.method, x.path); code != x.code || text != x.text {
			t.Errorf("%s %s, ready %v: %d %q, want %d %q", x.method, x.path, x.ready, code, text, x.code, x.text)
		}
	}
}

func TestProfilesAreServedOnlyWhereTheyAreAllowed(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		get := start(t, admin.Options{Ready: func() bool { return true }, Profiles: allowed})
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline"} {
			code, text := get("GET", path)
			if got := code == http.StatusOK && strings.TrimSpace(text) != ""; got != allowed {
				t.Errorf("%s, allowed %v: %d", path, allowed, code)
			}
		}
	}
}

func TestWhatIsMissingIsRefused(t *testing.T) {
	for _, o := range []admin.Options{{}, {Metrics: http.NotFoundHandler()}, {Ready: func() bool { return true }}} {
		if _, err := admin.New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
