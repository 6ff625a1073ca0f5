package breakpoints

// hermesDefault marks the end of the static part of the system prompt, its end, and
// the last messages with what is left of the four. A system prompt that is static as
// a whole, or of which no part is known to be, takes one mark, and the messages one
// more (published Hermes Agent, default layout).
func (p *placer) hermesDefault() []site {
	chosen := p.staticSystem().end
	for _, at := range p.systemEnd() {
		if len(chosen) == 0 || chosen[0] != at {
			chosen = append(chosen, at)
		}
	}
	chosen = chosen[:min(len(chosen), p.free)]
	return append(chosen, p.lastMessages(p.free-len(chosen))...)
}
