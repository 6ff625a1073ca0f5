package server

import (
	"context"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// Compress implements the RPC.
func (s *Server) Compress(ctx context.Context, in *elbowroomv1.CompressRequest) (*elbowroomv1.CompressResponse, error) {
	return s.compress(ctx, in, nil)
}

// compress does the work of both calls; w is nil where nobody watches.
func (s *Server) compress(ctx context.Context, in *elbowroomv1.CompressRequest, w *watcher) (*elbowroomv1.CompressResponse, error) {
	f := formOf(in.GetConversation(), in.GetView())
	c, err := f.read(s.limits)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	req := s.compressRequest(ctx, in, c)
	req.PlanOnly = in.GetPlanOnly()
	if w != nil {
		req.OnProgress, req.OnText = w.progress, w.text
	}
	res, err := s.compressor.Compress(ctx, req)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	f.apply(res.Rewrite)
	report := reportOf(res)
	s.priceChange(report, res, pricing{format: c.Format, model: req.Model, changed: f.firstChange()})
	out := render(f, in.GetView())
	return &elbowroomv1.CompressResponse{
		Outcome:          elbowroomv1.Outcome(res.Outcome),
		Conversation:     out.conversation,
		Edits:            out.edits,
		Splices:          out.splices,
		Report:           report,
		Summary:          res.Summary,
		CompressionState: res.State,
	}, nil
}
