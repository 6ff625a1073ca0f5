package main

import (
	"context"
	"strings"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/conversation"
)

// scenario is one way in which a conversation goes on.
type scenario struct {
	title, about string
	// cheapest is the column that should cost no more than any other; the table says where it does. Empty for none.
	cheapest string
	schedule simulator.Schedule
	// change returns the conversation as it is from a turn on, in which so many of its turns have been made already; ok is
	// false where the conversation has no place for it. Nil changes nothing.
	change func(r *recording, turns []simulator.Turn) (changed string, at, resume int, ok bool)
}

func scenarios() []scenario {
	return []scenario{
		{title: "Only appended, no pauses", about: "A request every 20 seconds; every request begins with the one before.", cheapest: "anchored"},
		{
			title: "With pauses", about: "Every tenth gap is 10 minutes, longer than the 5 minutes that an entry lives.", cheapest: "anchored",
			schedule: simulator.Schedule{PauseEvery: 10, Pause: 10 * time.Minute},
		},
		{title: "One compression", about: "Half-way the messages from the fourth on become one summary of 2,000 characters, but for the last quarter.", change: compressed},
		{title: "One edited message", about: "Half-way a message from the first quarter is changed.", change: edited},
		{title: "One fork", about: "In the middle a request is made twice: the second time its newest user message is another one, and the conversation goes on from there.", cheapest: "anchored, retry", change: forked},
	}
}

// body puts a request body together from messages as they are written.
func body(c *conversation.Conversation, messages []string) string {
	first, last := c.Messages[0].Span, c.Messages[len(c.Messages)-1].Span
	return c.Source[:first.Start] + strings.Join(messages, ",") + c.Source[last.End:]
}

func written(c *conversation.Conversation) []string {
	out := make([]string, len(c.Messages))
	for i := range c.Messages {
		out[i] = c.Raw(c.Messages[i].Span)
	}
	return out
}

// changedText is a message with other words at the start of its first text, false where it has none.
func changedText(c *conversation.Conversation, i int) (string, bool) {
	m := &c.Messages[i]
	for j := range m.Blocks {
		b := &m.Blocks[j]
		if b.Kind == conversation.KindText && b.TextSpan.Len() > 0 && b.HasText() {
			at := b.TextSpan.Start + 1 - m.Span.Start
			raw := c.Raw(m.Span)
			return raw[:at] + "In other words: " + raw[at:], true
		}
	}
	return "", false
}

func edited(r *recording, turns []simulator.Turn) (changed string, at, resume int, ok bool) {
	at = len(turns) / 2
	if at < 2 {
		return "", 0, 0, false
	}
	for i := turns[at].Messages / 4; i < turns[at].Messages/2; i++ {
		if r.conv.Messages[i].Role == conversation.RoleSystem {
			continue
		}
		if text, found := changedText(r.conv, i); found {
			all := written(r.conv)
			all[i] = text
			return body(r.conv, all), at, at, true
		}
	}
	return "", 0, 0, false
}

func forked(r *recording, turns []simulator.Turn) (changed string, at, resume int, ok bool) {
	for d := range turns { // the nearest to the middle whose newest message is the user's
		for _, k := range []int{len(turns)/2 + d, len(turns)/2 - d} {
			if k < 1 || k >= len(turns) {
				continue
			}
			i := turns[k].Messages - 1
			if !r.conv.Messages[i].IsRequest() || r.conv.Messages[i].Has(conversation.KindToolResult) {
				continue
			}
			if text, found := changedText(r.conv, i); found {
				all := written(r.conv)
				all[i] = text
				return body(r.conv, all), k + 1, k, true
			}
		}
	}
	return "", 0, 0, false
}

func compressed(r *recording, turns []simulator.Turn) (changed string, at, resume int, ok bool) {
	const head = 3
	at = len(turns) / 2
	if at < 4 {
		return "", 0, 0, false
	}
	cut := turns[at*3/4].Messages // what follows is an answer of the model
	if cut <= head+1 {
		return "", 0, 0, false
	}
	all := written(r.conv)
	summary := `{"role":"user","content":` + conversation.Quote("Summary of the conversation so far. "+strings.Repeat("Something was done and noted. ", 66)) + `}`
	kept := append(append(append([]string{}, all[:head]...), summary), all[cut:]...)
	return body(r.conv, kept), at, -1, true
}

// replay makes the requests of a scenario.
func (b *bench) replay(ctx context.Context, r *recording, s *scenario, counting simulator.Counting) (*simulator.Replay, bool, error) {
	m, err := b.material(ctx, r.conv)
	if err != nil {
		return nil, false, err
	}
	rules, price := b.tables.Rules(r.layout, &b.model, counting), b.tables.Price(r.layout, &b.model, "")
	replay := simulator.NewReplay(m, &rules, &price, s.schedule)
	if s.change == nil || len(replay.Turns) == 0 {
		return replay, len(replay.Turns) > 0, nil
	}
	text, at, resume, ok := s.change(r, replay.Turns)
	if !ok {
		return nil, false, nil
	}
	c, err := conversation.Parse(r.conv.Format, text, conversation.Limits{})
	if err != nil {
		return nil, false, err
	}
	if m, err = b.material(ctx, c); err != nil {
		return nil, false, err
	}
	second := simulator.NewReplay(m, &rules, &price, s.schedule)
	if resume < 0 { // the list is shorter: it goes on with the same message
		gone := len(r.conv.Messages) - len(c.Messages)
		for k := range second.Turns {
			if resume < 0 && second.Turns[k].Messages >= replay.Turns[at].Messages-gone {
				resume = k
			}
		}
	}
	if resume < 0 || resume >= len(second.Turns) {
		return nil, false, nil
	}
	replay.Turns = append(replay.Turns[:at], second.Turns[resume:]...)
	for k := range replay.Turns {
		replay.Turns[k].Start = s.schedule.Start(k)
	}
	return replay, true, nil
}
