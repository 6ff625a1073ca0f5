package server

import (
	"context"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
)

// Compress implements the RPC.
func (s *Server) Compress(ctx context.Context, in *elbowroomv1.CompressRequest) (*elbowroomv1.CompressResponse, error) {
	return s.compress(ctx, in, nil)
}

// recorded compresses and records it.
func (s *Server) recorded(ctx context.Context, req compressor.Request) (*compressor.Result, error) {
	ctx, record := s.telemetry.Compression(ctx, req.Conversation)
	watched := req.OnProgress
	req.OnProgress = func(p compressor.Progress) {
		record.Progress(p)
		if watched != nil {
			watched(p)
		}
	}
	res, err := s.compressor.Compress(ctx, req)
	record.End(res, req.Layer, err)
	return res, err
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
	res, err := s.recorded(ctx, req)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	f.apply(res.Rewrite)
	report := reportOf(res)
	s.priceChange(report, res, pricing{format: c.Format, model: req.Model, changed: f.firstChange()})
	out := render(ctx, f, in.GetView())
	s.telemetry.PassedThrough(ctx, f.altered())
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
