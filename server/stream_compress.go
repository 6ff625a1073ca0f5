package server

import (
	"google.golang.org/grpc"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
)

// StreamCompress implements the RPC: Compress, with its progress as it goes.
func (s *Server) StreamCompress(in *elbowroomv1.StreamCompressRequest, stream grpc.ServerStreamingServer[elbowroomv1.StreamCompressResponse]) error {
	w := &watcher{stream: stream}
	out, err := s.compress(stream.Context(), in.GetRequest(), w)
	switch {
	case err != nil:
		return err
	case w.err != nil:
		return w.err
	}
	return stream.Send(&elbowroomv1.StreamCompressResponse{Event: &elbowroomv1.StreamCompressResponse_Result{Result: out}})
}

// watcher sends the engine's progress to the caller. A stream that failed stays
// silent; its context ends the work.
type watcher struct {
	stream grpc.ServerStreamingServer[elbowroomv1.StreamCompressResponse]
	err    error
}

func (w *watcher) send(event *elbowroomv1.StreamCompressResponse) {
	if w.err == nil {
		w.err = w.stream.Send(event)
	}
}

func (w *watcher) progress(p compressor.Progress) {
	w.send(&elbowroomv1.StreamCompressResponse{Event: &elbowroomv1.StreamCompressResponse_Progress{
		Progress: &elbowroomv1.CompressProgress{
			Phase: elbowroomv1.CompressPhase(p.Phase), Tokens: count(p.Tokens),
			SummarizedTokens: count(p.Summarized), Summarizer: p.Summarizer,
		},
	}})
}

func (w *watcher) text(summarizer, piece string, restart bool) {
	w.send(&elbowroomv1.StreamCompressResponse{Event: &elbowroomv1.StreamCompressResponse_SummaryPiece{
		SummaryPiece: &elbowroomv1.SummaryPiece{Text: piece, Summarizer: summarizer, Restart: restart},
	}})
}
