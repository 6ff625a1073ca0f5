package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testutil/eventually"
)

// asProgram in the environment makes the test binary the program itself, for tests that
// kill it.
const asProgram = "RUN_AS_PROGRAM"

// callLimit is far more than anything here takes.
const callLimit = 30 * time.Second

// replica is a server that a test started, with its log and a client.
type replica struct {
	elbowroomv1.ContextServiceClient
	addr     string
	out, log *syncBuffer
	// stop ends it as SIGTERM does and returns the exit code; kill does so as SIGKILL,
	// where it is a process of its own.
	stop func() int
	kill func()
	// signal sends another one, where it is a process of its own.
	signal func(os.Signal)
}

// listening waits for the line that says where.
func listening(t *testing.T, r *replica, ended <-chan int) {
	t.Helper()
	where := regexp.MustCompile(`(?m)^gRPC: (\S+)$`)
	for {
		if found := where.FindStringSubmatch(r.out.String()); found != nil {
			r.addr = found[1]
			break
		}
		select {
		case <-r.out.changed:
		case code := <-ended:
			t.Fatalf("serve ended with exit code %d: %s", code, r.log.String())
		}
	}
	conn, err := grpc.NewClient(r.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r.ContextServiceClient = elbowroomv1.NewContextServiceClient(conn)
}

// onLoopback are the arguments of a server on free ports of this machine.
func onLoopback(args []string) []string {
	return append([]string{"serve", "--grpc-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, args...)
}

// startReplica runs a server in this process, with an environment of its own.
func startReplica(t *testing.T, environ []string, args ...string) *replica {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &replica{out: newSyncBuffer(), log: newSyncBuffer()}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, process{args: onLoopback(args), stdout: r.out, stderr: r.log, environ: environ})
	}()
	stopped := false
	r.stop = func() int {
		cancel()
		if stopped {
			return 0
		}
		stopped = true
		return <-ended
	}
	t.Cleanup(func() { _ = r.stop() })
	listening(t, r, ended)
	return r
}

// startProcess runs a server in a process of its own.
func startProcess(t *testing.T, environ []string, args ...string) *replica {
	t.Helper()
	r, ended := beginProcess(t, environ, args...)
	listening(t, r, ended)
	return r
}

// beginProcess starts one and does not wait until it serves.
func beginProcess(t *testing.T, environ []string, args ...string) (*replica, <-chan int) {
	t.Helper()
	r := &replica{out: newSyncBuffer(), log: newSyncBuffer()}
	cmd := exec.Command(os.Args[0], onLoopback(args)...) //nolint:gosec,noctx // this test's own binary, which its cleanup ends
	cmd.Env = append(append(os.Environ(), asProgram+"=1"), environ...)
	cmd.Stdout, cmd.Stderr = r.out, r.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_ = cmd.Wait()
		ended <- cmd.ProcessState.ExitCode()
	}()
	r.kill = func() {
		_ = cmd.Process.Kill()
		<-waited
	}
	r.signal = func(s os.Signal) { _ = cmd.Process.Signal(s) }
	t.Cleanup(r.kill)
	return r, ended
}

// logged waits for a line with the message and returns its fields.
func (r *replica) logged(t *testing.T, message string) map[string]any {
	t.Helper()
	limit := time.After(callLimit)
	for {
		for line := range strings.Lines(r.log.String()) {
			var fields map[string]any
			if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
				return fields
			}
		}
		select {
		case <-r.log.changed:
		case <-limit:
			t.Fatalf("no line %q in the log:\n%s", message, r.log.String())
		}
	}
}

// await asks again and again until the answer is yes.
func await(t *testing.T, what string, yes func() bool) {
	t.Helper()
	eventually.True(t, callLimit, what, yes)
}

// metrics are what the admin port tells.
func (r *replica) metrics(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^Admin: (\S+)$`).FindStringSubmatch(r.out.String())
	if found == nil {
		t.Fatalf("no admin port:\n%s", r.out.String())
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+found[1]+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lines counts the lines with the message.
func (r *replica) lines(message string) int {
	return strings.Count(r.log.String(), fmt.Sprintf("%q", message))
}
