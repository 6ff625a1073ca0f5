package breakpoints

import "github.com/elbowroom/elbowroom/conversation"

// write records the chosen marks and the removal of all others. What reads as
// wanted already is not touched.
func (p *placer) write(chosen []site) {
	r := p.out.Rewrite
	if p.splitAt > 0 {
		p.writeSplit()
	}
	want := conversation.MarkEdit{Kind: conversation.MarkSet, TTL: p.ttl.wire()}
	if p.automatic && !p.c.Carries(p.c.AutoMark, want) {
		r.MarkAuto(want.TTL)
	}
	if p.rules.Mark == "prompt_cache_breakpoint" {
		want.Wire = conversation.WireBreakpoint
	}
	tool := -1 // the marked one
	for _, at := range chosen {
		if at.kind == onTool {
			tool = at.message
		}
		if at.rest || !p.c.Carries(p.markAt(at), want) {
			p.set(at, want.TTL)
		}
	}
	next := 0 // chosen sites and found marks are both in prompt order
	tools := 0
	for _, m := range p.found.marks {
		for next < len(chosen) && chosen[next].before(m.site) {
			next++
		}
		switch {
		case next < len(chosen) && chosen[next] == m.site, m.kind == onRequest && p.automatic:
			continue
		case m.kind == inTool && m.message == tool:
			r.MarkTool(tool, want.TTL) // its strays go with this
			continue
		}
		p.remove(m.site)
		if m.kind == onTool {
			tools++
		}
	}
	if p.opts.Strategy == StrategyNone {
		return
	}
	if tools > 0 && tool < 0 {
		p.out.warn(WarnToolMarksRemoved, -1, "%d marks on tools were removed: the mark at the end of the system prompt covers the tools before it", tools)
	}
	if p.c.AutoMark != nil && !p.automatic {
		p.out.warn(WarnAutomaticRemoved, -1, "the request's automatic cache_control was removed: it takes one of the %d marks, and they are placed explicitly", MaxMarks)
	}
}

// set records a mark.
func (p *placer) set(at site, ttl string) {
	r := p.out.Rewrite
	ref := conversation.Ref{Message: at.message, Block: at.block}
	switch {
	case at.kind == onTool:
		r.MarkTool(at.message, ttl)
	case at.kind == onSystem && at.rest:
		r.MarkSystemRest(at.block, ttl)
	case at.kind == onSystem:
		r.MarkSystem(at.block, ttl)
	case at.rest:
		r.MarkRest(ref, ttl)
	case at.kind == onPart:
		r.MarkPart(ref, at.part, ttl)
	default:
		r.MarkBlock(ref, ttl)
	}
}

// markAt is the mark that stands at a place now.
func (p *placer) markAt(at site) *conversation.Mark {
	switch at.kind {
	case onTool:
		return p.c.Tools[at.message].Mark
	case onSystem:
		return p.c.System.Blocks[at.block].Mark
	case onPart:
		return p.c.Messages[at.message].Blocks[at.block].Result[at.part].Mark
	default:
		return p.c.Messages[at.message].Blocks[at.block].Mark
	}
}

func (p *placer) remove(at site) {
	r := p.out.Rewrite
	ref := conversation.Ref{Message: at.message, Block: at.block}
	switch at.kind {
	case onTool, inTool:
		r.UnmarkTool(at.message)
	case onSystem:
		r.UnmarkSystem(at.block)
	case inSystem:
		r.UnmarkSystemStrays()
	case onBlock:
		r.UnmarkBlock(ref)
	case onPart:
		r.UnmarkPart(ref, at.part)
	case onMessage, inMessage:
		r.UnmarkMessage(at.message)
	case onRequest:
		r.UnmarkAuto()
	}
}

// writeSplit makes two blocks of the one in which the static part of the system
// prompt ends.
func (p *placer) writeSplit() {
	if p.split.kind == onSystem {
		p.out.Rewrite.SplitSystem(p.split.block, p.splitAt)
		return
	}
	p.out.Rewrite.SplitText(conversation.Ref{Message: p.split.message, Block: p.split.block}, p.splitAt)
}

// strip removes the marks of a conversation whose layout takes none.
func (p *placer) strip() {
	if len(p.found.marks) == 0 {
		return
	}
	for _, m := range p.found.marks {
		p.remove(m.site)
	}
	p.out.warn(WarnMarksRemoved, -1, "%d marks were removed: %s takes none", len(p.found.marks), p.rules.Title)
}
