package breakpoints

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// judge says why a provider would refuse a request for its marks, by looking at the
// JSON alone. The rejections are those of the provider's page: more than four marks,
// the automatic one included; a longer life after a shorter one; a mark on blank
// text, on thinking, on a deferred tool, inside a tool result or deeper, on a message
// object; an automatic mark that differs from the one on the last block.
type judge struct {
	format   conversation.Format
	count    int
	short    bool
	problems []string
	code     map[string]bool // ids of calls made by code execution
	last     string          // life of a mark on the last block of all
}

func (j *judge) problem(format string, args ...any) {
	j.problems = append(j.problems, fmt.Sprintf(format, args...))
}

func marked(v map[string]any) (map[string]any, bool) {
	mark, ok := v["cache_control"].(map[string]any)
	if !ok {
		mark, ok = v["prompt_cache_breakpoint"].(map[string]any)
	}
	return mark, ok
}

func ttlOf(mark map[string]any) string {
	if mark["ttl"] == "1h" {
		return "1h"
	}
	return "5m"
}

func (j *judge) see(mark map[string]any) {
	j.count++
	if long := ttlOf(mark) == "1h"; long && j.short {
		j.problem("order")
	} else {
		j.short = j.short || !long
	}
}

func problemsOf(t testing.TB, format conversation.Format, src string) []string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(src), &doc); err != nil {
		t.Fatal(err)
	}
	body, isBody := doc.(map[string]any)
	if !isBody {
		body = map[string]any{"messages": doc}
	}
	j := &judge{format: format, code: map[string]bool{}}
	tools, _ := body["tools"].([]any)
	for _, e := range tools {
		tool, _ := e.(map[string]any)
		if mark, ok := marked(tool); ok {
			j.see(mark)
			if tool["defer_loading"] == true {
				j.problem("deferred")
			}
		}
	}
	if format == anthropic {
		j.content(body["system"])
		j.last = "" // a request without messages is refused anyway
	}
	messages, _ := body["messages"].([]any)
	for _, e := range messages {
		m, _ := e.(map[string]any)
		j.last = ""
		j.content(m["content"])
		if mark, ok := marked(m); ok {
			j.see(mark)
			j.problem("message object")
		}
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			if call, ok := c.(map[string]any); ok && call["cache_control"] != nil {
				j.count++
				j.problem("call")
			}
		}
	}
	if mark, ok := body["cache_control"].(map[string]any); ok {
		j.see(mark)
		if j.last != "" && j.last != ttlOf(mark) {
			j.problem("automatic differs from the last block")
		}
	}
	if j.count > 4 {
		j.problem("too many")
	}
	return j.problems
}

func (j *judge) content(v any) {
	blocks, _ := v.([]any)
	for i, e := range blocks {
		b, ok := e.(map[string]any)
		if !ok {
			continue
		}
		caller, _ := b["caller"].(map[string]any)
		kind, _ := caller["type"].(string)
		id, isTool := b["tool_use_id"].(string)
		if b["type"] == "tool_use" || b["type"] == "server_tool_use" {
			id, isTool = b["id"].(string)
			j.code[id] = strings.HasPrefix(kind, "code_execution")
		}
		if nested, ok := b["content"].([]any); ok {
			for _, n := range nested {
				if part, ok := n.(map[string]any); ok {
					if mark, ok := marked(part); ok {
						j.see(mark)
						j.problem("nested")
					}
				}
			}
		}
		mark, ok := marked(b)
		if !ok {
			continue
		}
		j.see(mark)
		if i == len(blocks)-1 {
			j.last = ttlOf(mark)
		}
		text, _ := b["text"].(string)
		switch {
		case b["type"] == "text" && strings.TrimSpace(text) == "":
			j.problem("blank")
		case b["type"] == "thinking" || b["type"] == "redacted_thinking":
			j.problem("thinking")
		case j.format == anthropic && isTool && j.code[id]:
			j.problem("programmatic")
		case j.format == openAI && b["type"] != "text":
			j.problem("not text")
		}
	}
}

// everyWay are all layouts that fit a form, with every strategy.
func everyWay(format conversation.Format) []Options {
	layouts := []Layout{LayoutAnthropic, LayoutBedrockInvoke, LayoutVertex, LayoutMiniMax, LayoutGemini}
	if format == openAI {
		layouts = []Layout{LayoutOpenRouter, LayoutLiteLLM, LayoutAlibaba, LayoutOpenAI, LayoutOpenAIImplicit}
	}
	var out []Options
	for i, l := range layouts {
		for s := range strategies {
			if s == StrategyNone && i > 0 || s != StrategySystemAnd3 && i == len(layouts)-1 {
				continue // the layout does not matter, or the strategy
			}
			out = append(out, Options{Layout: l, Strategy: s, Model: "some-model"})
		}
	}
	return out
}

