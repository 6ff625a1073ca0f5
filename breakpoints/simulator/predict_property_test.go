package simulator

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// looper writes agent loops: text, images, parallel calls with and without words between them, results of text and of
// images, requests that end in any of these. Equal seeds give equal loops.
type looper struct {
	*rand.Rand
	openai bool
	n      int
}

func (l *looper) words(least, most int) string {
	l.n++
	return fmt.Sprintf("%d %s", l.n, strings.Repeat("word ", least+l.IntN(most-least)))
}

func (l *looper) object(pairs ...any) json.RawMessage {
	var sb strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		value, _ := json.Marshal(pairs[i+1])
		fmt.Fprintf(&sb, ",%q:%s", pairs[i], value)
	}
	return json.RawMessage("{" + sb.String()[1:] + "}")
}

func (l *looper) text(most int) any { return l.object("type", "text", "text", l.words(1, most)) }

func (l *looper) image() any {
	l.n++
	if l.openai {
		return l.object("type", "image_url", "image_url", l.object("url", fmt.Sprintf("https://example.com/%d.png", l.n)))
	}
	return l.object("type", "image", "source", l.object("type", "url", "url", fmt.Sprintf("https://example.com/%d.png", l.n)))
}

// content is a string, or a list of texts and images.
func (l *looper) content(most int) any {
	if l.IntN(2) == 0 {
		return l.words(1, most)
	}
	var out []any
	for range 1 + l.IntN(3) {
		if l.IntN(3) == 0 {
			out = append(out, l.image())
		} else {
			out = append(out, l.text(most))
		}
	}
	return out
}

// step is an answer of the model with what follows it.
func (l *looper) step() (messages []any) {
	calls := 0
	if l.IntN(4) > 0 {
		calls = 1 + l.IntN(1+l.IntN(14))
	}
	var ids []string
	for range calls {
		l.n++
		ids = append(ids, fmt.Sprintf("call%d", l.n))
	}
	if l.openai {
		answer := []any{"role", "assistant", "content", l.words(1, 200)}
		if calls > 0 {
			var list []any
			for _, id := range ids {
				list = append(list, l.object("id", id, "type", "function", "function", l.object("name", "look", "arguments", `{"at":"`+l.words(1, 40)+`"}`)))
			}
			answer = append(answer, "tool_calls", list)
			if l.IntN(2) == 0 {
				answer[3] = nil
			}
		}
		messages = append(messages, l.object(answer...))
		for _, id := range ids {
			messages = append(messages, l.object("role", "tool", "tool_call_id", id, "content", l.content(300)))
		}
		if calls == 0 || l.IntN(5) == 0 {
			messages = append(messages, l.object("role", "user", "content", l.content(300)))
		}
		return messages
	}
	var blocks, results []any
	for _, id := range ids {
		if l.IntN(3) == 0 {
			blocks = append(blocks, l.text(100))
		}
		blocks = append(blocks, l.object("type", "tool_use", "id", id, "name", "look", "input", l.object("at", l.words(1, 40))))
		results = append(results, l.object("type", "tool_result", "tool_use_id", id, "content", l.content(300)))
	}
	if calls == 0 {
		blocks = append(blocks, l.text(200))
		return append(messages, l.object("role", "assistant", "content", blocks), l.object("role", "user", "content", l.content(300)))
	}
	for range l.IntN(3) {
		if l.IntN(2) == 0 {
			results = append(results, l.image())
		} else {
			results = append(results, l.text(100))
		}
	}
	return append(messages, l.object("role", "assistant", "content", blocks), l.object("role", "user", "content", results))
}

// body is a request body at the end of such a loop.
func (l *looper) body() string {
	var messages []any
	members := []any{"model", "m"}
	if l.openai {
		messages = append(messages, l.object("role", "system", "content", l.words(1, 3000)))
	} else if l.IntN(5) > 0 {
		members = append(members, "system", l.words(1, 3000))
	}
	messages = append(messages, l.object("role", "user", "content", l.content(900)))
	for range 2 + l.IntN(8) {
		messages = append(messages, l.step()...)
	}
	return string(l.object(append(members, "messages", messages)...))
}

// Over random loops every prediction is what becomes of the sequence, to the token. That an added image resets the messages is
// left out: the documentation says so, a measurement does not, and the prediction goes by the latter.
func TestPredictionsOfRandomLoopsAgreeWithTheSimulation(t *testing.T) {
	for seed := range uint64(700) {
		l := &looper{Rand: rand.New(rand.NewPCG(seed, 7)), openai: seed%2 == 1}
		format, layouts := conversation.FormatAnthropicMessages, []breakpoints.Layout{breakpoints.LayoutAnthropic, breakpoints.LayoutVertex}
		if l.openai {
			format, layouts = conversation.FormatOpenAIChat, []breakpoints.Layout{breakpoints.LayoutOpenRouter, breakpoints.LayoutLiteLLM, breakpoints.LayoutOpenAI}
		}
		body := l.body()
		c, err := conversation.Parse(format, body, conversation.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		layout := layouts[l.IntN(len(layouts))]
		strategy := breakpoints.StrategySystemAnd3
		if all := agreeing(layout); l.IntN(2) == 0 {
			strategy = all[l.IntN(len(all))]
		}
		model := modelOf(layout)
		rules, price := lookUp(t, layout, model, CountingDefault)
		measured := *rules
		measured.ImageSalt = false
		rules = &measured
		m, err := Read(c, model, nil)
		if err != nil {
			t.Fatal(err)
		}
		replay := NewReplay(m, rules, price, Schedule{})
		opts := placement(t, layout, strategy)
		opts.Model, opts.MinPrefix = model, rules.MinTokens
		stateless := l.IntN(2) == 0
		var predicted []breakpoints.Usage
		report, err := replay.Run(func(turn *Turn) error {
			opts.Tokens = m.counted(turn)
			res, err := breakpoints.Place(turn.Conversation, opts)
			if err != nil {
				return err
			}
			if !stateless {
				opts.State = res.State
			}
			predicted = append(predicted, *res.Usage)
			turn.Prompt.Place(res.Breakpoints)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range predicted {
			if diff := cmp.Diff(report.Outcomes[i].Split, split(&predicted[i])); diff != "" {
				t.Errorf("seed %d, layout %v, strategy %v, turn %d of %d, stateless %v (-simulated +predicted):\n%s", seed, layout, strategy, i, len(predicted), stateless, diff)
			}
		}
	}
}

// agreeing are the strategies that place marks on a layout.
func agreeing(layout breakpoints.Layout) []breakpoints.Strategy {
	if layout == breakpoints.LayoutOpenAI {
		return []breakpoints.Strategy{breakpoints.StrategySystemAnd3, breakpoints.StrategyAnchored}
	}
	return []breakpoints.Strategy{
		breakpoints.StrategySystemAnd3, breakpoints.StrategyAnchored, breakpoints.StrategyHermesDefault, breakpoints.StrategySystemOnly,
		breakpoints.StrategyTransactionEnds, breakpoints.StrategyAutoPlusSystem,
	}
}
