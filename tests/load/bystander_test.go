package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// full is a server that tells those who count to come again later and can nothing else.
type full struct {
	elbowroomv1.UnimplementedContextServiceServer
}

func (full) CountTokens(context.Context, *elbowroomv1.CountTokensRequest) (*elbowroomv1.CountTokensResponse, error) {
	st, err := status.New(codes.ResourceExhausted, "full").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	if err != nil {
		return nil, err
	}
	return nil, st.Err()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestABystanderTellsRefusalsFromFailures(t *testing.T) {
	l, server := listen(t), grpc.NewServer()
	elbowroomv1.RegisterContextServiceServer(server, full{})
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	asked, ask := io.Pipe()
	answers, answer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- stand(t.Context(), l.Addr().String(), asked, answer) }()
	read := json.NewDecoder(answers)
	refused, failed := 0, 0
	for limit := time.After(30 * time.Second); refused == 0 || failed == 0; {
		select {
		case <-limit:
			t.Fatalf("%d calls refused, %d failed", refused, failed)
		case <-time.After(standEvery):
		}
		var s sightings
		if _, err := io.WriteString(ask, "seen\n"); err != nil {
			t.Fatal(err)
		}
		if err := read.Decode(&s); err != nil {
			t.Fatal(err)
		}
		for name, n := range s.Refused {
			if name != countText {
				t.Errorf("%s: %d refused", name, n)
			}
			refused += n
		}
		failed += len(s.Failed)
	}
	_ = ask.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// deaf is an address where nobody listens.
func deaf(t *testing.T) string {
	t.Helper()
	l := listen(t)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestABystanderOutlivesItsServerAndEndsWhenStopped(t *testing.T) {
	b, err := startBystander(t.Context(), deaf(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.stop()
	for failed := 0; failed == 0; <-time.After(standEvery) {
		s, err := b.seen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		failed += len(s.Failed)
	}
	b.stop()
	if state := b.command.ProcessState; state == nil || state.ExitCode() != 0 {
		t.Errorf("it ended as %v", state)
	}
}

func TestABystanderThatIsGoneIsAnError(t *testing.T) {
	b, err := startBystander(t.Context(), deaf(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.stop()
	if err := b.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for err == nil { // until it is dead
		_, err = b.seen(t.Context())
	}
	if errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestTheEndOfTheRunIsWhyABystanderIsGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b, err := startBystander(ctx, deaf(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.stop()
	cancel()
	for err == nil { // until it is dead
		_, err = b.seen(ctx)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
