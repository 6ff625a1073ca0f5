package simulator

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

func readFile(t testing.TB, f testdata.File) *conversation.Conversation {
	t.Helper()
	format := conversation.FormatOpenAIChat
	if f.Format == testdata.Anthropic {
		format = conversation.FormatAnthropicMessages
	}
	c, err := conversation.Parse(format, f.JSON, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// replayOf replays a conversation as if its model were Claude.
func replayOf(t testing.TB, c *conversation.Conversation, counting Counting, schedule Schedule) *Replay {
	t.Helper()
	layout := breakpoints.LayoutAnthropic
	if c.Format == conversation.FormatOpenAIChat {
		layout = breakpoints.LayoutOpenRouter
	}
	rules, price := lookUp(t, layout, "claude-sonnet-5-5", counting)
	m, err := Read(c, "claude-sonnet-5-5", nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewReplay(m, rules, price, schedule)
}

func placement(t testing.TB, layout breakpoints.Layout, strategy breakpoints.Strategy) breakpoints.Options {
	t.Helper()
	layouts, err := breakpoints.NewLayouts(nil)
	if err != nil {
		t.Fatal(err)
	}
	return breakpoints.Options{Layout: layout, Strategy: strategy, Model: "claude-sonnet-5-5", Claude: true, Layouts: layouts}
}

func TestReplaysOfRealConversations(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			c := readFile(t, f)
			for _, counting := range []Counting{CountingRaw, CountingCollapsed} {
				r := replayOf(t, c, counting, Schedule{})
				explicit, reachable := r.Optimum(TTL5m, false), r.Optimum(TTL5m, true)
				layout := r.Turns[0].Rules.Layout
				// That the anchored placement reaches the optimum of a conversation that is only appended to is proved; this is
				// the proof's test.
				none, err := r.Run(nil)
				if err != nil {
					t.Fatal(err)
				}
				if none.Total.Read+none.Total.Written() != 0 || none.Cost != none.NoCache {
					t.Errorf("without marks: %+v", none.Total)
				}
				for _, strategy := range []breakpoints.Strategy{
					breakpoints.StrategySystemAnd3, breakpoints.StrategyHermesDefault, breakpoints.StrategyTransactionEnds,
					breakpoints.StrategyAnchored, breakpoints.StrategyAutoPlusSystem, breakpoints.StrategySystemOnly,
				} {
					report, err := r.Run(ByOptions(placement(t, layout, strategy)))
					if err != nil {
						t.Fatalf("strategy %v: %v", strategy, err)
					}
					for i := range report.Outcomes {
						o := &report.Outcomes[i]
						most := explicit[i]
						switch {
						case strategy == breakpoints.StrategyAutoPlusSystem:
							most = reachable[i]
						case strategy == breakpoints.StrategyAnchored: // both layouts have an automatic mode
							if most = reachable[i]; o.Read != most {
								t.Errorf("turn %d: the anchored placement reads %d tokens, the optimum is %d", i, o.Read, most)
							}
						}
						if len(o.Rejections) > 0 {
							t.Fatalf("strategy %v, turn %d is refused: %+v", strategy, i, o.Rejections)
						}
						if o.Prompt() != r.Turns[i].Prompt.Tokens() || o.Read > most {
							t.Errorf("strategy %v, turn %d: %+v of %d tokens, the optimum reads %d", strategy, i, o.Split, r.Turns[i].Prompt.Tokens(), most)
						}
					}
				}
			}
		})
	}
}

// TestPlacingByBodyIsPlacingByPosition holds the short cut of replays against the bytes.
func TestPlacingByBodyIsPlacingByPosition(t *testing.T) {
	for _, name := range []string{"cc-go-unicode-70", "tau2-airline-sonnet45-51", "swe-marshmallow-28", "ccsdk-ja-18", "toolbench-legacy-12a"} {
		t.Run(name, func(t *testing.T) {
			c := readFile(t, testdata.Conversation(t, name))
			r := replayOf(t, c, CountingRaw, Schedule{})
			for _, strategy := range []breakpoints.Strategy{breakpoints.StrategySystemAnd3, breakpoints.StrategyHermesDefault, breakpoints.StrategyAnchored} {
				opts := placement(t, r.Turns[0].Rules.Layout, strategy)
				want, err := r.Run(ByOptions(opts))
				if err != nil {
					t.Fatal(err)
				}
				turn := 0
				got, err := r.Run(ByBody(func(body string) (string, error) {
					c, err := conversation.Parse(c.Format, body, conversation.Limits{})
					if err != nil {
						return "", err
					}
					opts.Tokens = &r.Turns[turn].Counts
					turn++
					res, err := breakpoints.Place(c, opts)
					if err != nil {
						return "", err
					}
					opts.State = res.State
					return conversation.ApplySplices(body, res.Rewrite.Splices()), nil
				}))
				if err != nil {
					t.Fatal(err)
				}
				for i := range want.Outcomes {
					if diff := cmp.Diff(want.Outcomes[i].Split, got.Outcomes[i].Split); diff != "" {
						t.Errorf("strategy %v, turn %d: %s", strategy, i, diff)
					}
				}
			}
		})
	}
}

