package breakpoints

import (
	"slices"

	"github.com/elbowroom/elbowroom/conversation"
)

// Usage is how a prompt is expected to be billed, in tokens, when it is sent with the
// marks of the [Result]. The parts add up to the prompt.
//
// What an earlier request left in the cache is not known here. The prediction takes
// the request before the last answer of the model for cached, by the same strategy
// and layout, a life not yet over; the simulator says what a sequence of requests
// really costs.
type Usage struct {
	Prompt int
	// Read is read from the cache.
	Read int
	// Write5m and Write1h are written with that life, Write where the provider decides on
	// it.
	Write5m, Write1h, Write int
	// Uncached is neither read nor written.
	Uncached int
	Basis    Basis
	// Estimated is that of the [TokenCounts].
	Estimated bool
}

// Basis is what a prediction of reads rests on.
type Basis string

// The bases.
const (
	// BasisAnchor: the previous request of the conversation.
	BasisAnchor Basis = "ANCHOR"
	// BasisFirst: there was none, so nothing is read.
	BasisFirst Basis = "FIRST"
)

// billed is a mark whose effect is predicted.
type billed struct {
	site
	ttl TTL
}

// predict fills in the expected usage. marks are in prompt order, without the one on
// the request as a whole.
func (p *placer) predict(marks []billed) {
	if p.opts.Tokens == nil {
		return
	}
	p.limits()
	skipped := len(p.out.Skipped) // looking for places of earlier marks reports nothing
	r := p.newRuler()
	answer := p.lastAnswerStart()
	u := &Usage{Prompt: r.whole, Basis: BasisFirst, Estimated: p.opts.Tokens.Estimated}
	if answer >= 0 {
		u.Basis = BasisAnchor
	}
	switch p.rules.Caches() {
	case CachesAtMarks:
		p.predictMarks(u, r, marks, answer)
	case CachesAtBreakpoints:
		p.predictBreakpoints(u, r, marks, answer)
	case CachesPrefix:
		if answer >= 0 {
			u.Read = r.upToMessage(answer - 1)
			if step := p.opts.Layouts.Step(p.layout, p.opts.Model); step > 1 {
				u.Read -= u.Read % step
			}
			if u.Read < r.minimum {
				u.Read = 0
			}
		}
		u.Uncached = u.Prompt - u.Read
	default:
		u.Uncached, u.Basis = u.Prompt, BasisFirst
	}
	p.out.Skipped = p.out.Skipped[:skipped]
	p.out.Usage = u
}

// lastAnswerStart is the first message of the last answer to a request, -1 when there
// is none. Messages of the model that follow each other are one answer.
func (p *placer) lastAnswerStart() int { return p.answerStart(len(p.c.Messages)) }

// answerStart is that of the first n messages.
func (p *placer) answerStart(n int) int {
	m := p.c.Messages
	answer := n - 1
	for answer >= 0 && m[answer].Role != conversation.RoleAssistant {
		answer--
	}
	for answer > 0 && m[answer-1].Role == conversation.RoleAssistant {
		answer--
	}
	for i := range max(answer, 0) {
		if m[i].Role != conversation.RoleSystem && m[i].Role != conversation.RoleAssistant {
			return answer
		}
	}
	return -1
}

// predictMarks follows the rules of providers that write at marks and look for what was
// written in a window before each.
func (p *placer) predictMarks(u *Usage, r *ruler, marks []billed, answer int) {
	if p.automatic {
		if at := p.automaticSite(len(p.c.Messages)); len(at) > 0 && (len(marks) == 0 || marks[len(marks)-1].before(at[0])) {
			marks = append(marks[:len(marks):len(marks)], billed{at[0], p.ttl})
		}
	}
	active := marks[:0:0]
	for _, m := range marks {
		if !r.hides(m.site) && r.upTo(m.site) >= r.minimum {
			active = append(active, m)
		}
	}
	if len(active) == 0 {
		u.Uncached = u.Prompt
		return
	}
	if answer >= 0 || p.previous != nil {
		u.Basis = BasisAnchor
		u.Read = p.lastRead(r, active, answer)
	}
	long, last := u.Read, max(u.Read, r.upTo(active[len(active)-1].site))
	for _, m := range active {
		if at := r.upTo(m.site); m.ttl == TTL1h && at > u.Read {
			long = at
		}
	}
	u.Write1h, u.Write5m, u.Uncached = long-u.Read, last-long, u.Prompt-last
}

// previousEnd is where the previous request had its last mark: where the state or the
// marks that are there say, else before the last answer. None: it had none among the
// messages.
func (p *placer) previousEnd(answer, inSetup int, last site) []site {
	if p.previous != nil {
		return p.seenFrom(*p.previous, answer)
	}
	end := p.requestOf(answer).messageMarks(inSetup)
	end = end[max(0, len(end)-1):]
	if marked := p.lastMark(last, nil); len(marked) > 0 && len(end) > 0 && end[0].before(marked[0]) {
		return marked
	}
	return end
}

