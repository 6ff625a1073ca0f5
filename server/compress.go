package server

import (
	"context"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// Compress implements the RPC.
func (s *Server) Compress(ctx context.Context, in *elbowroomv1.CompressRequest) (*elbowroomv1.CompressResponse, error) {
	f := formOf(in.GetConversation(), in.GetView())
	c, err := f.read(s.limits)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	req := s.compressRequest(in, c)
	req.PlanOnly = in.GetPlanOnly()
	res, err := s.compressor.Compress(ctx, req)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	f.apply(res.Rewrite)
	out := render(f, in.GetView())
	return &elbowroomv1.CompressResponse{
		Outcome:          elbowroomv1.Outcome(res.Outcome),
		Conversation:     out.conversation,
		Edits:            out.edits,
		Splices:          out.splices,
		Report:           reportOf(res),
		Summary:          res.Summary,
		CompressionState: res.State,
	}, nil
}
