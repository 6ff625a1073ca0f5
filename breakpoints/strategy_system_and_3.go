package breakpoints

// systemAnd3 is the published baseline: the end of the system prompt and the last
// three messages that can carry a mark, four where the system prompt carries none.
func (p *placer) systemAnd3() []site {
	chosen := p.systemEnd()
	return append(chosen, p.lastMessages(p.free-len(chosen))...)
}
