package tokens

import (
	"context"

	"github.com/elbowroom/elbowroom/conversation"
)

// tally adds up one piece of a request: classes of text by part, and tokens that come from rules.
type tally struct {
	tokenizer
	ctx      context.Context //nolint:containedctx // lives for one call
	encoding *Encoding
	model    Model

	system, tools, prose, calls, results, reasoning, names Classes

	ruled    Parts
	slack    int
	warnings []conversation.Warning
	err      error
}

func (c *Counter) tally(ctx context.Context, model Model) *tally {
	return &tally{tokenizer: tokenizerOf(model), ctx: ctx, encoding: c.encoding(model), model: model}
}

func (t *tally) cost() (Cost, error) {
	if t.err != nil {
		return Cost{}, t.err
	}
	text := Parts{
		System:      t.estimate(t.system),
		Tools:       t.estimate(t.tools),
		Text:        t.estimate(t.prose),
		ToolCalls:   t.estimate(t.calls),
		ToolResults: t.estimate(t.results),
		Reasoning:   t.estimate(t.reasoning),
		Framing:     t.estimate(t.names),
	}
	return Cost{Parts: text.Add(t.ruled), Text: text.Total(), Slack: t.slack, Warnings: t.warnings}, nil
}

func (t *tally) text(part *Classes, text string) {
	if t.err != nil || text == "" {
		return
	}
	classes, err := t.encoding.CountClasses(t.ctx, text)
	if err != nil {
		t.err = err
		return
	}
	*part = part.Add(classes)
}

func (t *tally) framing(n, slack int) {
	t.ruled.Framing += n
	t.slack += slack
}

func (t *tally) warn(code, detail string) {
	t.warnings = append(t.warnings, conversation.Warning{Code: code, Message: -1, Detail: detail})
}
