package tokens

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/elbowroom/elbowroom/conversation"
)

// CountMessage sizes one element of the message list, its frame included. It always costs at least one token, so a
// conversation grows with every message. Errors are the context's.
func (c *Counter) CountMessage(ctx context.Context, m *conversation.Message, model Model) (Cost, error) {
	return c.remembered(ctx, weight(m.Blocks),
		func() memoKey { return c.memo.ofMessage(c.memo.ofModel(model), memoMessage, m) },
		func() (Cost, error) { return c.countMessage(ctx, m, model) })
}

// CountSystem sizes a system prompt that stands outside the message list; nil costs nothing. Errors are the context's.
func (c *Counter) CountSystem(ctx context.Context, m *conversation.Message, model Model) (Cost, error) {
	if m == nil {
		return Cost{}, nil
	}
	return c.remembered(ctx, weight(m.Blocks),
		func() memoKey { return c.memo.ofMessage(c.memo.ofModel(model), memoSystem, m) },
		func() (Cost, error) { return c.countSystem(ctx, m, model) })
}

// CountTools sizes tool definitions as the provider shows them to the model, with what it adds to explain them when the
// model is free to call them. No tools cost nothing; deferred tools (Anthropic's defer_loading) are not in the prompt and
// cost nothing either. Errors are the context's.
func (c *Counter) CountTools(ctx context.Context, tools []conversation.Tool, model Model) (Cost, error) {
	n := 0
	for i := range tools {
		n += len(tools[i].Name) + len(tools[i].Description) + len(tools[i].Schema) + len(tools[i].Raw)
	}
	return c.remembered(ctx, n,
		func() memoKey { return c.memo.ofTools(c.memo.ofModel(model), tools) },
		func() (Cost, error) { return c.countTools(ctx, tools, model) })
}

// remembered looks a piece of n bytes up, or counts and remembers it. A piece that is too small to be remembered is
// counted and its key never made.
func (c *Counter) remembered(ctx context.Context, n int, key func() memoKey, count func() (Cost, error)) (Cost, error) {
	if err := ctx.Err(); err != nil {
		return Cost{}, fmt.Errorf("count tokens: %w", err)
	}
	if c.memo == nil || n < memoLeast {
		return count()
	}
	k := key()
	if cost, found := c.memo.get(k); found {
		return cost, nil
	}
	cost, err := count()
	if err == nil {
		c.memo.put(k, cost)
	}
	return cost, err
}

// CountMessages sizes every element of a message list, as CountMessage does for one, on as many processors as there are
// if there is much to count. Warnings carry the index of their message. Errors are the context's.
func (c *Counter) CountMessages(ctx context.Context, messages []conversation.Message, model Model) ([]Cost, error) {
	costs := make([]Cost, len(messages))
	todo, err := c.recall(ctx, messages, model, costs)
	if err != nil {
		return nil, err
	}
	if err := c.countAll(ctx, messages, model, costs, todo); err != nil {
		return nil, err
	}
	for i := range costs {
		for w := range costs[i].Warnings {
			costs[i].Warnings[w].Message = i
		}
	}
	return costs, nil
}

// pending is a message that must be counted: its index, its size in bytes and, if it is to be remembered, its key.
type pending struct {
	index, bytes int
	keep         bool
	key          memoKey
}

// recall fills in the costs that are remembered and lists the messages that are left.
func (c *Counter) recall(ctx context.Context, messages []conversation.Message, model Model, costs []Cost) ([]pending, error) {
	all := make([]pending, len(messages))
	size := 0
	for i := range messages {
		n := weight(messages[i].Blocks)
		all[i] = pending{index: i, bytes: n, keep: c.memo != nil && n >= memoLeast}
		size += n
	}
	if c.memo != nil {
		if err := c.keys(ctx, messages, model, all, size); err != nil {
			return nil, err
		}
	}
	var todo []pending
	for i := range all {
		if p := &all[i]; p.keep {
			var found bool
			if costs[i], found = c.memo.get(p.key); found {
				continue
			}
		}
		todo = append(todo, all[i])
	}
	return todo, nil
}

// keys makes the keys of the messages that are to be remembered, on as many processors as there are if there is much to hash.
func (c *Counter) keys(ctx context.Context, messages []conversation.Message, model Model, all []pending, size int) error {
	rules := c.memo.ofModel(model)
	var next, unchecked atomic.Int64
	unchecked.Store(1) // the first of all looks at the context
	const batch = 8    // messages
	work := func() error {
		for from := int(next.Add(batch)) - batch; from < len(all); from = int(next.Add(batch)) - batch {
			for i := from; i < min(from+batch, len(all)); i++ {
				if !all[i].keep {
					continue
				}
				if unchecked.Add(-int64(all[i].bytes)) <= 0 {
					if err := pause(ctx); err != nil {
						return err
					}
					unchecked.Store(recallInterval)
				}
				all[i].key = c.memo.ofMessage(rules, memoMessage, &messages[i])
			}
		}
		return nil
	}
	errs := make([]error, min(runtime.GOMAXPROCS(0), 1+size/keysLeast))
	var others sync.WaitGroup
	for n := range errs[1:] {
		others.Go(func() { errs[1+n] = work() })
	}
	errs[0] = work()
	others.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	// recallInterval is how many bytes are looked up between two looks at the context, about a millisecond's work.
	recallInterval = 4 << 20
	// parallelLeast is the number of bytes to be counted from which one more processor is worth waking.
	parallelLeast = 64 << 10
	// keysLeast is the same for bytes that are only hashed.
	keysLeast = 256 << 10
)

// countAll counts what is pending. The result does not depend on the number of processors: every cost has its place, and
// the error is that of the first message that failed.
func (c *Counter) countAll(ctx context.Context, messages []conversation.Message, model Model, costs []Cost, todo []pending) error {
	size := 0
	for i := range todo {
		size += todo[i].bytes
	}
	errs := make([]error, len(todo))
	var next atomic.Int64
	work := func() {
		for at := int(next.Add(1)) - 1; at < len(todo); at = int(next.Add(1)) - 1 {
			p := &todo[at]
			cost, err := c.countMessage(ctx, &messages[p.index], model)
			if err != nil {
				errs[at] = fmt.Errorf("message %d: %w", p.index, err)
				return // the others meet the end of the context themselves
			}
			costs[p.index] = cost
			if p.keep {
				c.memo.put(p.key, cost)
			}
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(todo), 1+size/parallelLeast) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
