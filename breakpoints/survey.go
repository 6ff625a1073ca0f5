package breakpoints

import (
	"cmp"
	"math"

	"github.com/elbowroom/elbowroom/conversation"
)

// siteKind is what a mark stands on.
type siteKind int

const (
	onTool siteKind = iota
	onSystem
	onBlock
	onPart    // a part inside a tool result
	onMessage // the message object itself
	onRequest // the request body: automatic caching
	// inTool, inSystem and inMessage are marks deeper inside than any provider takes one.
	inTool
	inSystem
	inMessage
)

// site is a place for a mark, in the indices of the domain model. message is the
// tool's index for tools.
type site struct {
	kind                 siteKind
	message, block, part int
	// rest is set for the second half of a block that is split.
	rest bool
}

// section is the part of the prompt a site stands in, in prompt order.
func (at site) section() int {
	switch at.kind {
	case onTool, inTool:
		return 0
	case onSystem, inSystem:
		return 1
	case onRequest:
		return 3
	default:
		return 2
	}
}

// compare orders sites as marks are found: a block after its parts, what belongs to
// a message as a whole after its blocks.
func (at site) compare(other site) int {
	block := func(s site) int {
		if s.block < 0 {
			return math.MaxInt
		}
		return s.block
	}
	part := func(s site) int {
		if s.kind == onPart {
			return s.part
		}
		return math.MaxInt
	}
	half := func(s site) int {
		if s.rest {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(at.section(), other.section()), cmp.Compare(at.message, other.message),
		cmp.Compare(block(at), block(other)), cmp.Compare(part(at), part(other)), cmp.Compare(half(at), half(other)),
	)
}

func (at site) before(other site) bool { return at.compare(other) < 0 }

// existing is a mark that was found.
type existing struct {
	site
	mark *conversation.Mark
}

// survey is what one pass over the conversation finds out.
type survey struct {
	// marks are the existing marks in prompt order.
	marks []existing
	// programmatic are the calls made by code execution and their results.
	programmatic map[conversation.Ref]bool
	// newest is the message of the newest user request, -1 when there is none.
	newest int
	// compactions are the compaction blocks of the messages, in order.
	compactions []conversation.Ref
}

// look surveys the conversation.
func look(c *conversation.Conversation) survey {
	s := survey{newest: -1}
	for i := range c.Tools {
		s.add(site{kind: onTool, message: i, block: -1}, c.Tools[i].Mark)
		s.strays(site{kind: inTool, message: i, block: -1}, c.Tools[i].Strays)
	}
	if c.System != nil {
		for b := range c.System.Blocks {
			s.add(site{kind: onSystem, block: b}, c.System.Blocks[b].Mark)
		}
		s.strays(site{kind: inSystem, block: -1}, c.System.Strays)
	}
	calls := make(map[string]bool) // ids of programmatic calls not yet used again
	for i := range c.Messages {
		m := &c.Messages[i]
		for b := range m.Blocks {
			if m.Blocks[b].Kind == conversation.KindCompaction {
				s.compactions = append(s.compactions, conversation.Ref{Message: i, Block: b})
			}
			s.block(&m.Blocks[b], i, b)
			s.caller(&m.Blocks[b], conversation.Ref{Message: i, Block: b}, calls)
		}
		s.strays(site{kind: inMessage, message: i, block: -1}, m.Strays)
		s.add(site{kind: onMessage, message: i, block: -1}, m.Mark)
		if m.IsRequest() {
			s.newest = i
		}
	}
	s.add(site{kind: onRequest, message: -1, block: -1}, c.AutoMark)
	return s
}

func (s *survey) add(at site, mark *conversation.Mark) {
	if mark != nil {
		s.marks = append(s.marks, existing{at, mark})
	}
}

func (s *survey) strays(at site, marks []*conversation.Mark) {
	for _, m := range marks {
		s.add(at, m)
	}
}

func (s *survey) block(b *conversation.Block, message, block int) {
	for part := range b.Result {
		s.add(site{kind: onPart, message: message, block: block, part: part}, b.Result[part].Mark)
	}
	s.add(site{kind: onBlock, message: message, block: block}, b.Mark)
}

// caller follows calls made by code execution to their results. An id may be used
// again later (field report C077), so the newest call of an id counts.
func (s *survey) caller(b *conversation.Block, ref conversation.Ref, calls map[string]bool) {
	programmatic := b.Programmatic
	switch b.Kind {
	case conversation.KindToolUse, conversation.KindServerToolUse:
		switch {
		case programmatic:
			calls[b.ID] = true
		case len(calls) > 0:
			delete(calls, b.ID)
		}
	case conversation.KindToolResult, conversation.KindServerToolResult:
		programmatic = programmatic || calls[b.ID]
	}
	if !programmatic {
		return
	}
	if s.programmatic == nil {
		s.programmatic = make(map[conversation.Ref]bool)
	}
	s.programmatic[ref] = true
}

// position translates a site to the caller's own indices.
func (at site) position(c *conversation.Conversation) Position {
	switch at.kind {
	case onTool, inTool:
		return Position{conversation.SectionTools, at.message, -1}
	case onSystem, inSystem:
		return Position{conversation.SectionSystem, 0, at.block}
	case onBlock, onPart:
	default:
		return Position{conversation.SectionMessages, at.message, -1}
	}
	m := &c.Messages[at.message]
	p := Position{conversation.SectionMessages, at.message, -1}
	switch m.Blocks[at.block].Site {
	case conversation.SiteContent:
		p.Block = at.block
		if m.Blocks[0].Site == conversation.SiteReasoning { // at most one, before the content
			p.Block--
		}
	case conversation.SiteMessage:
		if at.kind == onPart {
			p.Block = at.part
		}
	}
	return p
}
