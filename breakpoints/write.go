package breakpoints

import "github.com/elbowroom/elbowroom/conversation"

// write records the chosen marks and the removal of all others. What reads as
// wanted already is not touched.
func (p *placer) write(chosen []site) {
	r := p.out.Rewrite
	for _, at := range chosen {
		if p.c.Carries(p.markAt(at), p.ttl.wire()) {
			continue
		}
		ref := conversation.Ref{Message: at.message, Block: at.block}
		switch at.kind {
		case onSystem:
			r.MarkSystem(at.block, p.ttl.wire())
		case onPart:
			r.MarkPart(ref, at.part, p.ttl.wire())
		default:
			r.MarkBlock(ref, p.ttl.wire())
		}
	}
	next := 0 // chosen sites and found marks are both in prompt order
	tools := 0
	for _, m := range p.found.marks {
		for next < len(chosen) && chosen[next].before(m.site) {
			next++
		}
		if next < len(chosen) && chosen[next] == m.site {
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
	if tools > 0 {
		p.out.warn(WarnToolMarksRemoved, -1, "%d marks on tools were removed: the mark at the end of the system prompt covers the tools before it", tools)
	}
	if p.c.AutoMark != nil {
		p.out.warn(WarnAutomaticRemoved, -1, "the request's automatic cache_control was removed: it takes one of the %d marks, and they are placed explicitly", MaxMarks)
	}
}

// before orders the sites that can be chosen with those of found marks.
func (at site) before(other site) bool {
	section := func(s site) int {
		switch s.kind {
		case onTool, inTool:
			return 0
		case onSystem, inSystem:
			return 1
		case onRequest:
			return 3
		default:
			return 2
		}
	}
	if a, b := section(at), section(other); a != b {
		return a < b
	}
	return at.message < other.message
}

// markAt is the mark that stands at a place now.
func (p *placer) markAt(at site) *conversation.Mark {
	switch at.kind {
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
