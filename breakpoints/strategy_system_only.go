package breakpoints

// systemOnly marks the end of the static part of the system prompt, or its end
// where no part is known to be static: what requests of many conversations share.
func (p *placer) systemOnly() []site {
	chosen := p.staticSystem().end
	if len(chosen) == 0 {
		chosen = p.systemEnd()
	}
	if len(chosen) == 0 {
		p.out.warn(WarnNoSystem, -1, "no system prompt was found that can carry a mark")
	}
	return chosen
}
