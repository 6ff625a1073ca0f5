package breakpoints

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
)

// predictionOf places with 1,000 tokens for the system prompt and for each message, in equal parts for their blocks.
func predictionOf(t *testing.T, format conversation.Format, src string, opts Options) *Usage {
	t.Helper()
	c, err := conversation.Parse(format, src, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	opts.Tokens = &TokenCounts{Messages: make([]int, len(c.Messages)), MessageBlocks: make([][]int, len(c.Messages))}
	if len(c.Tools) > 0 {
		opts.Tokens.Tools = 1000
	}
	if c.System != nil {
		opts.Tokens.System = 1000
	}
	for i := range c.Messages {
		opts.Tokens.Messages[i] = 1000
		for range c.Messages[i].Blocks {
			opts.Tokens.MessageBlocks[i] = append(opts.Tokens.MessageBlocks[i], 1000/len(c.Messages[i].Blocks))
		}
	}
	res, err := Place(c, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res.Usage
}

func TestPredictions(t *testing.T) {
	claude := Options{Model: "claude-opus-5"}
	with := func(strategy Strategy, change func(*Options)) Options {
		o := claude
		o.Strategy = strategy
		if change != nil {
			change(&o)
		}
		return o
	}
	marked := strings.Replace(native(staticAlone, "", "u a u"), `"text":"u 0"`, `"text":"u 0","cache_control":{"type":"ephemeral","ttl":"1h"}`, 1)
	marked = strings.Replace(marked, `"text":"u 2"`, `"text":"u 2","cache_control":{"type":"ephemeral"}`, 1)
	tests := []struct {
		name   string
		in     string
		opts   Options
		want   Usage
		format conversation.Format
	}{
		{"the first request writes all of it", native(staticAlone, "", "u"), claude, Usage{Prompt: 2000, Write5m: 2000, Basis: BasisFirst}, anthropic},
		{"for an hour", native(staticAlone, "", "u"), with(StrategySystemAnd3, func(o *Options) { o.TTL = TTL1h }), Usage{Prompt: 2000, Write1h: 2000, Basis: BasisFirst}, anthropic},
		{"the second reads the first", native(staticAlone, "", "u a u"), claude, Usage{Prompt: 4000, Read: 2000, Write5m: 2000, Basis: BasisAnchor}, anthropic},
		{"several messages of the model are one answer", native(staticAlone, "", "u a a u"), claude, Usage{Prompt: 5000, Read: 2000, Write5m: 3000, Basis: BasisAnchor}, anthropic},
		{"what the model says first answers nobody", native(staticAlone, "", "a u"), claude, Usage{Prompt: 3000, Write5m: 3000, Basis: BasisFirst}, anthropic},
		{"a run of calls is one position", native(staticAlone, "", "u c30 r30"), claude, Usage{Prompt: 4000, Read: 2000, Write5m: 2000, Basis: BasisAnchor}, anthropic},
		{"where it is not, the end of the previous request is out of the window", native(staticAlone, "", "u a u c30 r30"), with(StrategySystemAnd3, func(o *Options) { o.Layout, o.Reserved = LayoutVertex, 2 }), Usage{Prompt: 6000, Read: 1000, Write5m: 5000, Basis: BasisAnchor}, anthropic},
		{"an anchor finds it", native(staticAlone, "", "u a u c30 r30"), with(StrategyAnchored, func(o *Options) { o.Layout, o.Reserved = LayoutVertex, 2 }), Usage{Prompt: 6000, Read: 4000, Write5m: 2000, Basis: BasisAnchor}, anthropic},
		{"too small to be cached", native(staticAlone, "", "u a u"), with(StrategySystemAnd3, func(o *Options) { o.Layout, o.Model = LayoutAnthropic, "claude-opus-4-5" }), Usage{Prompt: 4000, Uncached: 4000, Basis: BasisAnchor}, anthropic},
		{"a mark on the system prompt only", native(staticAlone, "", "u a u"), with(StrategySystemOnly, nil), Usage{Prompt: 4000, Read: 1000, Uncached: 3000, Basis: BasisAnchor}, anthropic},
		{"the automatic mode", native(staticAlone, "", "u a u"), with(StrategyAutoPlusSystem, nil), Usage{Prompt: 4000, Read: 2000, Write5m: 2000, Basis: BasisAnchor}, anthropic},
		{"the newest request left unmarked", native(staticAlone, "", "u a u a u"), with(StrategySystemAnd3, func(o *Options) { o.LeaveNewestUserUnmarked = true }), Usage{Prompt: 6000, Read: 3000, Write5m: 2000, Uncached: 1000, Basis: BasisAnchor}, anthropic},
		{"existing marks of two lives", marked, with(StrategySystemAnd3, func(o *Options) { o.Existing = ExistingRespect }), Usage{Prompt: 4000, Read: 2000, Write5m: 2000, Basis: BasisAnchor}, anthropic},
		{"a compaction hides what stands before it", native(staticAlone, "", "u a u K u"), with(StrategyAnchored, nil), Usage{Prompt: 3000, Read: 1000, Write5m: 2000, Basis: BasisAnchor}, anthropic},
		{"a layout without marks reads the longest prefix", native(staticAlone, "", "u a u a u"), Options{Layout: LayoutGemini, Model: "gemini-3-flash"}, Usage{Prompt: 6000, Read: 4000, Uncached: 2000, Basis: BasisAnchor}, anthropic},
		{"from its minimum on", native(staticAlone, "", "u a u"), Options{Layout: LayoutGemini, Model: "gemini-3-pro"}, Usage{Prompt: 4000, Uncached: 4000, Basis: BasisAnchor}, anthropic},
		{"nothing is known of Moonshot", native(staticAlone, "", "u a u"), Options{Layout: LayoutMoonshot}, Usage{Prompt: 4000, Uncached: 4000, Basis: BasisFirst}, anthropic},
		{"in steps", chat, Options{Layout: LayoutOpenAIImplicit, Model: "gpt-5.5"}, Usage{Prompt: 5000, Read: 2048, Uncached: 2952, Basis: BasisAnchor}, openAI},
		{"in smaller steps", chat, Options{Layout: LayoutOpenAIImplicit, Model: "gpt-5.4"}, Usage{Prompt: 5000, Read: 2944, Uncached: 2056, Basis: BasisAnchor}, openAI},
		{"a mark at the end that the provider sets", chat, Options{Layout: LayoutOpenAI, Model: "gpt-5.6"}, Usage{Prompt: 5000, Read: 3000, Write: 2000, Basis: BasisAnchor}, openAI},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(&tt.want, predictionOf(t, tt.format, tt.in, tt.opts)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const chat = `[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"},{"role":"user","content":"d"}]`

// The state knows of requests that the messages do not show.
func TestAPredictionFollowsTheState(t *testing.T) {
	opts := Options{Strategy: StrategyAnchored, Model: "claude-opus-5"}
	first, _ := place(t, anthropic, native(staticAlone, "", "u a u"), opts)
	opts.State = first.State
	for words, want := range map[string]Usage{
		"u a u c1 r1 a u": {Prompt: 8000, Read: 4000, Write5m: 4000, Basis: BasisAnchor}, // two answers later
		"u a u":           {Prompt: 4000, Read: 4000, Basis: BasisAnchor},                // the same again
	} {
		if diff := cmp.Diff(&want, predictionOf(t, anthropic, native(staticAlone, "", words), opts)); diff != "" {
			t.Errorf("%s: %s", words, diff)
		}
	}
}

func TestWhereNothingIsKnownNothingIsPredicted(t *testing.T) {
	for name, opts := range map[string]Options{
		"strategy none": {Strategy: StrategyNone, Model: "claude-opus-5"},
		"no layout":     {Model: "deepseek-chat"},
	} {
		if u := predictionOf(t, anthropic, native(staticAlone, "", "u a u"), opts); u != nil {
			t.Errorf("%s: %+v", name, u)
		}
	}
	if res, _ := place(t, anthropic, native(staticAlone, "", "u"), Options{}); res.Usage != nil {
		t.Errorf("without counts: %+v", res.Usage)
	}
}

// A part of a message is sized by its share of the bytes where its blocks were not counted.
func TestAPartOfAMessageIsSizedByItsBytes(t *testing.T) {
	src := `[{"role":"user","content":[{"type":"text","text":"aaaaaaaaaa"},{"type":"text","text":"         \n"}]}]`
	c, err := conversation.Parse(anthropic, src, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := Place(c, Options{Tokens: &TokenCounts{Messages: []int{1001}, Estimated: true}, Layout: LayoutAnthropic})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Usage{Prompt: 1001, Write5m: 493, Uncached: 508, Basis: BasisFirst, Estimated: true}); *res.Usage != want {
		t.Errorf("%+v, want %+v", *res.Usage, want)
	}
}
