package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/tokens"
)

// SimulateCache implements the RPC.
func (s *Server) SimulateCache(ctx context.Context, in *elbowroomv1.SimulateCacheRequest) (*elbowroomv1.SimulateCacheResponse, error) {
	if err := plausible(in); err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &elbowroomv1.SimulateCacheResponse{Estimated: in.GetEstimateOnly()}
	requests := make([]simulator.Request, len(in.GetRequests()))
	for i, r := range in.GetRequests() {
		exact, err := s.simulated(ctx, in, r, &requests[i])
		if err != nil {
			return nil, s.fail(ctx, within(fmt.Sprintf("requests[%d].", i), err))
		}
		out.Estimated = out.Estimated || !exact
	}
	report, err := simulator.Run(requests)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	for i := range report.Outcomes {
		out.Turns = append(out.Turns, turnOf(&report.Outcomes[i], &requests[i], in.GetOmitExcerpts()))
	}
	out.Total, out.Cost, out.NoCacheCost = splitOf(report.Total), costOf(report.Cost), costOf(report.NoCache)
	if report.Agreement >= 0 {
		out.Agreement = &report.Agreement
	}
	return out, nil
}

// Bounds of what a simulation takes. Beyond them sums are no finite numbers, or times run over.
const (
	simulatedSpan = 100 * 365 * 24 * time.Hour
	leastRate     = 1e-6 // US dollars for a million tokens
	largestRate   = 1e6
)

// plausible checks what the rules of the proto file cannot say.
func plausible(in *elbowroomv1.SimulateCacheRequest) error {
	wrong := func(field, reason string) error { return &requestError{field: field, message: -1, reason: reason} }
	if day := in.GetPriceDate(); day != "" {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return wrong("price_date", fmt.Sprintf("%q is no day as YYYY-MM-DD", day))
		}
	}
	if p := in.GetPrice(); p != nil {
		for _, rate := range []struct {
			name string
			usd  float64
		}{{"input", p.GetInput()}, {"read", p.GetRead()}, {"write_5m", p.GetWrite_5M()}, {"write_1h", p.GetWrite_1H()}, {"write", p.GetWrite()}} {
			if rate.usd != 0 && (rate.usd < leastRate || rate.usd > largestRate) {
				return wrong("price."+rate.name, fmt.Sprintf("%g dollars for a million tokens; a price is between %g and %g", rate.usd, leastRate, largestRate))
			}
		}
	}
	first, before := in.GetRequests()[0].GetStartMs(), int64(0)
	for i, r := range in.GetRequests() {
		at := fmt.Sprintf("requests[%d].", i)
		switch {
		case r.GetStartMs() < before:
			return wrong(at+"start_ms", "it starts before the request ahead of it")
		case r.GetStartMs()-first > simulatedSpan.Milliseconds():
			return wrong(at+"start_ms", "it starts more than 100 years after the first request")
		case r.GetDurationMs() > 0 && r.GetDurationMs() < r.GetFirstTokenMs():
			return wrong(at+"duration_ms", "the answer ends before its first token")
		}
		before = r.GetStartMs()
	}
	return nil
}

// simulated reads one request of the sequence, and says whether its sizes are those of the model's own vocabulary.
func (s *Server) simulated(ctx context.Context, in *elbowroomv1.SimulateCacheRequest, r *elbowroomv1.SimulatedRequest, out *simulator.Request) (exact bool, err error) {
	c, err := markedForm(r.GetConversation(), elbowroomv1.View_VIEW_FULL, nil).read(s.limits)
	if err != nil {
		return false, err
	}
	name := r.GetModel()
	if name == "" {
		name = in.GetModel()
	}
	model := s.model(ctx, name, c)
	layout := breakpoints.Layout(r.GetLayout()) // the numbers are the same
	if layout == breakpoints.LayoutUnset {
		layout = breakpoints.Layout(in.GetLayout())
	}
	switch {
	case layout != breakpoints.LayoutUnset:
	case r.GetConversation().GetNative().GetFormat() == elbowroomv1.Format_FORMAT_BEDROCK_CONVERSE:
		layout = breakpoints.LayoutBedrock
	default:
		layout = simulator.LayoutOf(&model, c.Format)
	}
	var sizes *simulator.Sizes
	if !in.GetEstimateOnly() {
		if sizes, err = simulator.Count(ctx, s.counter, model, c); err != nil {
			return false, err
		}
		exact = s.counter.Method(model) == tokens.MethodLocal
	}
	material, err := simulator.Read(c, model.Name, sizes)
	if err != nil {
		return false, err
	}
	rules := s.caches.Rules(layout, &model, countingOf(in.GetCounting()))
	price := s.caches.Price(layout, &model, in.GetPriceDate())
	if p := in.GetPrice(); p != nil {
		price = simulator.Price{Rates: ratesOf(p, price.Rates), Date: in.GetPriceDate(), Source: "the request"}
	}
	*out = simulator.Request{
		Prompt: material.Request(&rules), Rules: &rules, Price: &price,
		Start:      time.Duration(r.GetStartMs()-in.GetRequests()[0].GetStartMs()) * time.Millisecond,
		FirstToken: time.Duration(r.GetFirstTokenMs()) * time.Millisecond,
		Duration:   time.Duration(r.GetDurationMs()) * time.Millisecond,
		Scope:      r.GetScope(), Thread: r.GetThread(), Billed: billedOf(r.GetBilled()),
	}
	return exact, nil
}

