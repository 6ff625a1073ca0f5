package simulator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// chat is an OpenAI chat body of n user messages with answers between them.
func chat(model string, n int, change func(string) string) string {
	var sb strings.Builder
	for i := range n {
		if i > 0 {
			fmt.Fprintf(&sb, `,{"role":"assistant","content":"answer %d"},`, i)
		}
		fmt.Fprintf(&sb, `{"role":"user","content":"question %d"}`, i)
	}
	s := `{"model":"` + model + `","messages":[{"role":"system","content":"be brief"},` + sb.String() + `]}`
	if change != nil {
		s = change(s)
	}
	return s
}

func TestAutomaticCaches(t *testing.T) {
	const size = messageSize
	same := func(s string) string { return s }
	for _, c := range []struct {
		name   string
		layout breakpoints.Layout
		model  string
		second func(string) string
		gap    time.Duration
		// what the second request of seven messages gets after a first of five
		want Split
	}{
		{"older OpenAI, rounded to 128", breakpoints.LayoutOpenAIImplicit, "gpt-4.1", same, time.Minute, Split{Read: 3_968, Uncached: 2_032}},
		{"older OpenAI after its life", breakpoints.LayoutOpenAIImplicit, "gpt-4.1", same, 6 * time.Minute, Split{Uncached: 6_000}},
		{"older OpenAI, another system prompt", breakpoints.LayoutOpenAIImplicit, "gpt-4.1", replace("be brief", "be long"), time.Minute, Split{Uncached: 6_000}},
		{"older OpenAI, another last message", breakpoints.LayoutOpenAIImplicit, "gpt-4.1", replace("question 1", "quest 1"), time.Minute, Split{Read: 2_944, Uncached: 3_056}},
		{"GPT-5.5 writes in larger steps", breakpoints.LayoutOpenAIImplicit, "gpt-5.5", same, time.Minute, Split{Read: 2_048, Uncached: 3_952}},
		{"GPT-5.6 pays for writing", breakpoints.LayoutOpenAI, "gpt-5.6", same, time.Minute, Split{Read: 4_000, Write: 2_000}},
		{"GPT-5.6 keeps half an hour", breakpoints.LayoutOpenAI, "gpt-5.6", same, 29 * time.Minute, Split{Read: 4_000, Write: 2_000}},
		{"GPT-5.6 after its life", breakpoints.LayoutOpenAI, "gpt-5.6", same, 31 * time.Minute, Split{Write: 6_000}},
		{"GPT-5.6, any parameter", breakpoints.LayoutOpenAI, "gpt-5.6", replace(`{"model"`, `{"reasoning_effort":"low","model"`), time.Minute, Split{Write: 6_000}},
		{"GPT-5.6, explicit without a breakpoint", breakpoints.LayoutOpenAI, "gpt-5.6", replace(`{"model"`, `{"prompt_cache_options":{"mode":"explicit"},"model"`), time.Minute, Split{Uncached: 6_000}},
		{"GPT-5.6, the last message is longer", breakpoints.LayoutOpenAI, "gpt-5.6", replace("question 1", "question 1 and more"), time.Minute, Split{Write: 6_000}},
		{"Gemini reads what is the same", breakpoints.LayoutGemini, "gemini-3-flash", same, time.Minute, Split{Read: 4_000, Uncached: 2_000}},
		{"Gemini Pro has a larger minimum", breakpoints.LayoutGemini, "gemini-3-pro", same, time.Minute, Split{Uncached: 6_000}},
		{"DeepSeek matches whole units", breakpoints.LayoutDeepSeek, "deepseek-chat", same, time.Hour, Split{Read: 4_000, Uncached: 2_000}},
		{"xAI", breakpoints.LayoutXAI, "grok", same, time.Minute, Split{Read: 3_968, Uncached: 2_032}},
		{"nothing known", breakpoints.LayoutUnset, "llama-3", same, time.Minute, Split{Uncached: 6_000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, price := lookUp(t, c.layout, c.model, CountingDefault)
			report := mustRun(t, []Request{
				{Prompt: readBody(t, conversation.FormatOpenAIChat, chat(c.model, 2, nil), rules), Rules: rules, Price: price},
				{Prompt: readBody(t, conversation.FormatOpenAIChat, chat(c.model, 3, c.second), rules), Rules: rules, Price: price, Start: c.gap},
			})
			if got := report.Outcomes[0].Read; got != 0 {
				t.Errorf("the first request reads %d tokens", got)
			}
			if diff := cmp.Diff(c.want, report.Outcomes[1].Split); diff != "" {
				t.Error(diff)
			}
		})
	}
	if size != 1000 {
		t.Fatal("the figures above are for 1,000 tokens a message")
	}
}

