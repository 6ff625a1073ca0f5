package conformance

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// TestPiecesArriveAsTheModelWrites has a model that stops in the middle of its
// answer: what it has written so far reaches the client, and cancelling ends the
// call on the model's side.
func TestPiecesArriveAsTheModelWrites(t *testing.T) {
	for _, p := range []provider{overOpenAI(), overAnthropic()} {
		t.Run(p.name, func(t *testing.T) {
			s := newStand(t, p, standOptions{}, wiredouble.HangMidway(goodSummary))
			ctx, cancel := context.WithCancel(s.within(t, callLimit))
			events, err := s.StreamCompress(ctx, &pb.StreamCompressRequest{Request: s.request(talk(s.dialect, "live", 14))})
			if err != nil {
				t.Fatal(err)
			}
			var text string
			for text == "" || !strings.HasPrefix(goodSummary, text) || len(text) < 40 {
				event, err := events.Recv()
				if err != nil {
					t.Fatal(err)
				}
				if event.GetResult() != nil {
					t.Fatal("a result while the model is writing")
				}
				if piece := event.GetSummaryPiece(); piece != nil {
					if piece.GetSummarizer() != p.rung || piece.GetRestart() {
						t.Errorf("a piece %v", piece)
					}
					text += piece.GetText()
				}
			}
			if s.model.Active() != 1 {
				t.Errorf("%d calls under way", s.model.Active())
			}
			cancel()
			s.idle(t)
			for err == nil {
				_, err = events.Recv()
			}
			if status.Code(err) != codes.Canceled {
				t.Errorf("after cancelling: %v", err)
			}
			if n := len(s.model.Requests()); n != 1 {
				t.Errorf("%d calls: a cancelled one is made again", n)
			}
		})
	}
}

// TestACancelledCompressEndsTheCall is the same without a stream, on every wire.
func TestACancelledCompressEndsTheCall(t *testing.T) {
	for _, p := range []provider{overOpenAI(), overAnthropic(), overPlugin()} {
		t.Run(p.name, func(t *testing.T) {
			s := newStand(t, p, standOptions{}, wiredouble.Hang())
			ctx, cancel := context.WithCancel(s.within(t, callLimit))
			done := make(chan error, 1)
			go func() {
				_, err := s.Compress(ctx, s.request(talk(s.dialect, "cancelled", 14)))
				done <- err
			}()
			s.called(t)
			cancel()
			s.idle(t)
			if err := <-done; status.Code(err) != codes.Canceled {
				t.Errorf("after cancelling: %v", err)
			}
			if n := len(s.model.Requests()); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// TestTheStreamEndsInWhatCompressAnswers compares the two, piece by piece: what
// came after the last restart is the answer of the model, and the result is
// Compress's own.
func TestTheStreamEndsInWhatCompressAnswers(t *testing.T) {
	for _, p := range []provider{overOpenAI(), overAnthropic(), overPlugin()} {
		for name, steps := range map[string][]wiredouble.Step{
			"at once":            {wiredouble.Text(goodSummary)},
			"after a false turn": {wiredouble.ResetMidway(goodSummary), wiredouble.Text(goodSummary)},
			"cut off once":       {wiredouble.Length("## Goal\nThe user wan"), wiredouble.Text(goodSummary)},
		} {
			if !p.http && name == "after a false turn" {
				continue
			}
			t.Run(p.name+" "+name, func(t *testing.T) {
				s := newStand(t, p, standOptions{}, steps...)
				req := s.request(talk(s.dialect, "both ways", 14))
				got, err := s.stream(s.within(t, callLimit), req)
				if err != nil {
					t.Fatal(err)
				}
				text, restarts := "", 0
				for _, piece := range got.pieces {
					if piece.GetRestart() {
						text = ""
						restarts++
					}
					text += piece.GetText()
				}
				if text != goodSummary || restarts != len(steps)-1 {
					t.Errorf("%d restarts, then\n%s", restarts, text)
				}
				if p.http && len(got.pieces) < 5 {
					t.Errorf("only %d pieces", len(got.pieces))
				}
				want := []pb.CompressPhase{
					pb.CompressPhase_COMPRESS_PHASE_COUNTING, pb.CompressPhase_COMPRESS_PHASE_PLANNING, pb.CompressPhase_COMPRESS_PHASE_SUMMARIZING,
				}
				for i, phase := range want {
					if i >= len(got.phases) || got.phases[i] != phase {
						t.Fatalf("phases %v, want %v first", got.phases, want)
					}
				}
				plain := s.compress(t, req)
				if !proto.Equal(withoutBill(plain), withoutBill(got.result)) {
					t.Error("Compress answers otherwise")
				}
				if !plain.GetReport().GetSummarizerUsage().GetReused() || len(s.model.Requests()) != len(steps) {
					t.Errorf("Compress after the stream made a call: %v", plain.GetReport().GetSummarizerUsage())
				}
				s.whole(t, req, got.result)
			})
		}
	}
}
