package tokens

import (
	"context"
	"fmt"
	"math"

	"github.com/elbowroom/elbowroom/conversation"
)

// Counter sizes texts, messages and requests for any model. It keeps no state but the vocabularies and the pools of
// its encodings and is safe for concurrent use.
type Counter struct {
	o200k, cl100k *Encoding
}

// NewCounter returns a counter. The vocabularies load on first use.
func NewCounter() *Counter {
	return &Counter{o200k: &Encoding{name: O200kBase}, cl100k: &Encoding{name: CL100kBase}}
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
	classes, err := c.encoding(model).CountClasses(ctx, text)
	if err != nil {
		return Report{}, err
	}
	n := tokenizerOf(model).estimate(classes)
	r := c.report(model, []Cost{{Parts: Parts{Text: n}, Text: n}}, Cost{}, Cost{}, 0)
	r.Messages = nil
	return r, nil
}

// Count sizes a whole request. It never fails on content: what is odd is counted by rule and named in the warnings.
// Errors are the context's.
func (c *Counter) Count(ctx context.Context, conv *conversation.Conversation, model Model) (Report, error) {
	messages := make([]Cost, len(conv.Messages))
	for i := range conv.Messages {
		cost, err := c.CountMessage(ctx, &conv.Messages[i], model)
		if err != nil {
			return Report{}, fmt.Errorf("message %d: %w", i, err)
		}
		for w := range cost.Warnings {
			cost.Warnings[w].Message = i
		}
		messages[i] = cost
	}
	system, err := c.CountSystem(ctx, conv.System, model)
	if err != nil {
		return Report{}, fmt.Errorf("system prompt: %w", err)
	}
	tools, err := c.CountTools(ctx, conv.Tools, model)
	if err != nil {
		return Report{}, fmt.Errorf("tools: %w", err)
	}
	return c.report(model, messages, system, tools, c.Priming(model)), nil
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
	r.Lower = max(0, r.Tokens-int(math.Ceil(float64(text)*(1-t.low)))-slack)
	r.Upper = r.Tokens + int(math.Ceil(float64(text)*(t.high-1))) + slack
	return r
}

func (c *Counter) encoding(model Model) *Encoding {
	if model.Encoding == CL100kBase {
		return c.cl100k
	}
	return c.o200k
}
