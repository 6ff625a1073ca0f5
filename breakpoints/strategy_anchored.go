package breakpoints

import (
	"slices"

	"github.com/elbowroom/elbowroom/conversation"
)

const (
	// headTokens is the least that a protected head must hold behind the system prompt
	// to be worth the mark.
	headTokens = 1_000
	// gridBlocks is the distance of fixed anchors: less than the window of 20, counted
	// from the start of the messages, so that they stay where they are.
	gridBlocks = 15
	// protectedRows is the published size of the head, system prompt included.
	protectedRows = 3
)

// anchored marks, in the order in which they go without when there are not four to
// spend: the last block; the anchor, on which the previous request ended and up to
// which everything is cached; the end of the static system prompt, or the last tool
// where there is none; and one of
//
//   - the end of the last answer, with the option RetryAnchor,
//   - the last tool, where the system prompt varies as a whole and so is of little use,
//   - the last compaction block, or the end of the head that a compression keeps.
//
// A mark on the anchor reads all that is cached however many blocks were added, and
// one on the last block makes that the next anchor; no placement reads more while
// the conversation only grows.
//
// Where the last block cannot carry a mark and the provider has an automatic mode, that
// mode marks it, which takes one of the four too. With RetryAnchor what a mark on a user
// message leaves out of it is not worth that: the message may be replaced.
func (p *placer) anchored() []site {
	static := p.staticSystem()
	system := static.end
	if len(system) == 0 {
		system = p.systemEnd()
	}
	tool := p.lastTool()
	if len(system) == 0 {
		system, tool = tool, nil
	}
	last := p.lastMessages(1)
	chosen := pick{free: p.free}
	if end, found := p.lastSeen(p.end); found && !slices.Contains(last, end) && p.hasAutomatic() && !p.retried(last) {
		last, p.automatic = []site{end}, true
		chosen.free--
	} else {
		chosen.add(last...)
	}
	varies := false
	var anchors, head, answer []site
	if len(last) > 0 {
		head = p.headEnd(system, last[0])
		if p.opts.RetryAnchor {
			answer = p.answerEnd(last[0])
		}
		anchors, varies = p.anchors(last[0], static, append(slices.Clone(head), answer...))
	}
	if len(anchors) > 0 {
		chosen.add(anchors[len(anchors)-1])
	}
	chosen.add(system...)
	if len(anchors) > 1 { // of the grid
		chosen.add(anchors[0])
	}
	chosen.add(answer...)
	if varies || static.varies && len(static.end) == 0 {
		chosen.add(tool...)
	}
	chosen.add(head...)
	return chosen.sites
}

// pick collects places until there are enough.
type pick struct {
	free  int
	sites []site
}

func (k *pick) add(sites ...site) {
	for _, at := range sites {
		if len(k.sites) < k.free && !slices.Contains(k.sites, at) {
			k.sites = append(k.sites, at)
		}
	}
}

// anchors finds where the previous request ended, before the last block: by the
// state, by the marks it carried, or as the block before the last answer. Where there
// is no answer yet the last two points of a fixed grid stand in. It also writes the
// new state, and says whether what was taken for static varies. Marks on others are set for
// reasons of their own and say nothing about the previous request.
func (p *placer) anchors(last site, system static, others []site) ([]site, bool) {
	old, known := p.readState()
	h := p.walk(old.Ends, system, last)
	varies := old.Varies || known && old.Tools == h.tools && old.System != h.system
	p.writeState(&h, varies)
	for _, f := range slices.Backward(h.found) {
		if p.previous == nil {
			p.previous = new(f.at)
		}
		if at := p.placeFrom(f.at, last); len(at) > 0 {
			p.out.Anchor = AnchorState
			return at, varies
		}
	}
	answer := p.lastAnswer()
	if answer < 0 {
		grid := p.grid(last)
		if len(grid) > 0 {
			p.out.Anchor = AnchorGrid
		}
		return grid, varies
	}
	anchor := p.beforeAnswer(answer, last)
	if marked := p.lastMark(last, others); len(marked) > 0 && (len(anchor) == 0 || anchor[0].before(marked[0])) {
		anchor = marked
		p.out.Anchor = AnchorMarks
	} else if len(anchor) > 0 {
		p.out.Anchor = AnchorReply
	}
	return anchor, varies
}

// lastAnswer is the last assistant message that may be marked, -1 for none.
func (p *placer) lastAnswer() int {
	for i := p.end - 1; i >= p.first; i-- {
		if p.c.Messages[i].Role == conversation.RoleAssistant {
			return i
		}
	}
	return -1
}

// beforeAnswer finds where the request that an answer of the model belongs to ended: the
// last place before the answer, or what stands in for it when the automatic mode has
// marked a block that cannot carry a mark.
func (p *placer) beforeAnswer(answer int, last site) []site {
	if end, found := p.lastSeen(answer); found && p.hasAutomatic() && !slices.Contains(p.message(end.message), end) {
		if at := p.placeFrom(end, last); len(at) > 0 {
			return at
		}
	}
	for i := answer - 1; i >= p.first; i-- {
		if at := p.message(i); len(at) > 0 && at[0].before(last) {
			return at
		}
	}
	return nil
}

