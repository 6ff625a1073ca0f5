package simulator

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

func lookUpTables(t testing.TB) (*tokens.Registry, *Tables) {
	t.Helper()
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	tables, err := NewTables(nil)
	if err != nil {
		t.Fatal(err)
	}
	return registry, tables
}

// lookUp returns the rules and the price of a model in November 2026.
func lookUp(t testing.TB, layout breakpoints.Layout, name string, counting Counting) (*Rules, *Price) {
	t.Helper()
	registry, tables := lookUpTables(t)
	model := registry.Lookup(name)
	rules, price := tables.Rules(layout, &model, counting), tables.Price(layout, &model, "2026-11-30")
	return &rules, &price
}

// piece is a block of a made-up prompt.
func piece(tier Tier, kind conversation.BlockKind, name string, size int) Block {
	role := conversation.RoleUser
	switch {
	case tier == TierSystem:
		role = conversation.RoleSystem
	case kind == conversation.KindToolUse:
		role = conversation.RoleAssistant
	}
	return Block{
		Tier: tier, Kind: kind, Hash: sha256.Sum256([]byte(name)), Tokens: size, Role: role,
		At:     breakpoints.Position{Section: conversation.Section(tier), Message: 0, Block: 0},
		source: source{tool: -1, block: &conversation.Block{Kind: kind}}, Ends: true,
	}
}

// texts are n blocks of size tokens, the kinds all distinct.
func texts(n, size int) []Block {
	kinds := []conversation.BlockKind{conversation.KindText, conversation.KindMedia}
	var out []Block
	for i := range n {
		out = append(out, piece(TierMessages, kinds[i%2], fmt.Sprint("text ", i), size))
	}
	return out
}

func marked(blocks []Block, marks ...Mark) *Prompt {
	return &Prompt{Model: "m", Blocks: blocks, Marks: marks}
}

func short(blocks ...int) (out []Mark) {
	for _, b := range blocks {
		out = append(out, Mark{Block: b, TTL: TTL5m})
	}
	return out
}

func mustRun(t testing.TB, requests []Request) *Report {
	t.Helper()
	report, err := Run(requests)
	if err != nil {
		t.Fatal(err)
	}
	for i := range report.Outcomes {
		o := &report.Outcomes[i]
		if len(o.Rejections) > 0 {
			continue
		}
		want := requests[i].Prompt.Tokens()
		if b := requests[i].Billed; b != nil && b.Prompt() > 0 {
			want = b.Prompt()
		}
		if o.Prompt() != want || o.Read < 0 || o.Write5m < 0 || o.Write1h < 0 || o.Write < 0 || o.Uncached < 0 {
			t.Errorf("request %d: %+v does not add up to the %d tokens of the prompt", i, o.Split, want)
		}
	}
	return report
}

// dollars compares amounts to a hundredth of a cent.
func dollars(t testing.TB, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.00005 {
		t.Errorf("%s costs $%.4f, want $%.4f", what, got, want)
	}
}

func TestWindowOfTwentyPositions(t *testing.T) { // worked example 1
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5-5", CountingDefault)
	all := texts(35, 1000)
	for _, c := range []struct {
		name        string
		third       []Mark
		read, write int
		cost        float64
		codes       []string
	}{
		{"the last block alone", short(34), 0, 35_000, 0.1750, []string{CodeLookbackOverflow}},
		{"with the end of the request before", short(14, 34), 15_000, 20_000, 0.1030, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := mustRun(t, []Request{
				{Prompt: marked(all[:10], short(9)...), Rules: rules, Price: price},
				{Prompt: marked(all[:15], short(14)...), Rules: rules, Price: price, Start: time.Minute},
				{Prompt: marked(all, c.third...), Rules: rules, Price: price, Start: 2 * time.Minute},
			})
			var got []Split
			var codes []string
			for _, o := range report.Outcomes {
				got = append(got, o.Split)
				for _, f := range o.Findings {
					codes = append(codes, f.Code)
				}
			}
			want := []Split{{Write5m: 10_000}, {Read: 10_000, Write5m: 5_000}, {Read: c.read, Write5m: c.write}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.codes, codes); diff != "" {
				t.Error(diff)
			}
			for i, want := range []float64{0.05, 0.027, c.cost} {
				dollars(t, fmt.Sprint("request ", i+1), report.Outcomes[i].Cost.USD, want)
			}
		})
	}
}

