package server

import (
	"context"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// ApplyCacheControl implements the RPC.
func (s *Server) ApplyCacheControl(ctx context.Context, in *elbowroomv1.ApplyCacheControlRequest) (*elbowroomv1.ApplyCacheControlResponse, error) {
	f := formOf(in.GetConversation(), in.GetView())
	c, err := f.read(s.limits)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	placed, err := s.place(ctx, in, c)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	f.apply(placed.Rewrite)
	out := render(f, in.GetView())
	marks := marksOf(placed)
	return &elbowroomv1.ApplyCacheControlResponse{
		Conversation: out.conversation,
		Edits:        out.edits,
		Splices:      out.splices,
		Breakpoints:  marks.breakpoints,
		Skipped:      marks.skipped,
		Layout:       marks.layout,
		LayoutReason: marks.reason,
		Warnings:     append(warningsOf(c.Warnings), marks.warnings...),
	}, nil
}

// cacheFields are the fields that ApplyCacheControlRequest and PrepareRequest
// share.
type cacheFields interface {
	GetModel() string
	GetLayout() elbowroomv1.Layout
	GetStrategy() elbowroomv1.Strategy
	GetTtl() elbowroomv1.CacheTtl
	GetExisting() elbowroomv1.ExistingMarks
	GetReserved() int32
	GetLeaveNewestUserUnmarked() bool
	GetMarkToolMessages() bool
}

func (s *Server) place(ctx context.Context, in cacheFields, c *conversation.Conversation) (*breakpoints.Result, error) {
	model := s.model(in.GetModel(), c)
	sizes, err := s.prefixSizes(ctx, c, model)
	if err != nil {
		return nil, err
	}
	opts := breakpoints.Options{
		Layout:                  layoutOf(in.GetLayout()),
		TTL:                     s.cacheTTL,
		Reserved:                int(in.GetReserved()),
		LeaveNewestUserUnmarked: in.GetLeaveNewestUserUnmarked(),
		MarkToolMessages:        in.GetMarkToolMessages(),
		Model:                   model.Name,
		Claude:                  model.Claude,
		MinPrefix:               model.CacheMinimum,
		Tokens:                  sizes,
	}
	if in.GetStrategy() == elbowroomv1.Strategy_STRATEGY_NONE {
		opts.Strategy = breakpoints.StrategyNone
	}
	switch in.GetTtl() {
	case elbowroomv1.CacheTtl_CACHE_TTL_5M:
		opts.TTL = breakpoints.TTL5m
	case elbowroomv1.CacheTtl_CACHE_TTL_1H:
		opts.TTL = breakpoints.TTL1h
	}
	if in.GetExisting() == elbowroomv1.ExistingMarks_EXISTING_MARKS_RESPECT {
		opts.Existing = breakpoints.ExistingRespect
	}
	return breakpoints.Place(c, opts)
}

func layoutOf(l elbowroomv1.Layout) breakpoints.Layout {
	switch l {
	case elbowroomv1.Layout_LAYOUT_ANTHROPIC:
		return breakpoints.LayoutAnthropic
	case elbowroomv1.Layout_LAYOUT_OPENROUTER:
		return breakpoints.LayoutOpenRouter
	case elbowroomv1.Layout_LAYOUT_LITELLM:
		return breakpoints.LayoutLiteLLM
	default:
		return breakpoints.LayoutUnset
	}
}

func protoLayout(l breakpoints.Layout) elbowroomv1.Layout {
	switch l {
	case breakpoints.LayoutAnthropic:
		return elbowroomv1.Layout_LAYOUT_ANTHROPIC
	case breakpoints.LayoutOpenRouter:
		return elbowroomv1.Layout_LAYOUT_OPENROUTER
	case breakpoints.LayoutLiteLLM:
		return elbowroomv1.Layout_LAYOUT_LITELLM
	default:
		return elbowroomv1.Layout_LAYOUT_UNSPECIFIED
	}
}

// marks are the fields in which a response reports its breakpoints.
type marks struct {
	breakpoints []*elbowroomv1.Breakpoint
	skipped     []*elbowroomv1.SkippedPlace
	layout      elbowroomv1.Layout
	reason      string
	warnings    []*elbowroomv1.Warning
}

func marksOf(res *breakpoints.Result) marks {
	m := marks{layout: protoLayout(res.Layout), reason: res.Reason, warnings: warningsOf(res.Warnings)}
	for _, b := range res.Breakpoints {
		ttl := elbowroomv1.CacheTtl_CACHE_TTL_5M
		if b.TTL == breakpoints.TTL1h {
			ttl = elbowroomv1.CacheTtl_CACHE_TTL_1H
		}
		m.breakpoints = append(m.breakpoints, &elbowroomv1.Breakpoint{
			Section: sectionOf(b.Section), MessageIndex: count(b.Message), BlockIndex: count(b.Block),
			Ttl: ttl, Tokens: count(b.Tokens), Inert: b.Inert,
		})
	}
	for _, p := range res.Skipped {
		m.skipped = append(m.skipped, &elbowroomv1.SkippedPlace{
			Section: sectionOf(p.Section), MessageIndex: count(p.Message), Reason: string(p.Reason) + ": " + p.Reason.Detail(),
		})
	}
	return m
}
