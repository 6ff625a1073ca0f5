package main

import (
	"testing"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// recordedBench holds every recorded conversation.
func recordedBench(t *testing.T) *bench {
	t.Helper()
	b, err := newBench("claude-sonnet-5-5")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range testdata.Conversations(t) {
		if err := b.add(f.Name, f.JSON); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	return b
}

// The tables claim it: while a conversation only grows nothing costs less than the anchored placement, with pauses too,
// and with the option for retries it costs at most what system-and-3 does when the newest user message is replaced. What
// is written and never read costs something, so conversations of which nothing can be read are left out.
func TestNothingCostsLessThanTheAnchoredPlacement(t *testing.T) {
	b := recordedBench(t)
	columns := b.columns(breakpoints.TTL5m)
	for _, s := range scenarios() {
		if s.cheapest == "" {
			continue
		}
		for _, c := range countings() {
			rows, err := b.rows(t.Context(), &s, c.counting, columns)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) < 10 {
				t.Errorf("%s: only %d conversations", s.title, len(rows))
			}
			for _, r := range rows {
				ours := 0.0
				for k := range columns {
					if columns[k].Name == s.cheapest {
						ours = r.cells[k].cost
					}
				}
				for k := range columns {
					compared := s.change == nil && r.most > 0 || s.change != nil && columns[k].Name == "system-and-3"
					if compared && r.cells[k].cost < ours-margin*r.whole {
						t.Errorf("%s, %s, %s: %s costs %.1f uncached tokens, %s %.1f", s.title, c.name, r.name, columns[k].Name, r.cells[k].cost, s.cheapest, ours)
					}
				}
			}
		}
	}
}

func TestRestatedRulesMarkWhatTheyName(t *testing.T) {
	const in = `{"messages":[{"role":"system","content":"S"},{"role":"system","content":"T"},{"role":"user","content":"a"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}},{"id":"d","type":"function","function":{"name":"t","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c","content":"r"},{"role":"tool","tool_call_id":"d","content":"r"},
{"role":"assistant","content":"b"},{"role":"user","content":"e"}]}`
	c, err := conversation.Parse(conversation.FormatOpenAIChat, in, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBench("claude-sonnet-5-5")
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.material(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	rules := b.tables.Rules(breakpoints.LayoutOpenRouter, &b.model, simulator.CountingRaw)
	for _, tt := range []struct {
		contender simulator.Contender
		want      []int // messages
	}{
		{lastTwoUser(), []int{1, 5, 7}},
		{lastTwo(), []int{0, 1, 6, 7}},
	} {
		turn := simulator.Turn{Prompt: m.Prompt(len(c.Messages), &rules), Conversation: c}
		if err := tt.contender.New(nil)(&turn); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, mark := range turn.Prompt.Marks {
			got = append(got, turn.Prompt.Blocks[mark.Block].At.Message)
		}
		if len(got) != len(tt.want) {
			t.Fatalf("%s marks the messages %v, want %v", tt.contender.Name, got, tt.want)
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s marks the messages %v, want %v", tt.contender.Name, got, tt.want)
			}
		}
	}
}