// TestWhyAnAutomaticCacheWasMissed: what the rules say of an entry that was there and was not read.
func TestWhyAnAutomaticCacheWasMissed(t *testing.T) {
	same := func(s string) string { return s }
	explicit := replace(`{"model"`, `{"prompt_cache_options":{"mode":"explicit"},"model"`)
	for _, c := range []struct {
		name   string
		layout breakpoints.Layout
		model  string
		second func(string) string
		gap    time.Duration
		want   []string
	}{
		{"older OpenAI", breakpoints.LayoutOpenAIImplicit, "gpt-4.1", same, time.Minute, nil},
		{"older OpenAI after its life", breakpoints.LayoutOpenAIImplicit, "gpt-4.1", same, 6 * time.Minute, []string{CodeTTLExpired}},
		{"older OpenAI, another system prompt after the life of the first", breakpoints.LayoutOpenAIImplicit, "gpt-4.1", replace("be brief", "be long"), 6 * time.Minute, nil},
		{"GPT-5.6", breakpoints.LayoutOpenAI, "gpt-5.6", same, time.Minute, nil},
		{"GPT-5.6 after its life", breakpoints.LayoutOpenAI, "gpt-5.6", same, 31 * time.Minute, []string{CodeTTLExpired}},
		{"GPT-5.6 at the same time", breakpoints.LayoutOpenAI, "gpt-5.6", same, 0, []string{CodeNotVisibleYet}},
		{"GPT-5.6, explicit breakpoints alone", breakpoints.LayoutOpenAI, "gpt-5.6", explicit, time.Minute, []string{CodeNoMarker}},
		{"Gemini at the same time", breakpoints.LayoutGemini, "gemini-3-flash", same, 0, []string{CodeNotVisibleYet}},
		{"Gemini Pro below its minimum", breakpoints.LayoutGemini, "gemini-3-pro", same, time.Minute, nil},
		{"DeepSeek", breakpoints.LayoutDeepSeek, "deepseek-chat", same, time.Hour, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, price := lookUp(t, c.layout, c.model, CountingDefault)
			report := mustRun(t, []Request{
				{Prompt: readBody(t, conversation.FormatOpenAIChat, chat(c.model, 2, nil), rules), Rules: rules, Price: price},
				{Prompt: readBody(t, conversation.FormatOpenAIChat, chat(c.model, 3, c.second), rules), Rules: rules, Price: price, Start: c.gap},
			})
			var got []string
			for _, f := range report.Outcomes[1].Findings {
				switch f.Code {
				case CodeTTLExpired, CodeNotVisibleYet, CodeNoMarker, CodeLookbackOverflow:
					got = append(got, f.Code)
					if f.TokensLost == 0 || f.Now.BaseTokens <= 0 || f.Evidence != EvidenceRules {
						t.Errorf("finding %+v", f)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExplicitBreakpointsOfOpenAI(t *testing.T) {
	rules, price := lookUp(t, breakpoints.LayoutOpenAI, "gpt-5.6", CountingDefault)
	mark := replace(`"content":"question 0"`, `"content":[{"type":"text","text":"question 0","prompt_cache_breakpoint":{"mode":"explicit"}}]`)
	explicit := func(s string) string {
		return replace(`{"model"`, `{"prompt_cache_options":{"mode":"explicit"},"model"`)(mark(s))
	}
	prompts := []*Prompt{
		readBody(t, conversation.FormatOpenAIChat, chat("gpt-5.6", 2, explicit), rules),
		readBody(t, conversation.FormatOpenAIChat, chat("gpt-5.6", 3, explicit), rules),
		readBody(t, conversation.FormatOpenAIChat, chat("gpt-5.6", 3, mark), rules),
	}
	var requests []Request
	for i, p := range prompts {
		requests = append(requests, Request{Prompt: p, Rules: rules, Price: price, Start: time.Duration(i) * time.Minute})
	}
	report := mustRun(t, requests)
	want := []Split{{Write: 2_000, Uncached: 2_000}, {Read: 2_000, Uncached: 4_000}, {Read: 2_000, Write: 4_000}}
	for i := range want {
		if diff := cmp.Diff(want[i], report.Outcomes[i].Split); diff != "" {
			t.Errorf("request %d: %s", i, diff)
		}
	}
}

func TestMarksOnOpenAIRoutes(t *testing.T) {
	tool := `{"model":"claude-opus-5","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},
{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"t","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}]}]}`
	message := `{"model":"claude-opus-5","messages":[{"role":"system","content":"s","cache_control":{"type":"ephemeral"}},{"role":"user","content":"u"}]}`
	for _, c := range []struct {
		name, json string
		layout     breakpoints.Layout
		written    int
		code       string
	}{
		{"OpenRouter moves the mark of a tool message to its result", tool, breakpoints.LayoutOpenRouter, 4_000, ""},
		{"LiteLLM leaves it inside, where it is refused", tool, breakpoints.LayoutLiteLLM, 0, CodeUnmarkable},
		{"LiteLLM takes a mark on the message", message, breakpoints.LayoutLiteLLM, 1_000, ""},
		{"OpenRouter loses it", message, breakpoints.LayoutOpenRouter, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules, price := lookUp(t, c.layout, "claude-opus-5", CountingDefault)
			o := mustRun(t, []Request{{Prompt: readBody(t, conversation.FormatOpenAIChat, c.json, rules), Rules: rules, Price: price}}).Outcomes[0]
			code := ""
			if len(o.Rejections) > 0 {
				code = o.Rejections[0].Code
			}
			if o.Written() != c.written || code != c.code {
				t.Errorf("wrote %d tokens, refused %q, want %d and %q", o.Written(), code, c.written, c.code)
			}
		})
	}
}

func TestTheBill(t *testing.T) {
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5", CountingDefault)
	one := []Block{piece(TierSystem, 0, "head", 10_000)}
	two := append(one[:1:1], piece(TierMessages, 0, "more", 10_000))
	long := Mark{Block: 0, TTL: TTL1h}
	report := mustRun(t, []Request{
		// The provider counts half as many tokens again.
		{Prompt: marked(one, long), Rules: rules, Price: price, Billed: &Billed{Write5m: 15_000}},
		{Prompt: marked(two, long, Mark{Block: 1, TTL: TTL5m}), Rules: rules, Price: price, Start: time.Minute, Billed: &Billed{Write5m: 30_000}},
	})
	want := []string{CodeTTLDowngraded, CodeUnexplained}
	for i, o := range report.Outcomes {
		if len(o.Findings) != 1 || o.Findings[0].Code != want[i] || o.Findings[0].Evidence != EvidenceBill {
			t.Errorf("request %d: %+v, want %s from the bill", i, o.Findings, want[i])
		}
	}
	if diff := cmp.Diff(Split{Read: 15_000, Write5m: 15_000}, report.Outcomes[1].Split); diff != "" {
		t.Errorf("scaled to the bill: %s", diff)
	}
	if report.Agreement != -1 {
		t.Errorf("agreement %v without a billed read", report.Agreement)
	}
}

func TestWritesThatNobodyReads(t *testing.T) {
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5", CountingDefault)
	var requests []Request
	for i := range 6 {
		blocks := []Block{piece(TierMessages, 0, fmt.Sprint("clock ", i), 1_000), piece(TierMessages, 0, "rest", 9_000)}
		requests = append(requests, Request{Prompt: marked(blocks, short(1)...), Rules: rules, Price: price, Start: time.Duration(i) * time.Minute})
	}
	report := mustRun(t, requests)
	found := 0
	for _, o := range report.Outcomes {
		for _, f := range o.Findings {
			if f.Code == CodeWriteNeverRead {
				found++
				if f.Now.BaseTokens != 50_000*0.25 {
					t.Errorf("cost %v, want the write fee of 50,000 tokens", f.Now.BaseTokens)
				}
			}
		}
	}
	if found != 1 {
		t.Errorf("reported %d times, want once", found)
	}
}

func TestMarksThatAreNoUse(t *testing.T) {
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5", CountingCollapsed)
	result := func(name string) Block { return piece(TierMessages, conversation.KindToolResult, name, 1_000) }
	o := mustRun(t, []Request{{Prompt: marked([]Block{result("a"), result("b")}, short(0, 1)...), Rules: rules, Price: price}}).Outcomes[0]
	if len(o.Findings) != 1 || o.Findings[0].Code != CodeWastedMarker {
		t.Errorf("two marks in one run: %+v", o.Findings)
	}
	o = mustRun(t, []Request{{Prompt: marked([]Block{piece(TierMessages, 0, "small", 500)}, short(0)...), Rules: rules, Price: price}}).Outcomes[0]
	if len(o.Findings) != 1 || o.Findings[0].Code != CodeBelowMinimum || !o.Marks[0].Inert || o.Uncached != 500 || !strings.Contains(o.Findings[0].Detail, "12 fewer") {
		t.Errorf("a mark below the minimum: %+v %+v", o.Split, o.Findings)
	}
	rules, price = lookUp(t, breakpoints.LayoutAnthropic, "claude-haiku-5-5", CountingDefault)
	o = mustRun(t, []Request{{Prompt: marked([]Block{piece(TierMessages, 0, "large", 100_500)}, short(0)...), Rules: rules, Price: price}}).Outcomes[0]
	if len(o.Findings) != 1 || o.Findings[0].Code != CodePriceStep || o.Findings[0].Fix != "drop 500 tokens" {
		t.Errorf("a prompt above the step: %+v", o.Findings)
	}
	two := []Block{piece(TierSystem, 0, "s", 2_000), piece(TierMessages, 0, "m", 2_000)}
	report := mustRun(t, []Request{
		{Prompt: marked(two, short(1)...), Rules: rules, Price: price},
		{Prompt: marked(two), Rules: rules, Price: price, Start: time.Minute},
		{Prompt: marked(two, short(0)...), Rules: rules, Price: price, Start: 2 * time.Minute},
		{Prompt: marked(two, short(1)...), Rules: rules, Price: price, Start: 3 * time.Minute, Scope: "another"},
	})
	for i, want := range []string{"", CodeNoMarker, CodeNoMarker, CodeScopeChanged} {
		got := ""
		if f := report.Outcomes[i].Findings; len(f) > 0 {
			got = f[0].Code
		}
		if got != want {
			t.Errorf("request %d: found %q, want %q", i, got, want)
		}
	}
}
