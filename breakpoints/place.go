package breakpoints

import "github.com/elbowroom/elbowroom/conversation"

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
	p := &placer{c: c, opts: &opts, found: look(c), out: &Result{Rewrite: conversation.NewRewrite(c)}}
	if opts.Strategy == StrategyNone {
		p.out.Reason = "no marks: all are removed as requested"
		p.write(nil)
		return p.out, nil
	}
	p.layout, p.out.Reason = chooseLayout(c, &opts)
	p.out.Layout = p.layout
	switch {
	case p.layout == LayoutUnset:
		p.leave()
		return p.out, nil
	case opts.Existing == ExistingRespect && len(p.found.marks) > 0:
		return p.respect()
	}
	p.ttl = p.clampedTTL()
	chosen := p.choose()
	p.write(chosen)
	if len(chosen) == 0 && opts.Reserved < MaxMarks {
		p.out.warn(WarnNoTarget, -1, "no place can carry a mark")
	}
	p.report(chosen)
	return p.out, nil
}

// placer holds one decision in the making.
type placer struct {
	c      *conversation.Conversation
	opts   *Options
	layout Layout
	ttl    TTL
	found  survey
	out    *Result
}

func (p *placer) clampedTTL() TTL {
	route := p.opts.Route
	if route == "" && p.layout == LayoutOpenRouter {
		route = "openrouter"
	}
	ttl := ClampTTL(p.opts.TTL, route, p.opts.Model)
	if ttl != p.opts.TTL {
		p.out.warn(WarnTTLClamped, -1, "%v marks are not taken here (model %s, route %s); %v is used", p.opts.TTL, named(p.opts.Model), named(route), ttl)
	}
	return ttl
}

func named(s string) string {
	if s == "" {
		return "not named"
	}
	return s
}

// choose picks the places of SYSTEM_AND_3, in prompt order.
func (p *placer) choose() []site {
	free := MaxMarks - p.opts.Reserved
	if free == 0 {
		return nil
	}
	var system, messages []site
	first := 0 // the first message that is not the system prompt
	if p.c.System != nil {
		system = p.system()
	} else {
		for first < len(p.c.Messages) && p.c.Messages[first].Role == conversation.RoleSystem {
			first++
		}
		for i := first - 1; i >= 0 && system == nil; i-- {
			system = p.message(i)
		}
	}
	free -= len(system)
	end := len(p.c.Messages)
	if p.opts.LeaveNewestUserUnmarked && p.found.newest >= 0 {
		end = p.found.newest
		p.skip(Position{conversation.SectionMessages, end, -1}, ReasonNewestUser)
	}
	for i := end - 1; i >= first && len(messages) < free; i-- {
		if reason := p.unfit(i); reason != "" {
			p.skip(Position{conversation.SectionMessages, i, -1}, reason)
			continue
		}
		messages = append(messages, p.message(i)...)
	}
	chosen := system
	for i := len(messages) - 1; i >= 0; i-- {
		chosen = append(chosen, messages[i])
	}
	return chosen
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

// system finds the last block of the top-level system prompt that can carry a
// mark: none or one.
func (p *placer) system() []site {
	m := p.c.System
	last := len(m.Blocks) - 1
	for b := last; b >= 0; b-- {
		var reason Reason
		switch block := &m.Blocks[b]; {
		case p.bare(block, m.Shape):
			reason = ReasonBareString
		case block.Kind != conversation.KindText:
			reason = ReasonUnknownBlock
		case conversation.Blank(block.Text):
			reason = ReasonEmptyText
		default:
			return []site{{kind: onSystem, block: b}}
		}
		p.skip(site{kind: onSystem, block: b}.position(p.c), reason)
		if b == last && reason == ReasonBareString {
			return nil
		}
	}
	return nil
}

// message finds the last place of a message that can carry a mark: none or one. A
// list that ends in a bare string carries none at all (row CA7).
func (p *placer) message(i int) []site {
	m := &p.c.Messages[i]
	from, to := contentBlocks(m)
	if from == to {
		p.skip(Position{conversation.SectionMessages, i, -1}, ReasonNoContent)
		return nil
	}
	for b := to - 1; b >= from; b-- {
		part, reason := p.carrier(m, conversation.Ref{Message: i, Block: b})
		at := site{kind: onBlock, message: i, block: b}
		if part >= 0 {
			at.kind, at.part = onPart, part
		}
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

func (p *placer) skip(at Position, reason Reason) {
	p.out.Skipped = append(p.out.Skipped, Skip{at, reason})
}
