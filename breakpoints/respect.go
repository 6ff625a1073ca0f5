package breakpoints

import "github.com/elbowroom/elbowroom/conversation"

// respect leaves a marked conversation as it is. Marks that make the provider
// refuse the request as a whole are an error; marks that are refused where they
// stand are reported.
func (p *placer) respect() (*Result, error) {
	p.respects = true
	marks := p.found.marks
	if len(marks) > MaxMarks {
		return nil, &MarkError{At: marks[MaxMarks].position(p.c), Count: len(marks), kind: ErrTooManyMarks}
	}
	short := false
	for _, m := range marks {
		ttl, known := life(m.mark)
		if ttl == TTL1h && short {
			return nil, &MarkError{At: m.position(p.c), Count: len(marks), kind: ErrTTLOrder}
		}
		short = short || ttl == TTL5m
		if !known {
			p.out.warn(WarnUnknownTTL, p.messageOf(m), "the mark on %v has the ttl %q, taken for 5m", m.position(p.c), m.mark.TTL)
		}
		if reason := p.illegal(m); reason != "" {
			p.out.warn(WarnIllegalMark, p.messageOf(m), "the mark on %v is refused by the provider: %s", m.position(p.c), reason)
		}
	}
	p.automaticConflict()
	p.out.warn(WarnMarksRespected, -1, "%d marks were there already; none was added", len(marks))
	if free := MaxMarks - len(marks); free < p.opts.Reserved {
		p.out.warn(WarnReservedTaken, -1, "%d marks leave %d free, %d were to be reserved", len(marks), free, p.opts.Reserved)
	}
	p.list()
	marked := p.respected()
	if p.opts.Strategy == StrategyAnchored {
		p.remember(marked)
	}
	p.predict(marked)
	return p.out, nil
}

// remember writes the state of a request that ends with the last of the marks that are
// there, and finds the end that the old state names. Nothing else is looked for: the marks
// stay where they are.
func (p *placer) remember(marks []billed) {
	p.limits()
	var last []site
	for _, m := range marks {
		if !p.inSetup(m.site) {
			last = []site{m.site}
		}
	}
	if auto := p.automaticSite(len(p.c.Messages)); p.automatic && len(auto) > 0 && (len(last) == 0 || last[0].before(auto[0])) {
		last = auto
	}
	if len(last) == 0 {
		return
	}
	warned, skipped := len(p.out.Warnings), len(p.out.Skipped)
	static := p.staticSystem()
	old, known := p.readState()
	h := p.walk(old.Ends, static, last[0])
	p.writeState(&h, old.Varies || known && old.Tools == h.tools && old.System != h.system)
	if n := len(h.found); n > 0 && h.found[n-1].at.before(last[0]) {
		p.previous, p.out.Anchor = &h.found[n-1].at, AnchorState
	}
	// A place for the static part's mark is not wanted here, and no block is made two.
	p.splitAt, p.out.Warnings, p.out.Skipped = 0, p.out.Warnings[:warned], p.out.Skipped[:skipped]
}

// respected are the marks that the provider reads, where their effect is predicted. The
// request's own is the automatic mode.
func (p *placer) respected() []billed {
	var out []billed
	for _, m := range p.found.marks {
		ttl, _ := life(m.mark)
		if p.c.Format != conversation.FormatTyped && m.mark.Wire.Key() != p.rules.Mark {
			continue
		}
		switch m.kind {
		case onTool, onSystem, onBlock, onPart:
			out = append(out, billed{m.site, ttl})
		case onRequest:
			p.automatic, p.ttl = p.rules.Automatic, ttl
		}
	}
	return out
}

// messageOf is the index a warning names, -1 outside the messages.
func (p *placer) messageOf(m existing) int {
	if at := m.position(p.c); at.Section == conversation.SectionMessages {
		return at.Message
	}
	return -1
}

// illegal says why a mark is refused where it stands.
func (p *placer) illegal(m existing) string {
	if key := m.mark.Wire.Key(); p.c.Format != conversation.FormatTyped && key != p.rules.Mark {
		return "this route does not know the member " + key
	}
	switch m.kind {
	case onRequest:
		if !p.rules.Automatic {
			return "this route has no automatic caching"
		}
	case inTool:
		return "the tool carries another one"
	case inSystem, inMessage:
		return "it stands inside a block; the block itself must carry it"
	case onTool:
		if p.c.Tools[m.message].Deferred {
			return "a deferred tool is not part of the cached prefix"
		}
	case onMessage:
		if p.rules.Results == "block" {
			return "it stands on the message; a block must carry it"
		}
	case onPart:
		if p.rules.Results == "block" {
			return "it stands inside a tool result; the result itself must carry it"
		}
		if blankText(&p.c.Messages[m.message].Blocks[m.block].Result[m.part]) {
			return ReasonEmptyText.Detail()
		}
	case onSystem:
		if blankText(&p.c.System.Blocks[m.block]) {
			return ReasonEmptyText.Detail()
		}
	case onBlock:
		ref := conversation.Ref{Message: m.message, Block: m.block}
		_, reason := p.carrier(&p.c.Messages[m.message], ref)
		switch reason {
		case ReasonEmptyText, ReasonThinking, ReasonProgrammatic:
			return reason.Detail()
		}
	}
	return ""
}

func blankText(b *conversation.Block) bool {
	return b.Kind == conversation.KindText && conversation.Blank(b.Text)
}

// automaticConflict reports an automatic mark whose life differs from that of the
// mark on the last block, which the provider refuses.
func (p *placer) automaticConflict() {
	marks := p.found.marks
	if p.c.AutoMark == nil || len(marks) < 2 || len(p.c.Messages) == 0 {
		return
	}
	last := marks[len(marks)-2]
	end := len(p.c.Messages) - 1
	if last.kind != onBlock || last.message != end || last.block != len(p.c.Messages[end].Blocks)-1 {
		return
	}
	own, _ := life(last.mark)
	automatic, _ := life(p.c.AutoMark)
	if own != automatic {
		p.out.warn(WarnAutomaticConflict, end, "the last block is marked for %v and the automatic mark asks for %v; the provider refuses the two together", own, automatic)
	}
}
