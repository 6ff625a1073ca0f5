package breakpoints

import (
	"slices"

	"github.com/elbowroom/elbowroom/conversation"
)

// ruler measures prefixes of the prompt.
type ruler struct {
	p *placer
	// before is the size of what stands before each message, and at its end of all.
	before []int
	whole  int
	// minimum is the smallest prefix that is cached.
	minimum int
	// start is the block of messages with which the prompt goes on behind the system
	// prompt: a compaction block hides those before it. hidden is their size.
	start  conversation.Ref
	hidden int
}

func (p *placer) newRuler() *ruler {
	counts := p.opts.Tokens
	r := &ruler{p: p, before: make([]int, len(counts.Messages)+1), minimum: p.minimum(), start: conversation.Ref{Message: p.first}}
	sum := counts.Tools + counts.System
	for i, n := range counts.Messages {
		r.before[i] = sum
		sum += n
	}
	r.before[len(counts.Messages)] = sum
	message := -1 // the last one with a compaction block that was looked at
	for _, at := range slices.Backward(p.found.compactions) {
		if at.Message < p.first || r.hidden != 0 {
			break
		}
		if at.Message == message {
			continue
		}
		message, r.start = at.Message, at
		r.hidden = r.before[at.Message] - r.before[p.first] + r.inMessage(at.Message, at.Block)
	}
	r.whole = sum - r.hidden
	return r
}

// hides reports whether a place is not rendered.
func (r *ruler) hides(at site) bool {
	return at.section() == 2 && at.message >= r.p.first &&
		(at.message < r.start.Message || at.message == r.start.Message && at.block < r.start.Block)
}

// upTo is the size of the prefix that ends with a place.
func (r *ruler) upTo(at site) int {
	counts := r.p.opts.Tokens
	switch at.section() {
	case 0:
		return counts.Tools
	case 1:
		blocks := r.p.c.System.Blocks
		return counts.Tools + share(counts.System, counts.SystemBlocks, blocks, at.block, r.p.splitOf(at))
	}
	size := r.before[at.message] + r.inMessage(at.message, at.block+1)
	if at.message >= r.p.first {
		size -= r.hidden
	} else if split := r.p.splitOf(at); split > 0 {
		size = r.before[at.message] + share(counts.Messages[at.message], nil, r.p.c.Messages[at.message].Blocks, at.block, split)
	}
	return size
}

// upToMessage is the size of the prefix that ends with message i.
func (r *ruler) upToMessage(i int) int { return r.before[i+1] - r.hidden }

// inMessage is the size of the first n blocks of a message.
func (r *ruler) inMessage(message, n int) int {
	if n == 0 {
		return 0
	}
	counts := r.p.opts.Tokens
	var sizes []int
	if counts.MessageBlocks != nil {
		sizes = counts.MessageBlocks[message]
	}
	return share(counts.Messages[message], sizes, r.p.c.Messages[message].Blocks, n-1, 0)
}

// splitOf is the number of bytes of a block's text that stand before a mark on its
// first half, 0 where it is not split there.
func (p *placer) splitOf(at site) int {
	if p.splitAt == 0 || at.rest || at != p.split {
		return 0
	}
	return p.splitAt
}

// share is the part of a total that falls to the blocks up to last, by the sizes of the
// blocks where they are known, else by their bytes. With split, only so many bytes of
// the last one count.
func share(total int, sizes []int, blocks []conversation.Block, last, split int) int {
	if last == len(blocks)-1 && split == 0 {
		return total
	}
	part, sum := 0, 0
	for i := range blocks {
		n := blockBytes(&blocks[i])
		if i == last && split > 0 {
			part += min(split, n)
		} else if i <= last {
			part += n
		}
		sum += n
	}
	switch {
	case sizes != nil && split == 0:
		part = 0
		for _, n := range sizes[:last+1] {
			part += n
		}
		return part
	case sum == 0:
		return total
	default:
		return int(int64(total) * int64(part) / int64(sum))
	}
}

func blockBytes(b *conversation.Block) int {
	if n := b.Span.Len(); n > 0 {
		return n
	}
	n := len(b.Text) + len(b.Name) + len(b.Input) + len(b.Raw)
	for i := range b.Result {
		n += blockBytes(&b.Result[i])
	}
	return n
}

// positions counts the places of the look-back window up to each of the given sites.
func (r *ruler) positions(sites []site) []int {
	out := make([]int, len(sites))
	position := -1
	visit := func(at site) {
		for i := range sites {
			if sites[i].sameBlock(at) {
				out[i] = position
			}
		}
	}
	c := r.p.c
	for i := range c.Tools {
		if !c.Tools[i].Deferred {
			position++
			visit(site{kind: onTool, message: i, block: -1})
		}
	}
	if c.System != nil {
		for b := range c.System.Blocks {
			position++
			visit(site{kind: onSystem, block: b})
		}
	}
	first, last := len(c.Messages), -1 // the messages in which there are sites
	for _, at := range sites {
		if at.section() == 2 {
			first, last = min(first, at.message), max(last, at.message)
		}
	}
	before := conversation.BlockKind(-1)
	for i := 0; i <= last; i++ {
		blocks := c.Messages[i].Blocks
		for b := range blocks {
			if i >= r.p.first && (i < r.start.Message || i == r.start.Message && b < r.start.Block) {
				continue
			}
			if !r.p.rules.Collapse || !runs(before, blocks[b].Kind) {
				position++
			}
			before = blocks[b].Kind
			if i >= first {
				visit(site{kind: onBlock, message: i, block: b})
			}
		}
	}
	return out
}

// runs reports whether two neighbours count as one position.
func runs(before, kind conversation.BlockKind) bool {
	return before == kind && (kind == conversation.KindToolUse || kind == conversation.KindToolResult)
}

// sameBlock reports whether two sites are on one block, or on one tool.
func (at site) sameBlock(other site) bool {
	return at.section() == other.section() && at.message == other.message && at.block == other.block
}