// ratesOf are the rates of a request. One that names the input alone has the provider's
// multiples of it: nobody reads and writes for nothing.
func ratesOf(p *elbowroomv1.CachePrice, known simulator.Rates) simulator.Rates {
	r := simulator.Rates{Input: p.GetInput(), Read: p.GetRead(), Write5m: p.GetWrite_5M(), Write1h: p.GetWrite_1H(), Write: p.GetWrite()}
	if r.Read == 0 && r.Write5m == 0 && r.Write1h == 0 && r.Write == 0 && known.Input > 0 {
		x := r.Input / known.Input
		r.Read, r.Write5m, r.Write1h, r.Write = x*known.Read, x*known.Write5m, x*known.Write1h, x*known.Write
	}
	return r
}

// within puts a path in front of the field that an error names.
func within(path string, err error) error {
	var request *requestError
	if !errors.As(err, &request) {
		return err
	}
	inner := *request
	inner.field = path + inner.field
	return &inner
}

func countingOf(in elbowroomv1.PositionCounting) simulator.Counting {
	switch in {
	case elbowroomv1.PositionCounting_POSITION_COUNTING_COLLAPSED:
		return simulator.CountingCollapsed
	case elbowroomv1.PositionCounting_POSITION_COUNTING_RAW:
		return simulator.CountingRaw
	default:
		return simulator.CountingDefault
	}
}

func billedOf(in *elbowroomv1.BilledUsage) *simulator.Billed {
	if in == nil {
		return nil
	}
	return &simulator.Billed{
		Uncached: int(in.GetUncachedTokens()), Read: int(in.GetReadTokens()),
		Write5m: int(in.GetWrite_5MTokens()), Write1h: int(in.GetWrite_1HTokens()), Write: int(in.GetWriteTokens()),
	}
}

func turnOf(o *simulator.Outcome, r *simulator.Request, omitExcerpts bool) *elbowroomv1.SimulatedTurn {
	t := &elbowroomv1.SimulatedTurn{
		Split: splitOf(o.Split), Cost: costOf(o.Cost), Layout: elbowroomv1.Layout(r.Rules.Layout),
		Price: &elbowroomv1.CachePrice{
			Input: r.Price.Input, Read: r.Price.Read, Write_5M: r.Price.Write5m, Write_1H: r.Price.Write1h, Write: r.Price.Write,
			Date: r.Price.Date, Source: r.Price.Source, Relative: r.Price.Relative,
		},
	}
	if len(o.Rejections) > 0 {
		t.Rejection = o.Rejections[0].String()
	}
	for _, m := range o.Marks {
		t.Breakpoints = append(t.Breakpoints, &elbowroomv1.Breakpoint{
			Section: sectionOf(m.At.Section), MessageIndex: count(m.At.Message), BlockIndex: count(m.At.Block),
			Ttl: ttlOf(m.TTL), Tokens: count(m.Tokens), Inert: m.Inert,
		})
	}
	for i := range o.Findings {
		t.Findings = append(t.Findings, findingOf(&o.Findings[i], omitExcerpts))
	}
	return t
}

func ttlOf(d time.Duration) elbowroomv1.CacheTtl {
	switch d {
	case simulator.TTL1h:
		return elbowroomv1.CacheTtl_CACHE_TTL_1H
	case simulator.TTL5m:
		return elbowroomv1.CacheTtl_CACHE_TTL_5M
	default:
		return elbowroomv1.CacheTtl_CACHE_TTL_30M
	}
}

func findingOf(f *simulator.Finding, omitExcerpts bool) *elbowroomv1.CacheFinding {
	out := &elbowroomv1.CacheFinding{
		Code: f.Code, Class: f.Class, Path: f.At.String(), TokensLost: int64(f.TokensLost),
		Severity: elbowroomv1.FindingSeverity(f.Severity + 1), Evidence: elbowroomv1.FindingEvidence(f.Evidence + 1),
		Cost: costOf(f.Now), CostPerTurn: costOf(f.PerTurn), Detail: f.Detail, Fix: f.Fix,
	}
	switch f.Tier {
	case simulator.TierTools:
		out.Section = elbowroomv1.Section_SECTION_TOOLS
	case simulator.TierSystem:
		out.Section = elbowroomv1.Section_SECTION_SYSTEM
	default:
		out.Section = elbowroomv1.Section_SECTION_MESSAGES
	}
	if f.Offset >= 0 {
		out.ByteOffset = new(int64(f.Offset))
	}
	if !omitExcerpts {
		out.Before, out.After = f.Before, f.After
	}
	return out
}

func splitOf(s simulator.Split) *elbowroomv1.CacheSplit {
	return &elbowroomv1.CacheSplit{
		PromptTokens: int64(s.Prompt()), ReadTokens: int64(s.Read), Write_5MTokens: int64(s.Write5m),
		Write_1HTokens: int64(s.Write1h), WriteTokens: int64(s.Write), UncachedTokens: int64(s.Uncached),
	}
}

func costOf(c simulator.Cost) *elbowroomv1.CacheCost {
	return &elbowroomv1.CacheCost{Usd: c.USD, BaseTokens: c.BaseTokens}
}
