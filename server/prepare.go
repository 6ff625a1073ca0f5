package server

import (
	"context"
	"fmt"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// Prepare implements the RPC: Compress, then ApplyCacheControl on its result.
func (s *Server) Prepare(ctx context.Context, in *elbowroomv1.PrepareRequest) (*elbowroomv1.PrepareResponse, error) {
	f := formOf(in.GetConversation(), in.GetView())
	c, err := f.read(s.limits)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	res, err := s.compressor.Compress(ctx, s.compressRequest(in, c))
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	if !res.Rewrite.Empty() {
		f.apply(res.Rewrite)
		if c, err = f.read(s.limits); err != nil {
			return nil, s.fail(ctx, fmt.Errorf("read the compressed conversation: %v", err))
		}
	}
	placed, err := s.place(ctx, in, c)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	f.apply(placed.Rewrite)
	out := render(f, in.GetView())
	marks := marksOf(placed)
	return &elbowroomv1.PrepareResponse{
		Outcome:          elbowroomv1.Outcome(res.Outcome),
		Conversation:     out.conversation,
		Edits:            out.edits,
		Splices:          out.splices,
		Report:           reportOf(res),
		Summary:          res.Summary,
		CompressionState: res.State,
		Breakpoints:      marks.breakpoints,
		Skipped:          marks.skipped,
		Layout:           marks.layout,
		LayoutReason:     marks.reason,
		Warnings:         marks.warnings,
		CacheState:       placed.State,
		CachePlan:        planOf(placed),
	}, nil
}
