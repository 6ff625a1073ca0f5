package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// randomLoop is an append-only conversation: the prompts of its turns.
func randomLoop(r *rand.Rand, turns int) [][]Block {
	kinds := []conversation.BlockKind{conversation.KindText, conversation.KindToolUse, conversation.KindToolResult, conversation.KindMedia}
	var out [][]Block
	blocks := []Block{piece(TierTools, conversation.KindOpaque, "tool", r.IntN(2000)), piece(TierSystem, conversation.KindText, "system", r.IntN(4000))}
	for range turns {
		for range 1 + r.IntN(30) {
			blocks = append(blocks, piece(TierMessages, kinds[r.IntN(len(kinds))], fmt.Sprint("block ", len(blocks)), r.IntN(900)))
		}
		out = append(out, slices.Clone(blocks))
	}
	return out
}

func randomMarks(r *rand.Rand, n int) []Mark {
	var out []Mark
	for range r.IntN(5) {
		at := r.IntN(n)
		if !slices.ContainsFunc(out, func(m Mark) bool { return m.Block == at }) {
			out = append(out, Mark{Block: at, TTL: TTL5m})
		}
	}
	slices.SortFunc(out, func(a, b Mark) int { return a.Block - b.Block })
	return out
}

func loopRequests(t testing.TB, loop [][]Block, counting Counting, marks func(turn int) []Mark) []Request {
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5", counting)
	var out []Request
	for i, blocks := range loop {
		out = append(out, Request{Prompt: marked(blocks, marks(i)...), Rules: rules, Price: price, Start: time.Duration(i) * 20 * time.Second})
	}
	return out
}

// bound is the largest prefix that each turn of an append-only loop can read.
func bound(loop [][]Block, least int) []int {
	out := make([]int, len(loop))
	for i := 1; i < len(loop); i++ {
		sum := 0
		for _, b := range loop[i-1] {
			sum += b.Tokens
		}
		if sum >= least {
			out[i] = sum
		}
	}
	return out
}

func TestPlacementsOfAppendOnlyLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 60 {
		counting := []Counting{CountingRaw, CountingCollapsed}[trial%2]
		loop := randomLoop(r, 6)
		anchored := loopRequests(t, loop, counting, func(i int) []Mark {
			if i == 0 {
				return short(len(loop[0]) - 1)
			}
			return short(len(loop[i-1])-1, len(loop[i])-1)
		})
		best := mustRun(t, anchored)
		// A loop whose first prompt is too small to be cached is anchored where nothing was written; then the window decides.
		top := bound(loop, 512)
		for i, o := range best.Outcomes {
			if o.Read != top[i] {
				t.Errorf("trial %d, turn %d: the anchored placement reads %d tokens, the most is %d", trial, i, o.Read, top[i])
			}
		}
		for range 20 {
			other := mustRun(t, loopRequests(t, loop, counting, func(i int) []Mark { return randomMarks(r, len(loop[i])) }))
			for i, o := range other.Outcomes {
				if o.Read > top[i] {
					t.Errorf("trial %d, turn %d: read %d tokens of at most %d", trial, i, o.Read, top[i])
				}
			}
		}
	}
}

// TestOptimumIsTheBest tries every placement of up to three marks on small loops.
func TestOptimumIsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5", CountingRaw)
	window := *rules
	window.Window = 2
	for range 5 {
		var loop [][]Block
		var blocks []Block
		for turn := range 3 {
			for range 1 + r.IntN(3) {
				blocks = append(blocks, piece(TierMessages, conversation.KindText, fmt.Sprint(turn, len(blocks)), 300+r.IntN(900)))
			}
			loop = append(loop, slices.Clone(blocks))
		}
		replay := &Replay{}
		for i, b := range loop {
			replay.Turns = append(replay.Turns, Turn{Prompt: marked(b), Rules: &window, Price: price, Start: time.Duration(i) * 20 * time.Second})
		}
		want := 0
		for _, n := range replay.Optimum(TTL5m, false) {
			want += n
		}
		best := 0
		for a := range 1 << len(loop[0]) {
			for b := range 1 << len(loop[1]) {
				for c := range 1 << len(loop[2]) {
					sets := []int{a, b, c}
					requests := make([]Request, 3)
					legal := true
					for i, set := range sets {
						var marks []Mark
						for k := range loop[i] {
							if set&(1<<k) != 0 {
								marks = append(marks, Mark{Block: k, TTL: TTL5m})
							}
						}
						legal = legal && len(marks) <= 3
						requests[i] = Request{Prompt: marked(loop[i], marks...), Rules: &window, Price: price, Start: time.Duration(i) * 20 * time.Second}
					}
					if !legal {
						continue
					}
					report, err := Run(requests)
					if err != nil {
						t.Fatal(err)
					}
					best = max(best, report.Total.Read)
				}
			}
		}
		if best != want {
			t.Errorf("the best of all placements reads %d tokens, the computed optimum is %d", best, want)
		}
	}
}

