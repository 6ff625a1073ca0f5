package simulator

import (
	"context"
	"errors"
	"fmt"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// Sizes are the sizes of a conversation's blocks in tokens.
type Sizes struct {
	// Tools has one count for each tool, System for each block of the top-level system prompt, Messages for each block of
	// each message.
	Tools, System []int
	Messages      [][]int
	// Exact is set when the model's own vocabulary counted them.
	Exact bool
}

// ErrSizes means that the sizes do not belong to the conversation.
var ErrSizes = errors.New("sizes do not fit the conversation")

func (s *Sizes) check(c *conversation.Conversation) error {
	system := 0
	if c.System != nil {
		system = len(c.System.Blocks)
	}
	if len(s.Tools) != len(c.Tools) || len(s.System) != system || len(s.Messages) != len(c.Messages) {
		return fmt.Errorf("%w: %d tools, %d system blocks, %d messages, the conversation has %d, %d and %d",
			ErrSizes, len(s.Tools), len(s.System), len(s.Messages), len(c.Tools), system, len(c.Messages))
	}
	for i := range s.Messages {
		if len(s.Messages[i]) != len(c.Messages[i].Blocks) {
			return fmt.Errorf("%w: %d counts for the %d blocks of message %d", ErrSizes, len(s.Messages[i]), len(c.Messages[i].Blocks), i)
		}
	}
	return nil
}

// Count sizes every block with a counter. What a provider adds around tools and messages goes to the first of their
// blocks, so that the blocks add up to the whole. Errors are the context's.
func Count(ctx context.Context, counter *tokens.Counter, model tokens.Model, c *conversation.Conversation) (*Sizes, error) {
	s := &Sizes{Tools: make([]int, len(c.Tools)), Messages: make([][]int, len(c.Messages)), Exact: counter.Method(model) == tokens.MethodLocal}
	whole, err := counter.CountSetup(ctx, c, model)
	if err != nil {
		return nil, err
	}
	single := make([]int, len(c.Tools))
	for i := range c.Tools {
		if c.Tools[i].Deferred {
			continue
		}
		cost, err := counter.CountTools(ctx, c.Tools[i:i+1], model)
		if err != nil {
			return nil, err
		}
		single[i] = max(0, cost.Tokens()-model.ToolPrompt)
	}
	spread(s.Tools, single, whole.Tokens())
	if c.System != nil {
		if s.System, err = countBlocks(ctx, model, c.System, counter.CountSystem); err != nil {
			return nil, err
		}
	}
	for i := range c.Messages {
		if s.Messages[i], err = countBlocks(ctx, model, &c.Messages[i], counter.CountMessage); err != nil {
			return nil, err
		}
	}
	return s, nil
}

type countFunc func(context.Context, *conversation.Message, tokens.Model) (tokens.Cost, error)

// countBlocks sizes the blocks of a message: a message of one block is counted whole, of a longer one each block by
// itself, with the frame once.
func countBlocks(ctx context.Context, model tokens.Model, m *conversation.Message, count countFunc) ([]int, error) {
	out := make([]int, len(m.Blocks))
	if len(out) == 0 {
		return out, nil
	}
	frame := 0
	if len(out) > 1 {
		empty, err := count(ctx, &conversation.Message{Role: m.Role, RawRole: m.RawRole, Name: m.Name}, model)
		if err != nil {
			return nil, err
		}
		frame = empty.Tokens()
	}
	for i := range out {
		one := conversation.Message{Role: m.Role, RawRole: m.RawRole, Name: m.Name, Shape: m.Shape, Blocks: m.Blocks[i : i+1]}
		cost, err := count(ctx, &one, model)
		if err != nil {
			return nil, err
		}
		out[i] = max(0, cost.Tokens()-frame)
	}
	out[0] += frame
	return out, nil
}

// spread divides a total in proportion to weights, exactly.
func spread(out, weights []int, total int) {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		return
	}
	seen, given := 0, 0
	for i, w := range weights {
		seen += w
		upTo := int(int64(total) * int64(seen) / int64(sum))
		out[i] = upTo - given
		given = upTo
	}
}

// bytesPerToken is about right for prose and code in every vocabulary in use.
const bytesPerToken = 4

// roughSizes counts a token for four bytes.
func roughSizes(c *conversation.Conversation) *Sizes {
	s := &Sizes{Tools: make([]int, len(c.Tools)), Messages: make([][]int, len(c.Messages))}
	for i := range c.Tools {
		t := &c.Tools[i]
		s.Tools[i] = max(t.Span.Len(), len(t.Name)+len(t.Description)+len(t.Schema)) / bytesPerToken
	}
	rough := func(m *conversation.Message) []int {
		out := make([]int, len(m.Blocks))
		for i := range m.Blocks {
			out[i] = roughBlock(&m.Blocks[i]) / bytesPerToken
		}
		return out
	}
	if c.System != nil {
		s.System = rough(c.System)
	}
	for i := range c.Messages {
		s.Messages[i] = rough(&c.Messages[i])
	}
	return s
}

func roughBlock(b *conversation.Block) int {
	n := len(b.Text) + len(b.Name) + len(b.Input) + len(b.Raw)
	for i := range b.Result {
		n += roughBlock(&b.Result[i])
	}
	return n
}
