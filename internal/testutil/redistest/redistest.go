// Package redistest runs a real Redis server for tests.
package redistest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Server is a Redis server on a free loopback port, without a disk.
type Server struct {
	addr string
	cmd  *exec.Cmd
}

// Start runs one until the test ends. Where redis-server is not installed the test
// is skipped, and with CI=true fails.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI=true and redis-server is not installed")
		}
		t.Skip("skipped: redis-server is not installed")
	}
	var listen net.ListenConfig
	lis, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{addr: lis.Addr().String()}
	_ = lis.Close()
	s.run(t, args...)
	t.Cleanup(s.Kill)
	return s
}

// URL is where it is reached.
func (s *Server) URL() string { return "redis://" + s.addr }

// Addr is its address.
func (s *Server) Addr() string { return s.addr }

// Restart starts it again, empty, at the same address.
func (s *Server) Restart(t testing.TB, args ...string) {
	t.Helper()
	s.Kill()
	s.run(t, args...)
}

// Kill ends it at once.
func (s *Server) Kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGCONT)
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// Pause lets it answer nothing until Continue: a server that hangs.
func (s *Server) Pause() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue ends a pause.
func (s *Server) Continue() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

func (s *Server) run(t testing.TB, args ...string) {
	t.Helper()
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command("redis-server", append([]string{"--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--daemonize", "no"}, args...)...) //nolint:gosec,noctx // a test's own server, which its cleanup ends
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", s.addr)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("redis-server does not answer")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
