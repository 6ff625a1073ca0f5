package compressor

import (
	"context"
	"fmt"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// measure holds the costs of the conversation's pieces, so that after a change
// only what changed is counted again, by the same counter.
type measure struct {
	counter  *tokens.Counter
	model    tokens.Model
	messages []tokens.Cost
	system   tokens.Cost
	tools    tokens.Cost
}

// newMeasure counts the conversation.
func newMeasure(ctx context.Context, counter *tokens.Counter, model tokens.Model, c *conversation.Conversation) (*measure, error) {
	m := &measure{counter: counter, model: model}
	var err error
	if m.messages, err = counter.CountMessages(ctx, c.Messages, m.model); err != nil {
		return nil, fmt.Errorf("count the messages: %w", err)
	}
	if m.system, err = counter.CountSystem(ctx, c.System, m.model); err != nil {
		return nil, fmt.Errorf("count the system prompt: %w", err)
	}
	if m.tools, err = counter.CountSetup(ctx, c, m.model); err != nil {
		return nil, fmt.Errorf("count the tools: %w", err)
	}
	m.counter = counter.WithLines() // a summary is counted several times as it grows
	return m, nil
}

// report is the count of the conversation as it came.
func (m *measure) report() tokens.Report {
	return m.counter.Report(m.model, m.messages, m.system, m.tools)
}

// anchor is what a reported usage makes of the count of the conversation as it came.
func (m *measure) anchor(u tokens.Usage) tokens.Anchor {
	return m.counter.Anchor(m.model, m.messages, m.system, m.tools, u)
}

// message counts one message.
func (m *measure) message(ctx context.Context, msg *conversation.Message) (int, error) {
	cost, err := m.counter.CountMessage(ctx, msg, m.model)
	return cost.Tokens(), err
}

// text counts a plain text.
func (m *measure) text(ctx context.Context, text string) (int, error) {
	return m.counter.TextTokens(ctx, text, m.model)
}

// after counts the rewritten conversation. It equals a fresh count of it.
func (m *measure) after(ctx context.Context, rewrite *conversation.Rewrite, applied *conversation.Applied) (tokens.Report, error) {
	costs := make([]tokens.Cost, len(applied.From))
	var err error
	for i, from := range applied.From {
		if from >= 0 && !rewrite.Changed(from) {
			costs[i] = m.messages[from]
			continue
		}
		if costs[i], err = m.counter.CountMessage(ctx, &applied.Conversation.Messages[i], m.model); err != nil {
			return tokens.Report{}, fmt.Errorf("count message %d of the result: %w", i, err)
		}
	}
	system := m.system
	if rewrite.System() != nil {
		if system, err = m.counter.CountSystem(ctx, applied.Conversation.System, m.model); err != nil {
			return tokens.Report{}, fmt.Errorf("count the system prompt of the result: %w", err)
		}
	}
	return m.counter.Report(m.model, costs, system, m.tools), nil
}
