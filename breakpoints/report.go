package breakpoints

import "github.com/elbowroom/elbowroom/conversation"

// report lists the marks with the size of their prefixes.
func (p *placer) report(chosen []site) {
	for _, at := range chosen {
		p.out.Breakpoints = append(p.out.Breakpoints, Breakpoint{Position: p.resulting(at), TTL: p.ttl})
	}
	if p.automatic {
		p.out.Breakpoints = append(p.out.Breakpoints, Breakpoint{Position: site{kind: onRequest, message: -1}.position(p.c), TTL: p.ttl})
	}
	p.out.Hint = p.rules.Hint
	p.measure()
}

// resulting is the position of a chosen place in the result, where a block that
// was split counts as two.
func (p *placer) resulting(at site) Position {
	where := at.position(p.c)
	if p.splitAt > 0 && at.kind == p.split.kind && at.message == p.split.message && (at.rest || at.block > p.split.block) {
		where.Block++
	}
	return where
}

// measure fills in the sizes of the prefixes and compares them with the smallest
// one the model caches. A prefix is taken to reach to the end of its message,
// which errs on the loose side: a mark without effect costs nothing, a mark
// withheld loses the cache.
func (p *placer) measure() {
	counts := p.opts.Tokens
	if counts == nil {
		return
	}
	minimum := p.minimum()
	sum, next := counts.Tools, 0
	inert, largest := 0, 0
	for i := range p.out.Breakpoints {
		b := &p.out.Breakpoints[i]
		switch b.Section {
		case conversation.SectionTools:
			b.Tokens = counts.Tools
		case conversation.SectionSystem:
			b.Tokens = counts.Tools + counts.System
		default:
			last := b.Message
			if last < 0 { // automatic caching marks the last block
				last = len(counts.Messages) - 1
			}
			for ; next <= last; next++ {
				sum += counts.Messages[next]
			}
			b.Tokens = sum + counts.System
		}
		if b.Tokens < minimum {
			b.Inert = true
			inert, largest = inert+1, b.Tokens
		}
	}
	if inert > 0 {
		p.out.warn(WarnBelowMinimum, -1, "%d of %d marks have no effect yet: the largest of these prefixes has %d tokens, the model caches from %d", inert, len(p.out.Breakpoints), largest, minimum)
	}
}

// minimum is the smallest prefix that is cached, 0 where it is not known.
func (p *placer) minimum() int {
	if n := p.opts.Layouts.Minimum(p.layout, p.opts.Model); n > 0 {
		return n
	}
	return p.opts.MinPrefix
}

// leave reports marks of a conversation that takes none and stays as it is.
func (p *placer) leave() {
	if len(p.found.marks) == 0 {
		return
	}
	p.list()
	p.out.warn(WarnMarksLeft, -1, "%d marks are left as they are; strategy NONE removes them", len(p.found.marks))
}

// list reports the marks that are there.
func (p *placer) list() {
	for _, m := range p.found.marks {
		ttl, _ := life(m.mark)
		p.out.Breakpoints = append(p.out.Breakpoints, Breakpoint{Position: m.position(p.c), TTL: ttl})
	}
	p.measure()
}

// life reads the ttl of an existing mark; a missing one means five minutes.
func life(m *conversation.Mark) (ttl TTL, known bool) {
	switch m.TTL {
	case "1h":
		return TTL1h, true
	case "", "5m":
		return TTL5m, true
	default:
		return TTL5m, false
	}
}
