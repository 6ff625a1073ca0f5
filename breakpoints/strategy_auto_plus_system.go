package breakpoints

import "github.com/elbowroom/elbowroom/conversation"

// autoPlusSystem marks the end of the static part of the system prompt and switches
// the provider's automatic mode on, which marks the last block of each request by
// itself. Where the layout or the form has no automatic mode, and where the newest
// request is to stay unmarked, the last block is marked instead.
func (p *placer) autoPlusSystem() []site {
	chosen := p.staticSystem().end
	if len(chosen) == 0 {
		chosen = p.systemEnd()
	}
	chosen = chosen[:min(len(chosen), p.free)]
	switch {
	case p.free == len(chosen):
		return chosen
	case p.end < len(p.c.Messages) || len(p.c.Messages) == 0:
	case !p.hasAutomatic():
		p.out.warn(WarnNoAutomatic, -1, "there is no automatic mode here (layout %v, %v): the last block is marked instead", p.layout, p.c.Format)
	default:
		p.automatic = true
		return chosen
	}
	return append(chosen, p.lastMessages(1)...)
}

// hasAutomatic reports whether the request can ask for the provider's automatic mode,
// and may: it would mark what is to stay unmarked.
func (p *placer) hasAutomatic() bool {
	return p.rules.Automatic && !p.c.Bare && p.c.Format != conversation.FormatTyped && p.end == len(p.c.Messages)
}
