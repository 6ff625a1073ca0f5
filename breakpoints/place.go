package breakpoints

import (
	"slices"

	"github.com/elbowroom/elbowroom/conversation"
)

// Place decides where a conversation carries its marks. The conversation is not
// changed; the result's rewrite is what to render.
//
// Errors are those of this package: options that are not supported or do not fit
// the conversation, and, with [ExistingRespect], existing marks that are illegal
// ([*MarkError]).
func Place(c *conversation.Conversation, opts Options) (*Result, error) {
	if err := opts.check(c); err != nil {
		return nil, err
	}
	if opts.Model == "" {
		opts.Model = c.Model
	}
	if opts.Layouts == nil {
		var err error
		if opts.Layouts, err = NewLayouts(nil); err != nil {
			return nil, err
		}
	}
	p := &placer{c: c, opts: &opts, found: look(c), out: &Result{Rewrite: conversation.NewRewrite(c)}}
	if opts.Strategy == StrategyNone {
		p.out.Reason = "no marks: all are removed as requested"
		p.write(nil)
		return p.out, nil
	}
	p.layout, p.out.Reason = opts.Layouts.choose(c, &opts)
	p.out.Layout, p.rules = p.layout, opts.Layouts.Rules(p.layout)
	switch {
	case p.layout == LayoutUnset:
		p.leave()
		return p.out, nil
	case !p.rules.fits(c):
		return nil, mismatch(p.layout, &p.rules, c)
	case opts.Existing == ExistingRespect && len(p.found.marks) > 0:
		return p.respect()
	case p.rules.MaxMarks == 0:
		p.out.Reason += ": " + p.rules.Title + " " + p.rules.Note
		p.strip()
		p.predict(nil)
		return p.out, nil
	}
	if p.rules.Mark == "prompt_cache_breakpoint" {
		p.out.Rewrite.MarksAs(conversation.WireBreakpoint)
	}
	p.ttl = p.clampedTTL()
	chosen := p.choose()
	p.write(chosen)
	if len(chosen) == 0 && !p.automatic && opts.Reserved < MaxMarks {
		p.out.warn(WarnNoTarget, -1, "no place can carry a mark")
	}
	p.report(chosen)
	marks := make([]billed, len(chosen))
	for i, at := range chosen {
		marks[i] = billed{at, p.ttl}
	}
	p.predict(marks)
	return p.out, nil
}

// placer holds one decision in the making.
type placer struct {
	c      *conversation.Conversation
	opts   *Options
	layout Layout
	rules  Rules
	ttl    TTL
	found  survey
	out    *Result

	// free is how many marks may be set, first the first message that is not the
	// system prompt, end the first that is left unmarked.
	free, first, end int
	// split is the block that is made two, with splitAt bytes in the first of them;
	// splitAt 0 for none.
	split   site
	splitAt int
	// respects is set when the marks that are there stay.
	respects bool
	// automatic is set when the request as a whole is marked.
	automatic bool
	// previous is where the previous request ended, as far as its state or its marks
	// show it.
	previous *site
	skipped  map[Skip]bool
}

// clampedTTL is the wanted life, or the layout's own where it does not take that.
func (p *placer) clampedTTL() TTL {
	route := p.opts.Route
	if route == "" && p.layout == LayoutOpenRouter {
		route = "openrouter"
	}
	ttl := ClampTTL(p.opts.TTL, route, p.opts.Model)
	if !slices.Contains(p.rules.TTLs, ttl.String()) {
		ttl, _ = ttlNamed(p.rules.TTLs[0])
	}
	if ttl != p.opts.TTL && p.opts.TTL != TTL5m { // five minutes is also what nobody asked for
		p.out.warn(WarnTTLClamped, -1, "%v marks are not taken here (layout %v, model %s, route %s); %v is used", p.opts.TTL, p.layout, named(p.opts.Model), named(route), ttl)
	}
	return ttl
}

func named(s string) string {
	if s == "" {
		return "not named"
	}
	return s
}

