package main

import (
	"context"
	"strings"
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// stuck is an output whose reader does not read.
type stuck struct{ until <-chan struct{} }

func (w stuck) Write(p []byte) (int, error) {
	<-w.until
	return len(p), nil
}

// A call writes a line to the log, and its answer must not wait for whoever reads it.
func TestALogThatNobodyReadsHoldsNothingUp(t *testing.T) {
	open := make(chan struct{})
	defer close(open)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &replica{out: newSyncBuffer(), log: newSyncBuffer()}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, process{args: onLoopback(nil), stdout: r.out, stderr: stuck{open}})
	}()
	listening(t, r, ended)
	const calls = 3000 // more lines than may wait
	text := "hello"
	for range calls {
		if _, err := r.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Text: &text}); err != nil {
			t.Fatal(err)
		}
	}
	if metrics := r.metrics(t); !strings.Contains(metrics, "elbowroom_log_lost_lines_total") {
		t.Error("nothing counts the lines that are lost")
	}
	cancel()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
