package tokens

import (
	"context"
	"fmt"
	"math"

	"github.com/elbowroom/elbowroom/conversation"
)

// Counter sizes texts, messages and requests for any model. It keeps no state but the vocabularies, the pools of its
// encodings and the counts it remembers, and is safe for concurrent use.
type Counter struct {
	o200k, cl100k     *Encoding
	claude3, claude47 *tiling
	memo              *memo
	lines3, lines47   *lines // one for each vocabulary
}

// Option sets up a Counter.
type Option func(*Counter)

// RememberedCounts sets how many counts of messages, system prompts and tool lists are remembered, so that a request
// which was counted before and grew by a message costs the counting of that message. An entry takes about 200 bytes. 0
// switches it off; the default is DefaultRememberedCounts.
func RememberedCounts(n int) Option { return func(c *Counter) { c.memo = newMemo(n) } }

// NewCounter returns a counter. The vocabularies load on first use.
func NewCounter(options ...Option) *Counter {
	c := &Counter{
		o200k: &Encoding{name: O200kBase}, cl100k: &Encoding{name: CL100kBase},
		memo: newMemo(DefaultRememberedCounts),
	}
	c.claude3, c.claude47 = newTilings()
	for _, option := range options {
		option(c)
	}
	return c
}

// Method says how counts for a model come about.
func (c *Counter) Method(model Model) Method {
	if model.EncodingExact {
		return MethodLocal
	}
	return MethodEstimate
}

// Priming is what a request costs beyond its pieces: the start of the answer, in tokens.
func (c *Counter) Priming(model Model) int { return tokenizerOf(model).frame.priming }

// CountText sizes a plain text, without any frame. For a model whose vocabulary is known the count is exact and Lower
// and Upper equal it. Errors are the context's.
func (c *Counter) CountText(ctx context.Context, text string, model Model) (Report, error) {
	size, err := c.sizer(model).size(ctx, text)
	if err != nil {
		return Report{}, err
	}
	n := tokenizerOf(model).estimate(size)
	r := c.report(model, []Cost{{Parts: Parts{Text: n}, Text: n}}, Cost{}, Cost{}, 0)
	r.Messages = nil
	return r, nil
}

// TextTokens is the number of tokens that CountText reports. Errors are the context's.
func (c *Counter) TextTokens(ctx context.Context, text string, model Model) (int, error) {
	size, err := c.sizer(model).size(ctx, text)
	if err != nil {
		return 0, err
	}
	return tokenizerOf(model).estimate(size), nil
}

// Count sizes a whole request. It never fails on content: what is odd is counted by rule and named in the warnings.
// Errors are the context's.
func (c *Counter) Count(ctx context.Context, conv *conversation.Conversation, model Model) (Report, error) {
	p, err := c.costs(ctx, conv, model)
	if err != nil {
		return Report{}, err
	}
	return c.Report(model, p.messages, p.system, p.tools), nil
}

// CountAfter sizes a whole request as Count does, and says what a usage that the provider reported for its beginning makes
// of the count. Errors are the context's.
func (c *Counter) CountAfter(ctx context.Context, conv *conversation.Conversation, model Model, usage Usage) (Report, Anchor, error) {
	p, err := c.costs(ctx, conv, model)
	if err != nil {
		return Report{}, Anchor{}, err
	}
	return c.Report(model, p.messages, p.system, p.tools), c.Anchor(model, p.messages, p.system, p.tools, usage), nil
}

// requestCosts are the costs of a request's pieces.
type requestCosts struct {
	messages      []Cost
	system, tools Cost
}

func (c *Counter) costs(ctx context.Context, conv *conversation.Conversation, model Model) (p requestCosts, err error) {
	if p.messages, err = c.CountMessages(ctx, conv.Messages, model); err != nil {
		return p, err
	}
	if p.system, err = c.CountSystem(ctx, conv.System, model); err != nil {
		return p, fmt.Errorf("system prompt: %w", err)
	}
	if p.tools, err = c.CountSetup(ctx, conv, model); err != nil {
		return p, fmt.Errorf("tools: %w", err)
	}
	return p, nil
}

// Report puts the costs of the pieces together. It is what Count returns for the same pieces; use it after recounting
// those that changed. Warnings keep the message indices they carry.
func (c *Counter) Report(model Model, messages []Cost, system, tools Cost) Report {
	return c.report(model, messages, system, tools, c.Priming(model))
}

func (c *Counter) report(model Model, messages []Cost, system, tools Cost, priming int) Report {
	r := Report{
		Method: c.Method(model), Encoding: model.Encoding, Messages: make([]int, len(messages)),
		System: system.Tokens(), Tools: tools.Tokens(), Priming: priming, Parts: Parts{Framing: priming},
	}
	text, slack := 0, 0
	add := func(cost *Cost) {
		r.Parts = r.Parts.Add(cost.Parts)
		text += cost.Text
		slack += cost.Slack
		r.Warnings = append(r.Warnings, cost.Warnings...)
	}
	add(&system)
	add(&tools)
	for i := range messages {
		r.Messages[i] = messages[i].Tokens()
		add(&messages[i])
	}
	r.Tokens = r.Parts.Total()
	t := tokenizerOf(model)
	below, above := t.margins(text)
	r.Lower = max(0, r.Tokens-below-slack)
	r.Upper = r.Tokens + above + slack
	return r
}

// margins is how far the true count of a text may lie below and above an estimate of n tokens.
func (t tokenizer) margins(n int) (below, above int) {
	return int(math.Ceil(float64(n) * (1 - t.low))), int(math.Ceil(float64(n) * (t.high - 1)))
}

func (c *Counter) encoding(model Model) *Encoding {
	if model.Encoding == CL100kBase {
		return c.cl100k
	}
	return c.o200k
}
