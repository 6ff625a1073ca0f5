package breakpoints

import (
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// systemBlock is a block of the system prompt, wherever that stands.
type systemBlock struct {
	at   site
	b    *conversation.Block
	text string
	// markable says that it can carry a mark, splittable that it can be made two.
	markable, splittable bool
}

// systemBlocks lists the blocks of the top-level system prompt, or those of the
// system messages that the list begins with.
func (p *placer) systemBlocks() []systemBlock {
	var out []systemBlock
	add := func(m *conversation.Message, at site, from, to int) {
		for i := from; i < to; i++ {
			b := &m.Blocks[i]
			at.block = i
			isText := b.Kind == conversation.KindText && !p.bare(b, m.Shape)
			sb := systemBlock{at: at, b: b, markable: isText && !conversation.Blank(b.Text), splittable: isText}
			if isText {
				sb.text = b.Text
			}
			out = append(out, sb)
		}
	}
	if m := p.c.System; m != nil {
		add(m, site{kind: onSystem}, 0, len(m.Blocks))
		return out
	}
	for i := range p.first {
		m := &p.c.Messages[i]
		from, to := contentBlocks(m)
		add(m, site{kind: onBlock, message: i}, from, to)
	}
	return out
}

// systemEnd finds the last block of the system prompt that can carry a mark: none
// or one.
func (p *placer) systemEnd() []site {
	var end []site
	if p.c.System != nil {
		end = p.lastSystemBlock()
	} else {
		for i := p.first - 1; i >= 0 && end == nil; i-- {
			end = p.lastBlock(i)
		}
	}
	if len(end) > 0 && p.splitAt > 0 && end[0] == p.split {
		end[0].rest = true
	}
	return end
}

// lastSystemBlock finds the place in a top-level system prompt.
func (p *placer) lastSystemBlock() []site {
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

// static is where the static part of the system prompt ends.
type static struct {
	// end is the place, none where no part is known to be static.
	end []site
	// varies is set when the system prompt has a part that is not static.
	varies bool
}

// staticSystem finds the end of the static part: that of the text the caller
// declares, else what stands before the first line that looks volatile. It may
// decide to split a block there.
func (p *placer) staticSystem() static {
	blocks := p.systemBlocks()
	if p.opts.StaticSystem != "" {
		return p.declaredStatic(blocks)
	}
	for i := range blocks {
		if at := volatileLine(blocks[i].text); at >= 0 {
			return p.staticBefore(blocks, i, at)
		}
	}
	return static{end: lastMarkable(blocks)}
}

// declaredStatic follows the declared text through the blocks.
func (p *placer) declaredStatic(blocks []systemBlock) static {
	rest := p.opts.StaticSystem
	for i := range blocks {
		text := blocks[i].text
		switch {
		case blocks[i].splittable && strings.HasPrefix(rest, text):
			if rest = rest[len(text):]; rest == "" {
				return static{end: lastMarkable(blocks[:i+1]), varies: lastMarkable(blocks[i+1:]) != nil}
			}
			continue
		case strings.HasPrefix(text, rest):
			return p.staticBefore(blocks, i, len(rest))
		}
		break
	}
	p.out.warn(WarnStaticMismatch, -1, "the system prompt does not begin with the static text that was given")
	return static{varies: true}
}

// staticBefore ends the static part within a block, at a byte of its text, or at
// the block before where that one may not be split.
func (p *placer) staticBefore(blocks []systemBlock, i, at int) static {
	b := &blocks[i]
	head, tail := b.text[:at], b.text[at:]
	switch {
	case conversation.Blank(tail):
		return static{end: lastMarkable(blocks[:i+1]), varies: lastMarkable(blocks[i+1:]) != nil}
	case conversation.Blank(head):
	case p.opts.SplitSystem && b.splittable:
		p.split, p.splitAt = b.at, at
		return static{end: []site{b.at}, varies: true}
	default:
		p.skip(b.at.position(p.c), ReasonSplit)
	}
	return static{end: lastMarkable(blocks[:i]), varies: true}
}

func lastMarkable(blocks []systemBlock) []site {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].markable {
			return []site{blocks[i].at}
		}
	}
	return nil
}
