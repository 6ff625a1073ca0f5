package breakpoints

import "github.com/elbowroom/elbowroom/conversation"

// transactionEnds marks the last tool, the end of the static part of the system
// prompt, and the last two ends of completed transactions with what is left of the
// four (published Hermes Agent, native layout with tools). A request ends on such an
// end, so the older of the two is the end of the request before. Where no part of
// the system prompt is known to be static, none of it is marked.
func (p *placer) transactionEnds() []site {
	chosen := p.lastTool()
	if len(chosen) == 0 {
		return p.hermesDefault()
	}
	chosen = append(chosen, p.staticSystem().end...)
	chosen = chosen[:min(len(chosen), p.free)]
	return append(chosen, p.transactions(min(2, p.free-len(chosen)))...)
}

// transactions finds the newest ends of completed transactions, n at most. A
// transaction is a call with the run of results after it, an answer without calls,
// or a user message that nothing follows.
func (p *placer) transactions(n int) []site {
	if p.end < len(p.c.Messages) {
		p.skip(Position{conversation.SectionMessages, p.end, -1}, ReasonNewestUser)
	}
	var out []site
	for i := p.end - 1; i >= p.first && len(out) < n; i-- {
		if !p.hasResult(i) {
			if p.endsTurn(i) {
				out = append(out, p.message(i)...)
			}
			continue
		}
		last := i
		for i > p.first && p.hasResult(i-1) {
			i--
		}
		if i > p.first && p.calls(i-1) { // else results without a call
			out = append(out, p.message(last)...)
			i--
		}
	}
	return out
}

// endsTurn reports whether a message without results completes something. A user
// message does only while it is the last of all.
func (p *placer) endsTurn(i int) bool {
	switch m := &p.c.Messages[i]; m.Role {
	case conversation.RoleUser:
		return i == len(p.c.Messages)-1
	case conversation.RoleAssistant:
		return !p.calls(i)
	default:
		return false
	}
}

// hasResult reports whether a message answers calls.
func (p *placer) hasResult(i int) bool {
	m := &p.c.Messages[i]
	return m.Role == conversation.RoleTool || m.Has(conversation.KindToolResult)
}

func (p *placer) calls(i int) bool {
	m := &p.c.Messages[i]
	return m.Role == conversation.RoleAssistant && m.Has(conversation.KindToolUse)
}
