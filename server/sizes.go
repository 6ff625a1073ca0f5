package server

import (
	"context"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// The sizes reported with breakpoints are exact for short prompts and estimates
// for long ones. Whether a prefix reaches the smallest size a provider caches, at
// most 4,096 tokens, is decided at the start of the prompt, which is counted; to
// count all of a long prompt would take longer than everything else in the call.
const (
	// countedBytes is how much of the prompt is counted.
	countedBytes = 16 << 10
	// bytesPerToken is about right for prose and code in every vocabulary in use.
	bytesPerToken = 4
	// tokensPerMedia is what a screenshot costs most models, give or take half.
	tokensPerMedia = 1_500
)

// prefixSizes measures a conversation's parts in tokens, in prompt order.
func (s *Server) prefixSizes(ctx context.Context, c *conversation.Conversation, model tokens.Model) (*breakpoints.TokenCounts, error) {
	out := &breakpoints.TokenCounts{Messages: make([]int, len(c.Messages)), Estimated: s.counter.Method(model) != tokens.MethodLocal}
	left := countedBytes
	measure := func(b bulk, count func() (tokens.Cost, error)) (int, error) {
		if left -= b.text; left < 0 {
			out.Estimated = true
			return b.tokens(), nil
		}
		cost, err := count()
		return cost.Tokens(), err
	}
	var err error
	if out.Tools, err = measure(bulkOfTools(c.Tools), func() (tokens.Cost, error) { return s.counter.CountTools(ctx, c.Tools, model) }); err != nil {
		return nil, err
	}
	if c.System != nil {
		if out.System, err = measure(bulkOf(c.System), func() (tokens.Cost, error) { return s.counter.CountSystem(ctx, c.System, model) }); err != nil {
			return nil, err
		}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if out.Messages[i], err = measure(bulkOf(m), func() (tokens.Cost, error) { return s.counter.CountMessage(ctx, m.Decoded(), model) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bulk is what a part of a prompt holds: bytes of text, and media.
type bulk struct{ text, media int }

// tokens is the estimate.
func (b bulk) tokens() int { return b.text/bytesPerToken + b.media*tokensPerMedia }

func bulkOf(m *conversation.Message) bulk {
	var b bulk
	data := b.add(m.Blocks)
	b.text = max(m.Span.Len()-data, b.text)
	return b
}

// add gathers blocks and returns the bytes of their media, which are no text.
func (b *bulk) add(blocks []conversation.Block) (data int) {
	for i := range blocks {
		x := &blocks[i]
		b.text += len(x.Text) + len(x.Name) + len(x.Input) + len(x.Raw)
		if x.Media != nil {
			b.media++
			data += len(x.Media.Data)
		}
		data += b.add(x.Result)
	}
	return data
}

func bulkOfTools(tools []conversation.Tool) bulk {
	var b bulk
	for i := range tools {
		t := &tools[i]
		b.text += max(t.Span.Len(), len(t.Name)+len(t.Description)+len(t.Schema))
	}
	return b
}