// withMarks sets marks of random lives at random objects of a conversation's JSON, in legal places and others.
func withMarks(r *rand.Rand, c *conversation.Conversation) string {
	var objects []int
	add := func(s conversation.Span) {
		if s.Len() > 1 && c.Source[s.Start] == '{' && c.Source[s.End-1] == '}' && s.Len() > 2 {
			objects = append(objects, s.Start+1)
		}
	}
	for i := range c.Tools {
		add(c.Tools[i].Span)
	}
	for i := range c.Messages {
		add(c.Messages[i].Span)
		for j := range c.Messages[i].Blocks {
			b := &c.Messages[i].Blocks[j]
			if b.Site == conversation.SiteContent {
				add(b.Span)
			}
			for k := range b.Result {
				add(b.Result[k].Span)
			}
		}
	}
	var splices []conversation.Splice
	for _, at := range objects {
		if r.IntN(12) == 0 {
			mark := `"cache_control":{"type":"ephemeral"},`
			if r.IntN(2) == 0 {
				mark = `"cache_control":{"type":"ephemeral","ttl":"1h"},`
			}
			splices = append(splices, conversation.Splice{Offset: at, Text: mark})
		}
	}
	slices.SortFunc(splices, func(a, b conversation.Splice) int { return a.Offset - b.Offset })
	splices = slices.CompactFunc(splices, func(a, b conversation.Splice) bool { return a.Offset == b.Offset })
	return conversation.ApplySplices(c.Source, splices)
}

// TestPlacementsAreNeverRefused: whatever marks were there, what [breakpoints.Place] leaves passes the provider's rules.
func TestPlacementsAreNeverRefused(t *testing.T) {
	registry, tables := lookUpTables(t)
	random := rand.New(rand.NewPCG(9, 10))
	model := registry.Lookup("claude-sonnet-5-5")
	refusedBefore := 0
	for _, f := range testdata.Conversations(t) {
		if len(f.JSON) > 300_000 { // the others have everything these have
			continue
		}
		c := readFile(t, f)
		for _, row := range tables.Layouts().All() {
			if row.Layout == breakpoints.LayoutBedrock || !slices.Contains(row.Forms, c.Format.String()) {
				continue
			}
			rules := tables.Rules(row.Layout, &model, CountingDefault)
			for strategy := breakpoints.StrategySystemAnd3; strategy <= breakpoints.StrategySystemOnly; strategy++ {
				text := withMarks(random, c)
				before, err := conversation.Parse(c.Format, text, conversation.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				res, err := breakpoints.Place(before, breakpoints.Options{
					Layout: row.Layout, Strategy: strategy, TTL: breakpoints.TTL(random.IntN(2)), Reserved: random.IntN(2),
					Model: model.Name, Claude: true, Layouts: tables.Layouts(), SplitSystem: true, RetryAnchor: random.IntN(2) == 0,
				})
				if err != nil {
					t.Fatalf("%s, %v, strategy %d: %v", f.Name, row.Layout, strategy, err)
				}
				for i, text := range []string{text, conversation.ApplySplices(text, res.Rewrite.Splices())} {
					c, err := conversation.Parse(c.Format, text, conversation.Limits{})
					if err != nil {
						t.Fatal(err)
					}
					m, err := Read(c, model.Name, nil)
					if err != nil {
						t.Fatal(err)
					}
					rejected := m.Request(&rules).Rejections
					if i == 0 && len(rejected) > 0 {
						refusedBefore++
					}
					if i == 1 && len(rejected) > 0 {
						t.Errorf("%s, %v, strategy %d: %+v", f.Name, row.Layout, strategy, rejected)
					}
				}
			}
		}
	}
	if refusedBefore < 50 {
		t.Errorf("only %d of the marked conversations were refused before: the test tests little", refusedBefore)
	}
}

func TestTurnsOfAReplay(t *testing.T) {
	json := `[{"role":"system","content":"s"},{"role":"assistant","content":"hello"},{"role":"user","content":"u"},
{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"v"},{"role":"user","content":"w"}]`
	c, err := conversation.Parse(conversation.FormatOpenAIChat, json, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r := replayOf(t, c, CountingDefault, Schedule{Gap: time.Minute, PauseEvery: 1, Pause: time.Hour})
	var got []int
	for i := range r.Turns {
		got = append(got, r.Turns[i].Messages)
	}
	if diff := cmp.Diff([]int{3, 7}, got); diff != "" {
		t.Error(diff)
	}
	if r.Turns[1].Start != time.Hour {
		t.Errorf("the second turn starts at %v", r.Turns[1].Start)
	}
	if body := r.Turns[0].Body(); !strings.HasSuffix(body, `"u"}]`) {
		t.Errorf("body %s", body)
	}
}

// Turns of two conversations may be put in one replay: a conversation that is changed on its way.
func TestEveryTurnHasTheBodyOfItsOwnConversation(t *testing.T) {
	var replays []*Replay
	for _, word := range []string{"old", "new"} {
		c, err := conversation.Parse(conversation.FormatOpenAIChat, `[{"role":"user","content":"`+word+`"},{"role":"assistant","content":"a"},{"role":"user","content":"v"}]`, conversation.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		replays = append(replays, replayOf(t, c, CountingDefault, Schedule{}))
	}
	replays[0].Turns = append(replays[0].Turns[:1], replays[1].Turns[1:]...)
	var got []string
	_, err := replays[0].Run(ByBody(func(body string) (string, error) {
		got = append(got, body)
		return body, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`[{"role":"user","content":"old"}]`, `[{"role":"user","content":"new"},{"role":"assistant","content":"a"},{"role":"user","content":"v"}]`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSchedule(t *testing.T) {
	s := Schedule{Gap: time.Second, PauseEvery: 3, Pause: time.Minute}
	var got []time.Duration
	for i := range 7 {
		got = append(got, s.Start(i))
	}
	want := []time.Duration{0, time.Second, 2 * time.Second, 62 * time.Second, 63 * time.Second, 64 * time.Second, 124 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
