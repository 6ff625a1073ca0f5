package server

import (
	"context"
	"fmt"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
)

// ApplyCacheControl implements the RPC.
func (s *Server) ApplyCacheControl(ctx context.Context, in *elbowroomv1.ApplyCacheControlRequest) (*elbowroomv1.ApplyCacheControlResponse, error) {
	room := s.rooms.borrow()
	defer s.rooms.giveBack(room)
	f := markedForm(in.GetConversation(), in.GetView(), room)
	c, err := f.read(s.limits)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	placed, err := s.place(ctx, in, c)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	f.apply(placed.Rewrite)
	out := render(ctx, f, in.GetView())
	s.telemetry.PassedThrough(ctx, f.altered())
	marks := marksOf(placed)
	return &elbowroomv1.ApplyCacheControlResponse{
		Conversation:   out.conversation,
		Edits:          out.edits,
		Splices:        out.splices,
		Breakpoints:    marks.breakpoints,
		Skipped:        marks.skipped,
		Layout:         marks.layout,
		LayoutReason:   marks.reason,
		Warnings:       append(warningsOf(c.Warnings), marks.warnings...),
		CacheState:     placed.State,
		Plan:           planOf(placed),
		PredictedUsage: usageOf(placed.Usage),
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
	GetStaticSystemPrefix() string
	GetSplitSystem() bool
	GetRetryAnchor() bool
	GetHeadMessages() int32
	GetCacheState() []byte
	GetConversation() *elbowroomv1.Conversation
}

func (s *Server) place(ctx context.Context, in cacheFields, c *conversation.Conversation) (placed *breakpoints.Result, err error) {
	ctx, done := s.telemetry.Placement(ctx, c)
	defer func() { done(placed) }()
	model := s.model(ctx, in.GetModel(), c)
	sizes, err := s.prefixSizes(ctx, c, model)
	if err != nil {
		return nil, err
	}
	opts := breakpoints.Options{
		Layout:                  breakpoints.Layout(in.GetLayout()), // the numbers are the same
		Strategy:                strategyOf(in.GetStrategy()),
		TTL:                     s.cacheTTL,
		Reserved:                int(in.GetReserved()),
		LeaveNewestUserUnmarked: in.GetLeaveNewestUserUnmarked(),
		MarkToolMessages:        in.GetMarkToolMessages(),
		Model:                   model.Name,
		Claude:                  model.Claude,
		MinPrefix:               model.CacheMinimum,
		Tokens:                  sizes,
		StaticSystem:            in.GetStaticSystemPrefix(),
		SplitSystem:             in.GetSplitSystem(),
		RetryAnchor:             in.GetRetryAnchor(),
		HeadMessages:            int(in.GetHeadMessages()),
		State:                   in.GetCacheState(),
		StateKeys:               s.stateKeys,
		Tenant:                  auth.FromContext(ctx).Tenant,
		Layouts:                 s.layouts,
	}
	if in.GetConversation().GetNative().GetFormat() == elbowroomv1.Format_FORMAT_BEDROCK_CONVERSE {
		if opts.Layout == breakpoints.LayoutUnset {
			opts.Layout = breakpoints.LayoutBedrock
		}
		if opts.Layout != breakpoints.LayoutBedrock {
			return nil, fmt.Errorf("%w: Bedrock Converse takes LAYOUT_BEDROCK", breakpoints.ErrLayoutMismatch)
		}
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

// strategyOf translates a strategy.
func strategyOf(in elbowroomv1.Strategy) breakpoints.Strategy {
	switch in {
	case elbowroomv1.Strategy_STRATEGY_NONE:
		return breakpoints.StrategyNone
	case elbowroomv1.Strategy_STRATEGY_HERMES_DEFAULT:
		return breakpoints.StrategyHermesDefault
	case elbowroomv1.Strategy_STRATEGY_TRANSACTION_ENDS:
		return breakpoints.StrategyTransactionEnds
	case elbowroomv1.Strategy_STRATEGY_ANCHORED:
		return breakpoints.StrategyAnchored
	case elbowroomv1.Strategy_STRATEGY_AUTO_PLUS_SYSTEM:
		return breakpoints.StrategyAutoPlusSystem
	case elbowroomv1.Strategy_STRATEGY_SYSTEM_ONLY:
		return breakpoints.StrategySystemOnly
	default:
		return breakpoints.StrategySystemAnd3
	}
}

// planOf says how a placement came about.
func planOf(res *breakpoints.Result) *elbowroomv1.CachePlan {
	plan := &elbowroomv1.CachePlan{Anchor: string(res.Anchor), State: string(res.StateVerdict)}
	if res.Hint != nil {
		plan.Hint = &elbowroomv1.CacheHint{Name: res.Hint.Name, Where: res.Hint.Where}
	}
	return plan
}

// usageOf translates what is expected to be billed, nil for nothing known.
func usageOf(u *breakpoints.Usage) *elbowroomv1.PredictedUsage {
	if u == nil {
		return nil
	}
	return &elbowroomv1.PredictedUsage{
		PromptTokens: count(u.Prompt), ReadTokens: count(u.Read),
		Write_5MTokens: count(u.Write5m), Write_1HTokens: count(u.Write1h), WriteTokens: count(u.Write),
		UncachedTokens: count(u.Uncached), Basis: string(u.Basis), Estimated: u.Estimated,
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
	m := marks{layout: elbowroomv1.Layout(res.Layout), reason: res.Reason, warnings: warningsOf(res.Warnings)}
	for _, b := range res.Breakpoints {
		ttl := elbowroomv1.CacheTtl_CACHE_TTL_5M
		switch b.TTL {
		case breakpoints.TTL1h:
			ttl = elbowroomv1.CacheTtl_CACHE_TTL_1H
		case breakpoints.TTL30m:
			ttl = elbowroomv1.CacheTtl_CACHE_TTL_30M
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