// vary turns the other options on and off.
func vary(r *rand.Rand, o Options) Options {
	o.TTL = TTL(r.IntN(2))
	o.RetryAnchor = r.IntN(2) == 0
	o.SplitSystem = r.IntN(3) == 0
	o.LeaveNewestUserUnmarked = r.IntN(4) == 0
	o.HeadMessages = []int{0, 0, 5}[r.IntN(3)]
	if r.IntN(3) == 0 {
		o.Reserved = r.IntN(5)
	}
	return o
}

// sprinkle puts marks on random places of a conversation, legal or not.
func sprinkle(r *rand.Rand, c *conversation.Conversation) string {
	rw := conversation.NewRewrite(c)
	ttl := func() string { return []string{"", "1h", "5m"}[r.IntN(3)] }
	for range r.IntN(8) {
		switch k := r.IntN(8); {
		case k == 0 && len(c.Tools) > 0:
			rw.MarkTool(r.IntN(len(c.Tools)), ttl())
		case k == 1 && c.System != nil && len(c.System.Blocks) > 0:
			rw.MarkSystem(r.IntN(len(c.System.Blocks)), ttl())
		case k == 2 && !c.Bare && r.IntN(2) == 0:
			rw.MarkAuto(ttl())
		case len(c.Messages) > 0:
			i := r.IntN(len(c.Messages))
			if k < 6 { // near the end
				i = len(c.Messages) - 1 - r.IntN(min(6, len(c.Messages)))
			}
			if len(c.Messages[i].Blocks) == 0 {
				continue
			}
			ref := conversation.Ref{Message: i, Block: r.IntN(len(c.Messages[i].Blocks))}
			if parts := c.At(ref).Result; len(parts) > 0 && r.IntN(2) == 0 {
				rw.MarkPart(ref, r.IntN(len(parts)), ttl())
			} else {
				rw.MarkBlock(ref, ttl())
			}
		}
	}
	return rw.Render()
}

// checkLegal verifies what must hold for every layout and strategy: nothing a
// provider refuses, what was reserved stays free, every mark is reported, a second
// pass changes nothing, and nothing but marks and splits differs.
func checkLegal(t testing.TB, format conversation.Format, src string, opts Options) {
	t.Helper()
	c := parse(t, format, src)
	res, err := Place(c, opts)
	if err != nil {
		t.Fatalf("Place: %v", err)
	}
	out := res.Rewrite.Render()
	if problems := problemsOf(t, format, out); len(problems) > 0 {
		t.Errorf("refused by the provider: %v", problems)
	}
	marks := marksIn(t, format, out)
	if len(marks) > max(0, MaxMarks-opts.Reserved) {
		t.Errorf("%d marks with %d reserved: %v", len(marks), opts.Reserved, marks)
	}
	if len(marks) != len(res.Breakpoints) {
		t.Errorf("%d marks, %d reported: %v, %v", len(marks), len(res.Breakpoints), marks, res.Breakpoints)
	}
	for i := range min(len(marks), len(res.Breakpoints)) {
		where, _, _ := strings.Cut(marks[i], "@")
		where, _, _ = strings.Cut(where, "#")
		if got := res.Breakpoints[i].String(); format == anthropic && got != where && where != "automatic" {
			t.Errorf("mark on %s is reported on %s", where, got)
		}
		if openai := strings.Contains(marks[i], "#openai"); openai != (opts.Layout == LayoutOpenAI) {
			t.Errorf("mark %s with layout %v", marks[i], opts.Layout)
		}
	}
	again, err := Place(parse(t, format, out), opts)
	if err != nil {
		t.Fatalf("second pass: %v", err)
	}
	if got := again.Rewrite.Render(); got != out || !again.Rewrite.Empty() {
		t.Errorf("the second pass gives other bytes:\n%v\n%v", marks, marksIn(t, format, got))
	}
	if opts.SplitSystem {
		if got, want := words(parse(t, format, out)), words(c); got != want {
			t.Error("the text changed")
		}
		return
	}
	strip := func(src string) string {
		none, err := Place(parse(t, format, src), Options{Strategy: StrategyNone})
		if err != nil {
			t.Fatal(err)
		}
		return unmarked(none.Rewrite.Render())
	}
	if got, want := strip(out), strip(src); got != want {
		t.Errorf("more than marks changed:\n got %s\nwant %s", clip(got), clip(want))
	}
}