// answerEnd is the end of the last answer, if that is not the last block anyway.
// Messages of the model that follow each other are one answer, of which the last may be
// empty.
func (p *placer) answerEnd(last site) []site {
	for i := p.lastAnswer(); i >= p.first && p.c.Messages[i].Role == conversation.RoleAssistant; i-- {
		if at := p.message(i); len(at) > 0 && at[0].before(last) {
			return at
		}
	}
	return nil
}

// retried reports whether a place is in a newest message that a retry replaces.
func (p *placer) retried(last []site) bool {
	return p.opts.RetryAnchor && len(last) > 0 && last[0].message == p.found.newest && last[0].message == p.end-1
}

// lastSeen finds the last block before a message that the provider's automatic mode
// would mark: it walks back over what may never be marked and over empty results, which
// hold nothing to store, whether or not the form at hand has a place for a mark.
func (p *placer) lastSeen(before int) (site, bool) {
	for i := before - 1; i >= p.first; i-- {
		if p.c.Messages[i].Role == conversation.RoleOther { // whether it is sent at all is not known
			continue
		}
		for b := len(p.c.Messages[i].Blocks) - 1; b >= 0; b-- {
			at, reason := p.siteOf(i, b)
			switch reason {
			case ReasonThinking, ReasonEmptyText, ReasonEmptyResult, ReasonProgrammatic:
			default:
				return at, true
			}
		}
	}
	return site{}, false
}

// placeFrom finds a place from which the entry at a block is read: the block itself, or
// else the first place behind it that comes before the last block and can carry a mark.
func (p *placer) placeFrom(end, last site) []site {
	for i := end.message; i <= last.message; i++ {
		if p.unfit(i) != "" {
			continue
		}
		for b := range p.c.Messages[i].Blocks {
			at, reason := p.siteOf(i, b)
			if reason == "" && !at.before(end) && at.before(last) {
				return []site{at}
			}
		}
	}
	return nil
}

// lastMark is the last mark on a message before the last block, where a mark may
// stand and others do not.
func (p *placer) lastMark(last site, others []site) []site {
	for _, m := range slices.Backward(p.found.marks) {
		if m.kind != onBlock && m.kind != onPart || m.message < p.first || !m.before(last) || slices.Contains(others, m.site) {
			continue
		}
		if at, reason := p.siteOf(m.message, m.block); reason == "" && at == m.site && p.unfit(m.message) == "" {
			return []site{at}
		}
	}
	return nil
}

// grid finds the last two places before the last block that stand at a multiple of
// gridBlocks, counted from the start.
func (p *placer) grid(last site) []site {
	var points []site
	var at site
	blocks, found := 0, false
	for i := p.first; i <= last.message; i++ {
		if p.unfit(i) != "" {
			continue
		}
		for b := range p.c.Messages[i].Blocks {
			if place, reason := p.siteOf(i, b); reason == "" && place.before(last) {
				at, found = place, true
			}
			if blocks++; blocks%gridBlocks == 0 && found && (len(points) == 0 || points[len(points)-1] != at) {
				points = append(points, at)
			}
		}
	}
	return points[max(0, len(points)-2):]
}

// headEnd finds what stays where it is when the conversation is compressed: the last
// compaction block, else the end of the protected head. It has to stand well behind
// the system prompt, and takes its mark as soon as it is there: a prefix is stored
// only when it is new.
func (p *placer) headEnd(system []site, last site) []site {
	for _, block := range slices.Backward(p.found.compactions) {
		if block.Message > last.message || block.Message < p.first {
			continue
		}
		if at, reason := p.siteOf(block.Message, block.Block); reason == "" && at.before(last) {
			return []site{at}
		}
	}
	rows := p.opts.HeadMessages
	if rows < 0 {
		return nil
	}
	if rows == 0 {
		rows = protectedRows
		if p.c.System != nil || p.first > 0 {
			rows--
		}
	}
	to := min(p.first+rows, len(p.c.Messages))
	for to < len(p.c.Messages) && p.hasResult(to) { // a head ends after the results of its calls
		to++
	}
	size := 0
	for i := p.first; i < to; i++ {
		size += p.size(i)
	}
	for i := to - 1; i >= p.first; i-- {
		at := p.message(i)
		switch {
		case len(at) == 0:
			size -= p.size(i)
			continue
		case !at[0].before(last):
			return nil
		case len(system) > 0 && size < headTokens:
			p.skip(at[0].position(p.c), ReasonSmallHead)
			return nil
		}
		return at
	}
	return nil
}

// size is a message's size in tokens, estimated from its bytes where no counts are
// at hand.
func (p *placer) size(i int) int {
	if p.opts.Tokens != nil {
		return p.opts.Tokens.Messages[i]
	}
	const bytesPerToken = 4
	m := &p.c.Messages[i]
	bytes := m.Span.Len()
	for b := range m.Blocks {
		if block := &m.Blocks[b]; p.c.Format == conversation.FormatTyped {
			bytes += len(block.Text) + len(block.Input) + len(block.Raw) + len(block.ResultText())
		}
	}
	return bytes / bytesPerToken
}
