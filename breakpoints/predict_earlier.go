package breakpoints

import "slices"

// lastRead is the size of the prefix that is read, given the first message of the last
// answer. What the request before that answer wrote last is the most there is. Where it
// cannot be found, because it ends within a run that has gone on or too far back, what
// that request and those before it wrote besides is looked for.
func (p *placer) lastRead(r *ruler, marks []billed, answer int) int {
	setup, inSetup := 0, 0
	for _, m := range marks {
		if p.inSetup(m.site) {
			setup, inSetup = r.upTo(m.site), inSetup+1
		}
	}
	end := p.previousEnd(answer, inSetup, marks[len(marks)-1].site)
	read := p.lookBack(r, marks, end)
	if len(end) > 0 && (read == r.upTo(end[0]) || r.upTo(end[0]) < r.minimum) {
		return read
	}
	// Every request takes a position at least, so there are no more of them in a window.
	for n := 0; answer >= 0 && read <= setup && (p.rules.Window == 0 || n < p.rules.Window); n++ {
		read = max(read, p.lookBack(r, marks, p.requestOf(answer).messageMarks(inSetup)))
		answer = p.answerStart(answer)
	}
	return read
}

// inSetup reports whether a place stands before the first message that is not the system
// prompt.
func (p *placer) inSetup(at site) bool {
	return at.section() < 2 || at.section() == 2 && at.message < p.first
}

// requestOf is the request that the first n messages were.
func (p *placer) requestOf(n int) *placer {
	c := *p.c
	c.Messages = c.Messages[:n]
	q := &placer{
		c: &c, opts: p.opts, layout: p.layout, rules: p.rules, ttl: p.ttl, free: p.free, respects: p.respects, automatic: p.automatic,
		found: survey{programmatic: p.found.programmatic, newest: n - 1}, out: &Result{},
	}
	for q.found.newest >= 0 && !c.Messages[q.found.newest].IsRequest() {
		q.found.newest--
	}
	q.limits()
	return q
}

// messageMarks are the marks that the strategy sets among the messages, in prompt order,
// those of the provider's automatic mode included. inSetup is how many it sets before them.
func (p *placer) messageMarks(inSetup int) []site {
	whole := len(p.c.Messages)
	var out []site
	switch {
	case p.respects && p.automatic:
		return p.automaticSite(whole)
	case p.respects: // somebody else set them, most likely at the end
		return p.lastMessages(1)
	}
	switch p.opts.Strategy {
	case StrategyNone, StrategySystemOnly:
	case StrategyAutoPlusSystem:
		if p.hasAutomatic() {
			return p.automaticSite(whole)
		}
		out = p.lastMessages(1)
	case StrategyAnchored:
		out = p.lastMessages(1)
		if end, found := p.lastSeen(p.end); found && !slices.Contains(out, end) && p.hasAutomatic() && !p.retried(out) {
			return p.automaticSite(whole)
		}
	case StrategyTransactionEnds:
		if len(p.lastTool()) > 0 {
			out = p.transactions(min(2, p.free-inSetup))
			break
		}
		fallthrough
	default:
		out = p.lastMessages(p.free - inSetup)
	}
	slices.SortFunc(out, site.compare)
	return out
}