// words is all text of a conversation, without the bounds of system blocks.
func words(c *conversation.Conversation) string {
	var sb strings.Builder
	write := func(m *conversation.Message) {
		for i := range m.Blocks {
			sb.WriteString(m.Blocks[i].Text)
			for _, part := range m.Blocks[i].Result {
				sb.WriteString(part.Text)
			}
		}
	}
	if c.System != nil {
		write(c.System)
	}
	for i := range c.Messages {
		sb.WriteString("\n--\n")
		write(&c.Messages[i])
	}
	return sb.String()
}

func TestNoPlacementIsEverRefused(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			format := formatOf(f)
			c := parse(t, format, f.JSON)
			for n, way := range everyWay(format) {
				r := rand.New(rand.NewPCG(uint64(n), uint64(len(f.JSON))))
				src := f.JSON
				if r.IntN(4) > 0 {
					src = sprinkle(r, c)
				}
				opts := vary(r, way)
				checkLegal(t, format, src, opts)
				if t.Failed() {
					t.Fatalf("way %d: %v, strategy %d, %+v", n, opts.Layout, opts.Strategy, opts)
				}
			}
		})
	}
}

func TestNoPlacementOfOddConversationsIsEverRefused(t *testing.T) {
	for seed := range uint64(3000) {
		format := []conversation.Format{anthropic, openAI}[seed%2]
		r := rand.New(rand.NewPCG(seed, 7))
		m := &maker{Rand: r, format: format}
		src := m.conversation()
		ways := everyWay(format)
		opts := vary(r, ways[r.IntN(len(ways))])
		checkLegal(t, format, src, opts)
		if t.Failed() {
			t.Fatalf("seed %d, %v, strategy %d, %+v:\n%s", seed, opts.Layout, opts.Strategy, opts, src)
		}
	}
}

// What the provider refuses is found in the input too: with existing marks to be
// respected, exactly the requests that it takes pass without a word.
func TestEveryRejectionIsFoundInTheInput(t *testing.T) {
	found := map[string]bool{}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 9))
		m := &maker{Rand: r, format: anthropic}
		src := sprinkle(r, parse(t, anthropic, m.conversation()))
		problems := problemsOf(t, anthropic, src)
		res, err := Place(parse(t, anthropic, src), Options{Existing: ExistingRespect})
		complaint := err != nil
		if err == nil {
			for _, w := range res.Warnings {
				complaint = complaint || w.Code == WarnIllegalMark || w.Code == WarnAutomaticConflict
			}
		}
		for _, p := range problems {
			found[p] = true
		}
		if len(problems) > 0 && !complaint {
			t.Fatalf("seed %d: %v was not found:\n%s", seed, problems, src)
		}
	}
	for _, p := range []string{"order", "deferred", "blank", "thinking", "nested", "programmatic", "message object", "too many", "automatic differs from the last block"} {
		if !found[p] {
			t.Errorf("the generator made no %q", p)
		}
	}
}

func FuzzStrategies(f *testing.F) {
	f.Add(chatOfFive, byte(5), uint64(1))
	f.Add(`{"system":"Be brief.\nToday's date is 2026-11-30.","tools":[{"name":"t","input_schema":{},`+mark1h+`},{"name":"d","defer_loading":true}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"r",`+mark+`}]}]}]}`, byte(3), uint64(2))
	f.Add(`[{"role":"user","content":[{"prompt_cache_breakpoint":{"mode":"explicit"},`+mark+`,"type":"text","text":"a"}]}]`, byte(27), uint64(3))
	for seed := range uint64(20) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 11)), format: []conversation.Format{anthropic, openAI}[seed%2]}
		f.Add(m.conversation(), byte(seed), seed)
	}
	f.Fuzz(func(t *testing.T, src string, way byte, seed uint64) {
		format := []conversation.Format{anthropic, openAI}[way&1]
		if _, err := conversation.Parse(format, src, conversation.Limits{}); err != nil {
			return
		}
		ways := everyWay(format)
		checkLegal(t, format, src, vary(rand.New(rand.NewPCG(seed, 1)), ways[int(way>>1)%len(ways)]))
	})
}