// The last of the results was empty when the entry was written, so the mark stood before it.
func TestAnEntryWithinARunIsMissedForWantOfAMark(t *testing.T) {
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5-5", CountingDefault)
	result := func(name string) Block { return piece(TierMessages, conversation.KindToolResult, name, 1000) }
	before := []Block{piece(TierMessages, conversation.KindText, "question", 1000), result("one"), result("two")}
	after := append(slices.Clone(before), piece(TierMessages, conversation.KindText, "answer", 1000))
	report := mustRun(t, []Request{
		{Prompt: marked(before, short(1)...), Rules: rules, Price: price},
		{Prompt: marked(after, short(3)...), Rules: rules, Price: price, Start: time.Minute},
	})
	got := report.Outcomes[1]
	if got.Read != 0 || len(got.Findings) != 1 || got.Findings[0].Code != CodeNoMarker || !strings.Contains(got.Findings[0].Detail, "within a run") {
		t.Errorf("read %d, findings %+v", got.Read, got.Findings)
	}
}

func TestMixedLives(t *testing.T) { // worked example 2
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-sonnet-5-5", CountingDefault)
	block := func(name string, size int) Block { return piece(TierMessages, conversation.KindText, name, size) }
	head, middle, next, last := block("head", 12_000), block("middle", 24_000), block("next", 2_000), block("last", 2_000)
	requests := func(headTTL time.Duration) []Request {
		marks := func(last int) []Mark { return []Mark{{Block: 0, TTL: headTTL}, {Block: last, TTL: TTL5m}} }
		return []Request{
			{Prompt: marked([]Block{head, middle, block("tail", 500)}, marks(1)...), Rules: rules, Price: price},
			{Prompt: marked([]Block{head, middle, next}, marks(2)...), Rules: rules, Price: price, Start: 4 * time.Minute},
			{Prompt: marked([]Block{head, middle, next, last}, marks(3)...), Rules: rules, Price: price, Start: 24 * time.Minute},
		}
	}
	report := mustRun(t, requests(TTL1h))
	want := []Split{
		{Write1h: 12_000, Write5m: 24_000, Uncached: 500},
		{Read: 36_000, Write5m: 2_000},
		{Read: 12_000, Write5m: 28_000},
	}
	for i, cost := range []float64{0.1090, 0.0086, 0.0712} {
		if diff := cmp.Diff(want[i], report.Outcomes[i].Split); diff != "" {
			t.Errorf("request %d: %s", i, diff)
		}
		dollars(t, fmt.Sprint("request ", i), report.Outcomes[i].Cost.USD, cost)
	}
	if f := report.Outcomes[2].Findings; len(f) != 1 || f[0].Code != CodeTTLExpired || f[0].TokensLost != 26_000 {
		t.Errorf("the expired entry is reported as %+v", f)
	}
	all5m := mustRun(t, requests(TTL5m))
	dollars(t, "the third request with 5m marks alone", all5m.Outcomes[2].Cost.USD, 0.1)
}

