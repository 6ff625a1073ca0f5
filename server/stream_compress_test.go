package server_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/summarizer"
)

// writer is a language model that writes in pieces, once its gate is open.
type writer struct {
	outline
	gate  chan struct{}
	ended chan struct{} // closed when a call was cancelled
}

func (w *writer) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Response, error) {
	if req.OnText != nil {
		req.OnText("## Goal", false)
	}
	select {
	case <-w.gate:
	case <-ctx.Done():
		close(w.ended)
		return summarizer.Response{}, ctx.Err()
	}
	if req.OnText != nil {
		req.OnText("", true)
		req.OnText("## Progress", false)
	}
	return w.outline.Summarize(ctx, req)
}

func newWriter() *writer {
	return &writer{outline: outline{name: "writer"}, gate: make(chan struct{}), ended: make(chan struct{})}
}

func streamed(t *testing.T, f *fixture, req *elbowroomv1.CompressRequest) ([]string, *elbowroomv1.CompressResponse, error) {
	t.Helper()
	stream, err := f.client.StreamCompress(t.Context(), &elbowroomv1.StreamCompressRequest{Request: req})
	if err != nil {
		return nil, nil, err
	}
	var events []string
	var result *elbowroomv1.CompressResponse
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return events, result, nil
		}
		if err != nil {
			return events, nil, err
		}
		switch e := event.GetEvent().(type) {
		case *elbowroomv1.StreamCompressResponse_Progress:
			events = append(events, e.Progress.GetPhase().String()+" "+e.Progress.GetSummarizer())
			if e.Progress.GetPhase() == elbowroomv1.CompressPhase_COMPRESS_PHASE_SUMMARIZING &&
				(e.Progress.GetTokens() <= e.Progress.GetSummarizedTokens() || e.Progress.GetSummarizedTokens() == 0) {
				t.Errorf("summarizing %v", e.Progress)
			}
		case *elbowroomv1.StreamCompressResponse_SummaryPiece:
			piece := e.SummaryPiece.GetText()
			if e.SummaryPiece.GetRestart() {
				piece = "restart"
			}
			events = append(events, e.SummaryPiece.GetSummarizer()+": "+piece)
		case *elbowroomv1.StreamCompressResponse_Result:
			events = append(events, "result")
			result = e.Result
		}
	}
}

func TestStreamCompressTellsPhasesTextAndResult(t *testing.T) {
	w := newWriter()
	close(w.gate)
	f := start(t, func(o *server.Options) {
		o.Compressor = newEngine(t, outline{name: "broken", err: errors.New("down")}, w)
	})
	req := &elbowroomv1.CompressRequest{Conversation: longChat(40), Model: "gpt-4o", ContextWindow: 16_000, Force: true}
	events, result, err := streamed(t, f, req)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"COMPRESS_PHASE_COUNTING ", "COMPRESS_PHASE_PLANNING ",
		"COMPRESS_PHASE_SUMMARIZING broken", "COMPRESS_PHASE_SUMMARIZING writer",
		"writer: ## Goal", "writer: restart", "writer: ## Progress",
		"COMPRESS_PHASE_CHECKING ", "COMPRESS_PHASE_ASSEMBLING ", "result",
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	plain, err := f.client.Compress(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	// The second call finds the finished summary and is not billed for it.
	plain.Report.SummarizerUsage, result.Report.SummarizerUsage = nil, nil
	if !proto.Equal(plain, result) {
		t.Errorf("Compress answers otherwise:\n%s", cmp.Diff(plain.String(), result.String()))
	}
}

func TestCancellingAStreamStopsTheSummarizer(t *testing.T) {
	w := newWriter()
	f := start(t, func(o *server.Options) { o.Compressor = newEngine(t, w) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := f.client.StreamCompress(ctx, &elbowroomv1.StreamCompressRequest{
		Request: &elbowroomv1.CompressRequest{Conversation: longChat(40), Model: "gpt-4o", ContextWindow: 16_000, Force: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	for {
		event, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if event.GetSummaryPiece() != nil {
			break
		}
	}
	cancel()
	<-w.ended
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("after cancelling: %v", err)
	}
}

func TestStreamCompressRefusesWhatCompressRefuses(t *testing.T) {
	f := start(t, nil)
	for name, req := range map[string]*elbowroomv1.CompressRequest{
		"no request":      nil,
		"no conversation": {},
		"broken JSON":     {Conversation: openai(`{"messages":[`)},
		"negative window": {Conversation: longChat(4), ContextWindow: -1},
	} {
		events, _, err := streamed(t, f, req)
		_, plain := f.client.Compress(t.Context(), req)
		if status.Code(err) != codes.InvalidArgument || req != nil && status.Code(plain) != codes.InvalidArgument {
			t.Errorf("%s: %v after %v; Compress: %v", name, err, events, plain)
		}
	}
}

// longChat is an OpenAI conversation of n messages, each of some hundred tokens.
func longChat(n int) *elbowroomv1.Conversation {
	var list []string
	for i := range n {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		list = append(list, `{"role":"`+role+`","content":`+conversation.Quote(prose(i, 300))+`}`)
	}
	return openai(`{"model":"gpt-4o","messages":[` + strings.Join(list, ",") + `]}`)
}
