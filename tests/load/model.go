package main

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// modelTime is how long the model takes for a summary at least; one in four takes three
// times that.
const modelTime = 200 * time.Millisecond

// model stands for a language model that writes summaries, behind the plug-in's wire.
type model struct {
	elbowroomv1.UnimplementedSummarizerServiceServer

	calls atomic.Int64
}

// Summarize implements the RPC.
func (m *model) Summarize(ctx context.Context, in *elbowroomv1.SummarizeRequest) (*elbowroomv1.SummarizeResponse, error) {
	n := m.calls.Add(1)
	wait := modelTime
	if n%4 == 0 {
		wait *= 3
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &elbowroomv1.SummarizeResponse{
		Text: fmt.Sprintf("## Goal\nThe user wants the work finished that the notes of %d bytes describe.\n\n"+
			"## Progress\nFiles were read and changed, and the tests were run.\n\n## Next steps\nGo on with the newest request.", len(in.GetPrompt())),
		Finish: elbowroomv1.SummaryFinish_SUMMARY_FINISH_STOP, Model: "double",
		PromptTokens: int32(min(len(in.GetPrompt())/4, 1<<30)), CompletionTokens: 60, //nolint:gosec // bounded
	}, nil
}

// startModel serves it on a free loopback port.
func startModel(ctx context.Context) (m *model, addr string, stop func(), err error) {
	lis, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, fmt.Errorf("start the model: %w", err)
	}
	m = &model{}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(largestReply))
	elbowroomv1.RegisterSummarizerServiceServer(s, m)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(lis) // until stop
	}()
	return m, lis.Addr().String(), func() {
		s.Stop()
		<-ended
	}, nil
}