func TestWhatReadsKeepAlive(t *testing.T) {
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5", CountingDefault)
	fixed := *rules
	fixed.FixedMarks = true
	block := func(name string) Block { return piece(TierMessages, conversation.KindText, name, 1_000) }
	a, b, c, d := block("a"), block("b"), block("c"), block("d")
	const minute = time.Minute
	for _, x := range []struct {
		name     string
		rules    *Rules
		requests []Request
		want     []int // what each reads
	}{
		{"a hit by looking back", rules, []Request{
			{Prompt: marked([]Block{a}, short(0)...)},
			{Prompt: marked([]Block{a, b}, short(1)...), Start: 4 * minute},
			{Prompt: marked([]Block{a, c}, short(1)...), Start: 8 * minute},
		}, []int{0, 1_000, 1_000}},
		{"nothing but time", rules, []Request{
			{Prompt: marked([]Block{a}, short(0)...)},
			{Prompt: marked([]Block{a, b}, short(1)...), Start: 5 * minute},
		}, []int{0, 0}},
		{"a mark below the hit", rules, []Request{
			{Prompt: marked([]Block{a, b}, short(0, 1)...)},
			{Prompt: marked([]Block{a, b}, short(0, 1)...), Start: 4 * minute},
			{Prompt: marked([]Block{a, c}, short(0, 1)...), Start: 8 * minute},
		}, []int{0, 2_000, 1_000}},
		{"a mark below the hit, where only the hit is refreshed", &fixed, []Request{
			{Prompt: marked([]Block{a, b}, short(0, 1)...)},
			{Prompt: marked([]Block{a, b}, short(0, 1)...), Start: 4 * minute},
			{Prompt: marked([]Block{a, c}, short(0, 1)...), Start: 8 * minute},
		}, []int{0, 2_000, 0}},
		{"an hour's mark on an entry of five minutes keeps its life", rules, []Request{
			{Prompt: marked([]Block{a}, short(0)...)},
			{Prompt: marked([]Block{a}, Mark{Block: 0, TTL: TTL1h}), Start: minute},
			{Prompt: marked([]Block{a, d}, Mark{Block: 1, TTL: TTL1h}), Start: 10 * minute},
		}, []int{0, 1_000, 0}},
	} {
		t.Run(x.name, func(t *testing.T) {
			for i := range x.requests {
				x.requests[i].Rules, x.requests[i].Price = x.rules, price
			}
			var got []int
			for _, o := range mustRun(t, x.requests).Outcomes {
				got = append(got, o.Read)
			}
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// steps is the conversation of worked example 3: 12 parallel calls in every step, one message for each result.
func steps(requests int) (prompts [][]Block, ends []int) {
	blocks := []Block{
		piece(TierTools, conversation.KindOpaque, "tools", 5_000), piece(TierSystem, conversation.KindText, "system", 5_000),
		piece(TierMessages, conversation.KindText, "user", 200),
	}
	for r := range requests {
		prompts, ends = append(prompts, blocks[:len(blocks):len(blocks)]), append(ends, len(blocks)-1)
		blocks = append(blocks,
			piece(TierMessages, conversation.KindThinking, fmt.Sprint("thinking ", r), 300),
			piece(TierMessages, conversation.KindText, fmt.Sprint("text ", r), 300))
		for i := range 12 {
			blocks = append(blocks, piece(TierMessages, conversation.KindToolUse, fmt.Sprint("call ", r, i), 80))
		}
		for i := range 12 {
			blocks = append(blocks, piece(TierMessages, conversation.KindToolResult, fmt.Sprint("result ", r, " ", i), 500))
		}
	}
	return prompts, ends
}

func TestParallelCallsUnderThreePlacements(t *testing.T) { // worked example 3
	systemAnd3 := func(ends []int, r int) []Mark {
		if r == 0 {
			return short(1, ends[0])
		}
		return short(1, ends[r]-2, ends[r]-1, ends[r])
	}
	anchor := func(ends []int, r int) []Mark {
		if r == 0 {
			return short(0, 1, ends[0])
		}
		return short(0, 1, ends[r-1], ends[r])
	}
	none := func([]int, int) []Mark { return nil }
	for _, c := range []struct {
		name     string
		model    string
		counting Counting
		place    func([]int, int) []Mark
		want     Split
		cost     float64
	}{
		{"system and 3, raw", "claude-sonnet-5-5", CountingRaw, systemAnd3, Split{Read: 290_000, Write5m: 3_304_600}, 8.29},
		{"none", "claude-sonnet-5-5", CountingRaw, none, Split{Uncached: 3_594_600}, 7.19},
		{"anchor, raw", "claude-sonnet-5-5", CountingRaw, anchor, Split{Read: 3_365_160, Write5m: 229_440}, 0.91},
		{"system and 3, collapsed", "claude-sonnet-5-5", CountingCollapsed, systemAnd3, Split{Read: 3_365_160, Write5m: 229_440}, 0.91},
		{"anchor, collapsed", "claude-sonnet-5-5", CountingCollapsed, anchor, Split{Read: 3_365_160, Write5m: 229_440}, 0.91},
		{"system and 3, raw, Sonnet 4.6", "claude-sonnet-4-6", CountingRaw, systemAnd3, Split{Read: 290_000, Write5m: 3_304_600}, 12.48},
		{"none, Sonnet 4.6", "claude-sonnet-4-6", CountingRaw, none, Split{Uncached: 3_594_600}, 10.78},
		{"anchor, raw, Sonnet 4.6", "claude-sonnet-4-6", CountingRaw, anchor, Split{Read: 3_365_160, Write5m: 229_440}, 1.87},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, price := lookUp(t, breakpoints.LayoutAnthropic, c.model, c.counting)
			prompts, ends := steps(30)
			var requests []Request
			for r, blocks := range prompts {
				requests = append(requests, Request{
					Prompt: marked(blocks, c.place(ends, r)...), Rules: rules, Price: price, Start: time.Duration(r) * 20 * time.Second,
				})
			}
			report := mustRun(t, requests)
			if diff := cmp.Diff(c.want, report.Total); diff != "" {
				t.Error(diff)
			}
			if got := math.Round(report.Cost.USD*100) / 100; got != c.cost {
				t.Errorf("costs $%.2f, want $%.2f", got, c.cost)
			}
		})
	}
}

func TestConcurrentRequests(t *testing.T) { // worked example 4
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-haiku-5-5", CountingDefault)
	worker := func(at time.Duration) Request {
		return Request{Prompt: marked([]Block{piece(TierSystem, conversation.KindText, "shared", 20_000)}, short(0)...), Rules: rules, Price: price, Start: at}
	}
	together := mustRun(t, []Request{worker(0), worker(0), worker(0), worker(0), worker(0)})
	if got := together.Total; got.Write5m != 100_000 || got.Read != 0 {
		t.Errorf("five at once: %+v, want five writes", got)
	}
	dollars(t, "five at once", together.Cost.USD, 0.0125)
	if f := together.Outcomes[1].Findings; len(f) != 1 || f[0].Code != CodeNotVisibleYet {
		t.Errorf("findings %+v, want %s", f, CodeNotVisibleYet)
	}
	after := 2 * time.Second
	staggered := mustRun(t, []Request{worker(0), worker(after), worker(after), worker(after), worker(after)})
	if got := staggered.Total; got.Write5m != 20_000 || got.Read != 80_000 {
		t.Errorf("one and four: %+v, want one write", got)
	}
	dollars(t, "one and four", staggered.Cost.USD, 0.0033)
}

func TestLongPromptsCostMore(t *testing.T) { // worked example 4, step check
	_, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-haiku-5-5", CountingDefault)
	dollars(t, "100,000 read tokens", price.Cost(Split{Read: 100_000}).USD, 0.0010)
	dollars(t, "100,001 read tokens", price.Cost(Split{Read: 100_001}).USD, 0.0050)
}

func TestPricesHaveDates(t *testing.T) {
	registry, tables := lookUpTables(t)
	model := registry.Lookup("anthropic/claude-sonnet-5.5")
	for day, read := range map[string]float64{"2026-10-06": 0.20, "2026-10-07": 0.10, "": 0.10, "2020-01-01": 0.20} {
		if got := tables.Price(breakpoints.LayoutAnthropic, &model, day); got.Read != read || got.Relative {
			t.Errorf("on %q a read costs %v, want %v", day, got.Read, read)
		}
	}
	own, err := tables.WithPrices([]byte(`[{"models":["claude-sonnet-5-5"],"input":7,"read":1,"write_5m":8,"write_1h":14,"date":"2026-12-01","source":"contract"}]`))
	if err != nil {
		t.Fatal(err)
	}
	if got := own.Price(breakpoints.LayoutAnthropic, &model, ""); got.Input != 7 {
		t.Errorf("the own price is not used: %+v", got)
	}
	if rules := own.Rules(breakpoints.LayoutAnthropic, &model, CountingDefault); rules.MinTokens != 512 || own.Layouts() == nil {
		t.Errorf("with own prices the rules are %+v", rules)
	}
	own, err = tables.WithPrices([]byte(`[{"models":["acme/otter-1"],"input":3,"read":0.3,"write":3,"date":"2026-12-01"}]`))
	if err != nil {
		t.Fatal(err)
	}
	unknown := registry.Lookup("acme/otter-1")
	if got := own.Price(breakpoints.LayoutUnset, &unknown, ""); got.Input != 3 || got.Relative {
		t.Errorf("the price of a model that the registry does not know: %+v", got)
	}
	for row, want := range map[string]string{
		`{"models":["x"],"input":-1,"date":"2026-12-01"}`:              "a rate of -1",
		`{"models":["x"],"input":1,"reed":1,"date":"2026-12-01"}`:      `unknown field "reed"`,
		`{"models":["x"],"input":1,"date":"December"}`:                 `the date "December"`,
		`{"models":[],"input":1,"date":"2026-12-01"}`:                  "no models",
		`{"models":["x"],"input":"cheap","date":"2026-12-01"}`:         "row 1",
		`{"models":["x"],"input":1,"long_over":1,"date":"2026-12-01"}`: "uncached input must have a price",
	} {
		_, err := tables.WithPrices([]byte(`[{"models":["y"],"input":1,"date":"2026-12-01"},` + row + `]`))
		if !errors.Is(err, ErrPrices) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "row 1 (") {
			t.Errorf("%s: %v, want row 1 and %q", row, err, want)
		}
	}
	other := registry.Lookup("gpt-5.6")
	if got := tables.Price(breakpoints.LayoutOpenAI, &other, ""); !got.Relative || got.Write != 1.25 || got.Read != 0.1 {
		t.Errorf("without a price in money: %+v", got)
	}
}

// TestEveryModelHasAMinimum guards the join of rules and registry.
func TestEveryModelHasAMinimum(t *testing.T) {
	for name, want := range map[string]int{
		"claude-opus-5-5": 512, "claude-sonnet-5": 1024, "claude-opus-4-7": 2048, "claude-haiku-4-5": 4096, "us.anthropic.claude-sonnet-4-5-20250929-v1:0": 1024,
	} {
		if rules, _ := lookUp(t, breakpoints.LayoutAnthropic, name, CountingDefault); rules.MinTokens != want {
			t.Errorf("%s caches from %d tokens, want %d", name, rules.MinTokens, want)
		}
	}
}

func TestAPriceKnowsWhatCallsOfAModelCost(t *testing.T) {
	_, haiku := lookUp(t, breakpoints.LayoutAnthropic, "claude-haiku-5-5", CountingDefault)
	_, unknown := lookUp(t, breakpoints.LayoutAnthropic, "gpt-4o", CountingDefault)
	priced := Price{Rates: Rates{Input: 2}}
	for _, tt := range []struct {
		name                    string
		price                   *Price
		calls, prompts, answers int
		usd                     float64
		known                   bool
	}{
		{"input and output", haiku, 1, 100_000, 10_000, 0.015, true},
		{"a prompt above the step", haiku, 1, 200_000, 10_000, 0.125, true},
		{"two prompts below it", haiku, 2, 200_000, 10_000, 0.025, true},
		{"no price in money", unknown, 1, 1_000, 0, 0, false},
		{"no price of what was written", &priced, 1, 1_000, 1, 0, false},
		{"nothing was written", &priced, 1, 1_000, 0, 0.002, true},
	} {
		usd, known := tt.price.Call(tt.calls, tt.prompts, tt.answers)
		if math.Abs(usd-tt.usd) > 1e-12 || known != tt.known {
			t.Errorf("%s: %v dollars, known %v, want %v and %v", tt.name, usd, known, tt.usd, tt.known)
		}
	}
}
