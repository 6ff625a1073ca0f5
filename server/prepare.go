package server

import (
	"context"
	"fmt"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
)

// Prepare implements the RPC: Compress, then ApplyCacheControl on its result.
func (s *Server) Prepare(ctx context.Context, in *elbowroomv1.PrepareRequest) (*elbowroomv1.PrepareResponse, error) {
	f := formOf(in.GetConversation(), in.GetView())
	c, err := f.read(s.limits)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	req := s.compressRequest(ctx, in, c)
	res, err := s.recorded(ctx, req)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	changed := noChange
	if !res.Rewrite.Empty() {
		f.apply(res.Rewrite)
		changed = f.firstChange()
		if c, err = f.read(s.limits); err != nil {
			return nil, s.fail(ctx, fmt.Errorf("read the compressed conversation: %v", err))
		}
	}
	placed, err := s.place(ctx, headOf(in, res), c)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	report := reportOf(res)
	s.priceChange(report, res, pricing{
		format: c.Format, model: req.Model, changed: changed, layout: placed.Layout, life: s.lifeOf(in.GetTtl()),
	})
	f.apply(placed.Rewrite)
	out := render(ctx, f, in.GetView())
	s.telemetry.PassedThrough(ctx, f.altered())
	marks := marksOf(placed)
	return &elbowroomv1.PrepareResponse{
		Outcome:          elbowroomv1.Outcome(res.Outcome),
		Conversation:     out.conversation,
		Edits:            out.edits,
		Splices:          out.splices,
		Report:           report,
		Summary:          res.Summary,
		CompressionState: res.State,
		Breakpoints:      marks.breakpoints,
		Skipped:          marks.skipped,
		Layout:           marks.layout,
		LayoutReason:     marks.reason,
		Warnings:         marks.warnings,
		CacheState:       placed.State,
		CachePlan:        planOf(placed),
		PredictedUsage:   usageOf(placed.Usage),
	}, nil
}

// headed is a request for breakpoints that says which head compressions keep.
type headed struct {
	*elbowroomv1.PrepareRequest
	head int32
}

// GetHeadMessages returns the caller's word, else what the policy protects. It is
// marked from the first request on: a prefix is stored only when it is new.
func (h headed) GetHeadMessages() int32 { return h.head }

func headOf(in *elbowroomv1.PrepareRequest, res *compressor.Result) headed {
	head := in.GetHeadMessages()
	if head == 0 {
		if head = count(res.Report.FrontMessages); head == 0 {
			head = -1 // none is protected
		}
	}
	return headed{in, head}
}
