package tokens

import (
	"context"

	"github.com/elbowroom/elbowroom/conversation"
)

// tally adds up one piece of a request: texts by part, and tokens that come from rules.
type tally struct {
	tokenizer
	ctx   context.Context //nolint:containedctx // lives for one call
	sizer sizer
	model Model

	system, tools, prose, calls, results, reasoning, names amount

	ruled    Parts
	slack    int
	warnings []conversation.Warning
	err      error
}

// amount is what was counted of the texts of one part: by class for the families that follow from an OpenAI encoding, in
// whole for those whose pieces are known.
type amount struct {
	classes Classes
	pieces  int
}

func (c *Counter) tally(ctx context.Context, model Model) *tally {
	return &tally{tokenizer: tokenizerOf(model), ctx: ctx, sizer: c.sizer(model), model: model}
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

func (t *tally) text(part *amount, text string) {
	if t.err != nil || text == "" {
		return
	}
	n, err := t.sizer.size(t.ctx, text)
	if err != nil {
		t.err = err
		return
	}
	part.classes = part.classes.Add(n.classes)
	part.pieces += n.pieces
}

func (t *tally) framing(n, slack int) {
	t.ruled.Framing += n
	t.slack += slack
}

func (t *tally) warn(code, detail string) {
	t.warnings = append(t.warnings, conversation.Warning{Code: code, Message: -1, Detail: detail})
}

// sizer counts texts for one model: by the pieces of Claude, or by an OpenAI encoding.
type sizer struct {
	tiling   *tiling // nil if the model is no Claude
	frameBow bool
	lines    *lines
	encoding *Encoding
}

func (c *Counter) sizer(model Model) sizer {
	switch model.Family {
	case FamilyClaude3:
		return sizer{tiling: c.claude3, frameBow: true, lines: c.lines3}
	case FamilyClaude47:
		return sizer{tiling: c.claude47, frameBow: true, lines: c.lines47}
	case FamilyClaude5:
		return sizer{tiling: c.claude47, lines: c.lines47}
	default:
		return sizer{encoding: c.encoding(model)}
	}
}

func (s sizer) size(ctx context.Context, text string) (amount, error) {
	if s.tiling != nil {
		n, err := s.tiling.count(ctx, text, s.frameBow, s.lines)
		return amount{pieces: n}, err
	}
	classes, err := s.encoding.CountClasses(ctx, text)
	return amount{classes: classes}, err
}