func TestMoreMarksNeverReadLess(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		loop := randomLoop(r, 2)
		first := short(len(loop[0]) - 1)
		few := randomMarks(r, len(loop[1]))
		if len(few) > 3 {
			few = few[:3]
		}
		more := slices.Clone(few)
		if at := r.IntN(len(loop[1])); !slices.ContainsFunc(few, func(m Mark) bool { return m.Block == at }) {
			more = append(more, Mark{Block: at, TTL: TTL5m})
		}
		run := func(second []Mark) *Report {
			return mustRun(t, loopRequests(t, loop, CountingRaw, func(i int) []Mark { return [][]Mark{first, second}[i] }))
		}
		if a, b := run(few), run(more); b.Total.Read < a.Total.Read {
			t.Errorf("with %v %d tokens are read, with %v only %d", few, a.Total.Read, more, b.Total.Read)
		}
	}
}

func TestRunIsDeterministic(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	loop := randomLoop(r, 8)
	marks := make([][]Mark, len(loop))
	for i := range loop {
		marks[i] = randomMarks(r, len(loop[i]))
	}
	requests := func() []Request {
		return loopRequests(t, loop, CountingRaw, func(i int) []Mark { return marks[i] })
	}
	if diff := cmp.Diff(mustRun(t, requests()), mustRun(t, requests())); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsOutOfOrder(t *testing.T) {
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5", CountingDefault)
	p := marked(texts(1, 1000))
	for _, requests := range [][]Request{
		{{Prompt: p, Rules: rules, Price: price, Start: 2}, {Prompt: p, Rules: rules, Price: price, Start: 1}},
		{{Prompt: p, Rules: rules}},
		{{}},
	} {
		if _, err := Run(requests); err == nil {
			t.Errorf("%+v is taken", requests)
		}
	}
}

func FuzzRun(f *testing.F) {
	f.Add(body, `{"model":"claude-opus-5","messages":[]}`, uint8(0))
	f.Add(chat("gpt-5.6", 2, nil), chat("gpt-5.6", 3, nil), uint8(1))
	f.Add(`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x","cache_control":{}}]}]}]`, `[]`, uint8(2))
	registry, tables := lookUpTables(f)
	layouts := []breakpoints.Layout{breakpoints.LayoutAnthropic, breakpoints.LayoutOpenAI, breakpoints.LayoutOpenAIImplicit, breakpoints.LayoutDeepSeek, breakpoints.LayoutLiteLLM, breakpoints.LayoutBedrockInvoke, breakpoints.LayoutMoonshot}
	f.Fuzz(func(t *testing.T, one, two string, kind uint8) {
		format := conversation.FormatAnthropicMessages
		if kind&1 != 0 {
			format = conversation.FormatOpenAIChat
		}
		var requests []Request
		for i, json := range []string{one, two, one} {
			c, err := conversation.Parse(format, json, conversation.Limits{})
			if err != nil {
				continue
			}
			model := registry.Lookup(c.Model)
			rules := tables.Rules(layouts[int(kind)%len(layouts)], &model, CountingDefault)
			price := tables.Price(rules.Layout, &model, "")
			m, err := Read(c, c.Model, nil)
			if err != nil {
				t.Fatal(err)
			}
			requests = append(requests, Request{Prompt: m.Request(&rules), Rules: &rules, Price: &price, Start: time.Duration(i) * time.Minute})
		}
		mustRun(t, requests)
	})
}