// seenFrom is the end of a request that ended on a block. Where that cannot carry a
// mark the provider's automatic mode has set one, which passes over less than we do.
func (p *placer) seenFrom(end site, answer int) []site {
	if p.hasAutomatic() && !slices.Contains(p.message(end.message), end) {
		if at := p.automaticSite(answer); len(at) > 0 && !at[0].before(end) {
			return at
		}
	}
	return []site{end}
}

// automaticSite is where a provider puts its own mark in a request of the first n
// messages.
func (p *placer) automaticSite(n int) []site {
	for i := n - 1; i >= p.first; i-- {
		for b := len(p.c.Messages[i].Blocks) - 1; b >= 0; b-- {
			block := &p.c.Messages[i].Blocks[b]
			switch {
			case block.Kind == conversation.KindThinking, block.Kind == conversation.KindRedactedThinking, blankText(block),
				p.found.programmatic[conversation.Ref{Message: i, Block: b}]:
			default:
				return []site{{kind: onBlock, message: i, block: b}}
			}
		}
	}
	return nil
}

// lookBack returns the size of the prefix that is read: from each mark, the last first,
// the window before it is searched for places that an earlier request has written, given in
// prompt order, and for marks before the last of them, which that request had too.
func (p *placer) lookBack(r *ruler, marks []billed, written []site) int {
	var ends []site // what is cached, in prompt order
	for _, m := range marks {
		if p.inSetup(m.site) || len(written) > 0 && !written[len(written)-1].before(m.site) {
			ends = append(ends, m.site)
		}
	}
	for _, at := range written {
		marked := slices.ContainsFunc(ends, at.sameBlock)
		if !marked && !r.hides(at) && r.upTo(at) >= r.minimum && !p.insideRun(at) {
			ends = append(ends, at)
		}
	}
	slices.SortFunc(ends, site.compare)
	places := make([]site, 0, len(marks)+len(ends))
	for _, m := range marks {
		places = append(places, m.site)
	}
	at := r.positions(append(places, ends...))
	for i := len(marks) - 1; i >= 0; i-- {
		for k := len(ends) - 1; k >= 0; k-- {
			distance := at[i] - at[len(marks)+k]
			if distance >= 0 && (p.rules.Window == 0 || distance < p.rules.Window) && !marks[i].before(ends[k]) {
				return r.upTo(ends[k])
			}
		}
	}
	return 0
}

// insideRun reports whether a block that is not marked goes unseen, because it is not
// the last of a run that counts as one position.
func (p *placer) insideRun(at site) bool {
	if !p.rules.Collapse || at.section() != 2 {
		return false
	}
	blocks, next := p.c.Messages[at.message].Blocks, at.block+1
	kind := blocks[at.block].Kind
	for i := at.message; next == len(blocks); next = 0 {
		if i++; i == len(p.c.Messages) {
			return false
		}
		blocks = p.c.Messages[i].Blocks
	}
	return runs(kind, blocks[next].Kind)
}

// predictBreakpoints follows the rules of OpenAI from GPT-5.6 on: entries are written
// at the marks and at the end of the last message that is not the model's, and found
// wherever a message ends.
func (p *placer) predictBreakpoints(u *Usage, r *ruler, marks []billed, answer int) {
	before := -1
	if answer >= 0 {
		before = p.messageEnd(answer - 1)
	}
	if before >= 0 {
		candidates := len(marks)
		for i := len(p.c.Messages) - 1; i > before && candidates < p.rules.LookUp; i-- {
			if p.messageEnd(i) == i {
				candidates++
			}
		}
		if size := r.upToMessage(before); size >= r.minimum && (p.rules.LookUp == 0 || candidates < p.rules.LookUp) {
			u.Read = size
		}
	}
	last := u.Read
	if end := p.messageEnd(len(p.c.Messages) - 1); end >= 0 && r.upToMessage(end) >= r.minimum {
		last = max(last, r.upToMessage(end))
	}
	for _, m := range marks {
		if size := r.upTo(m.site); size >= r.minimum {
			last = max(last, size)
		}
	}
	u.Write, u.Uncached = last-u.Read, u.Prompt-last
}

// messageEnd finds the last message up to i at whose end the provider may put a mark of
// its own, -1 for none: one of the user, the last of a run of tool messages, the last
// of the system prompt.
func (p *placer) messageEnd(i int) int {
	m := p.c.Messages
	for ; i >= 0; i-- {
		last := i+1 == len(m)
		switch {
		case len(m[i].Blocks) == 0:
		case m[i].Role == conversation.RoleUser,
			m[i].Role == conversation.RoleTool && (last || m[i+1].Role != conversation.RoleTool),
			i == p.first-1:
			return i
		}
	}
	return -1
}
