package serverprocess_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/serverprocess"
)

// limit is far more than a start or an end takes.
const limit = time.Minute

func start(t *testing.T, binary string, args ...string) *serverprocess.Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	p, err := serverprocess.Start(ctx, serverprocess.Options{Binary: binary, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// count makes one call.
func count(t *testing.T, addr string) error {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	text := "hello"
	_, err = elbowroomv1.NewContextServiceClient(conn).CountTokens(ctx, &elbowroomv1.CountTokensRequest{Text: &text})
	return err
}

func TestAServerStartsTellsAboutItselfAndEnds(t *testing.T) {
	binary, err := serverprocess.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ELBOWROOM_LOG_LEVEL", "no such level") // of this process, not for the server
	p := start(t, binary)
	if err := count(t, p.GRPC); err != nil {
		t.Fatal(err)
	}

	metrics, err := p.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := metrics.Sum("rpc_server_call_duration_seconds_count", `rpc_method="elbowroom.v1.ContextService/CountTokens"`); n != 1 {
		t.Errorf("%v calls, want 1", n)
	}
	if n, err := p.Goroutines(t.Context()); err != nil || n < 2 {
		t.Errorf("%d goroutines, error %v", n, err)
	}
	memory, err := p.Memory()
	if err != nil && !errors.Is(err, serverprocess.ErrNotHere) {
		t.Error(err)
	}
	used, err2 := p.ProcessorTime()
	if err2 != nil && !errors.Is(err2, serverprocess.ErrNotHere) {
		t.Error(err2)
	}
	if err == nil && (memory.Resident < 10<<20 || memory.Peak < memory.Resident || used <= 0) {
		t.Errorf("memory %+v, processor time %v", memory, used)
	}

	again := start(t, binary, "--admin-addr", "")
	if again.Admin != "off" || again.GRPC == p.GRPC {
		t.Errorf("admin port %s, gRPC port %s", again.Admin, again.GRPC)
	}
	again.Kill()
	if code := again.ExitCode(); code != -1 {
		t.Errorf("exit code %d of a killed process", code)
	}
	if err := count(t, again.GRPC); err == nil {
		t.Error("a killed server answers")
	}
	inItsPlace := start(t, binary, "--grpc-addr", again.GRPC)
	if err := count(t, again.GRPC); err != nil || inItsPlace.GRPC != again.GRPC {
		t.Errorf("the server in its place: address %s, error %v", inItsPlace.GRPC, err)
	}

	if code, err := p.Stop(t.Context()); code != 0 || err != nil {
		t.Errorf("exit code %d, error %v\n%s", code, err, p.Log())
	}
	if !strings.Contains(p.Output(), "Stopping") {
		t.Errorf("output:\n%s", p.Output())
	}
	if code, err := p.Stop(t.Context()); code != 0 || err != nil {
		t.Errorf("the second stop: exit code %d, error %v", code, err)
	}

	_, err = serverprocess.Start(t.Context(), serverprocess.Options{Binary: binary, Args: []string{"--grpc-addr", "0.0.0.0:0"}})
	if err == nil || !strings.Contains(err.Error(), "exit code 2") || !strings.Contains(err.Error(), "insecure") {
		t.Errorf("a server that refuses to start: %v", err)
	}
	if _, err := serverprocess.Start(t.Context(), serverprocess.Options{Binary: os.DevNull}); err == nil {
		t.Error("no program starts")
	}
}