// choose picks the places of the strategy, in prompt order and each once.
func (p *placer) choose() []site {
	p.free = min(MaxMarks, p.rules.MaxMarks) - p.opts.Reserved
	p.limits()
	if p.free <= 0 {
		return nil
	}
	var chosen []site
	switch p.opts.Strategy {
	case StrategyHermesDefault:
		chosen = p.hermesDefault()
	case StrategyTransactionEnds:
		chosen = p.transactionEnds()
	case StrategyAnchored:
		chosen = p.anchored()
	case StrategyAutoPlusSystem:
		chosen = p.autoPlusSystem()
	case StrategySystemOnly:
		chosen = p.systemOnly()
	default:
		chosen = p.systemAnd3()
	}
	slices.SortFunc(chosen, site.compare)
	return slices.Compact(chosen)
}

// limits finds the messages that may be marked.
func (p *placer) limits() {
	if p.c.System == nil {
		for p.first < len(p.c.Messages) && p.c.Messages[p.first].Role == conversation.RoleSystem {
			p.first++
		}
	}
	p.end = len(p.c.Messages)
	if p.opts.LeaveNewestUserUnmarked && p.found.newest >= 0 {
		p.end = p.found.newest
	}
}

// lastMessages finds the places of the newest messages that can carry a mark, n at
// most, the newest first.
func (p *placer) lastMessages(n int) []site {
	if p.end < len(p.c.Messages) {
		p.skip(Position{conversation.SectionMessages, p.end, -1}, ReasonNewestUser)
	}
	var out []site
	for i := p.end - 1; i >= p.first && len(out) < n; i-- {
		out = append(out, p.message(i)...)
	}
	return out
}

// message finds the last place of a message that can carry a mark: none or one. A
// list that ends in a bare string carries none at all (row CA7).
func (p *placer) message(i int) []site {
	if reason := p.unfit(i); reason != "" {
		p.skip(Position{conversation.SectionMessages, i, -1}, reason)
		return nil
	}
	return p.lastBlock(i)
}

// unfit says why a message is no target whatever it holds.
func (p *placer) unfit(i int) Reason {
	switch m := &p.c.Messages[i]; {
	case m.Role == conversation.RoleSystem:
		return ReasonSystemMessage
	case m.Role == conversation.RoleOther:
		return ReasonUnknownRole
	case m.RawRole == "function" && p.c.Format == conversation.FormatOpenAIChat:
		return ReasonFunction
	default:
		return ""
	}
}

// lastBlock finds the last place in a message of any role.
func (p *placer) lastBlock(i int) []site {
	m := &p.c.Messages[i]
	from, to := contentBlocks(m)
	if from == to {
		p.skip(Position{conversation.SectionMessages, i, -1}, ReasonNoContent)
		return nil
	}
	for b := to - 1; b >= from; b-- {
		at, reason := p.siteOf(i, b)
		if reason == "" {
			return []site{at}
		}
		p.skip(at.position(p.c), reason)
		if b == to-1 && reason == ReasonBareString {
			return nil
		}
	}
	return nil
}

// siteOf is the place at which a block's mark stands, and why it carries none.
func (p *placer) siteOf(message, block int) (site, Reason) {
	part, reason := p.carrier(&p.c.Messages[message], conversation.Ref{Message: message, Block: block})
	at := site{kind: onBlock, message: message, block: block}
	if part >= 0 {
		at.kind, at.part = onPart, part
	}
	return at, reason
}

// lastTool finds the last tool that can carry a mark.
func (p *placer) lastTool() []site {
	for i := len(p.c.Tools) - 1; i >= 0; i-- {
		at := site{kind: onTool, message: i, block: -1}
		switch {
		case !p.rules.Tools:
			p.skip(at.position(p.c), ReasonTool)
			return nil
		case p.c.Tools[i].Deferred:
			p.skip(at.position(p.c), ReasonDeferred)
		default:
			return []site{at}
		}
	}
	return nil
}

func (p *placer) skip(at Position, reason Reason) {
	s := Skip{at, reason}
	if p.skipped[s] {
		return
	}
	if p.skipped == nil {
		p.skipped = make(map[Skip]bool)
	}
	p.skipped[s] = true
	p.out.Skipped = append(p.out.Skipped, s)
}
