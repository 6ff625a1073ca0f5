package breakpoints

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// native writes an Anthropic body from short words, one a message: u and a are text
// of the user and of the assistant, c2 an answer with two calls, r2 their results,
// b15 a user message of fifteen texts, x a blank answer, K a compaction block. A
// capital letter (U, A) stands for some five kilobytes of text.
func native(system, tools string, words string) string {
	var messages []string
	calls := 0
	for i, w := range strings.Fields(words) {
		n := 1
		_, _ = fmt.Sscan(w[1:], &n)
		text := fmt.Sprintf("%s %d", w, i)
		if w == "U" || w == "A" {
			text = strings.Repeat("word ", 1000)
		}
		var blocks []string
		role := "assistant"
		switch w[0] {
		case 'c':
			for k := range n {
				blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":"id%d","name":"t","input":{}}`, calls+k))
			}
		case 'r':
			role = "user"
			for k := range n {
				blocks = append(blocks, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"id%d","content":"r"}`, calls+k))
			}
			calls += n
		case 'b':
			role = "user"
			for k := range n {
				blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":"b %d"}`, k))
			}
		case 'x':
			blocks = []string{`{"type":"text","text":" "}`}
		case 'K':
			blocks = []string{`{"type":"compaction","content":"what was said"}`, `{"type":"text","text":"go on"}`}
		case 'u', 'U':
			role = "user"
			fallthrough
		default:
			blocks = []string{fmt.Sprintf(`{"type":"text","text":%q}`, text)}
		}
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":[%s]}`, role, strings.Join(blocks, ",")))
	}
	body := ""
	if tools != "" {
		body += `"tools":` + tools + `,`
	}
	if system != "" {
		body += `"system":` + system + `,`
	}
	return "{" + body + `"messages":[` + strings.Join(messages, ",") + "]}"
}

// short names the marks of a body: t0 the first tool, s1 the second system block,
// 2.0 the first block of the third message, auto.
func short(marks []string) string {
	r := strings.NewReplacer("tools[", "t", "system[", "s", "messages[", "", "].content[", ".", "]", "", "automatic", "auto")
	return r.Replace(strings.Join(marks, " "))
}

const (
	twoTools    = `[{"name":"a","input_schema":{}},{"name":"b","input_schema":{}}]`
	deferred    = `[{"name":"a","input_schema":{}},{"name":"b","input_schema":{},"defer_loading":true}]`
	staticAlone = `"Be brief."`
	twoBlocks   = `[{"type":"text","text":"Be brief."},{"type":"text","text":"Today's date is 2026-11-30."}]`
	oneVolatile = `"Be brief.\nUse \u00e9 \ud83d\ude00 \"tools\".\nToday's date is 2026-11-30.\nThat is all."`
)

func TestStrategies(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		opts  Options
		want  string
		skips []string
	}{
		// Published Hermes Agent, default layout (rows CA2, CA3).
		{name: "hermes: static prefix, end of system, last two", in: native(twoBlocks, "", "u a u a u"), opts: Options{Strategy: StrategyHermesDefault}, want: "s0 s1 3.0 4.0"},
		{name: "hermes: a declared prefix", in: native(`[{"type":"text","text":"A"},{"type":"text","text":"B"},{"type":"text","text":"C"}]`, "", "u a u a u"), opts: Options{Strategy: StrategyHermesDefault, StaticSystem: "AB"}, want: "s1 s2 3.0 4.0"},
		{name: "hermes: the prompt is the prefix: one block and the last three", in: native(staticAlone, "", "u a u a u"), opts: Options{Strategy: StrategyHermesDefault, StaticSystem: "Be brief."}, want: "s0 2.0 3.0 4.0"},
		{name: "hermes: no known prefix is system and three", in: native(oneVolatile, "", "u a u a u"), opts: Options{Strategy: StrategyHermesDefault}, want: "s0 2.0 3.0 4.0", skips: []string{"system[0] NEEDS_SPLIT"}},
		{name: "hermes: a split prefix", in: native(oneVolatile, "", "u a u a u"), opts: Options{Strategy: StrategyHermesDefault, SplitSystem: true}, want: "s0 s1 3.0 4.0"},
		{name: "hermes: no system prompt", in: native("", "", "u a u a u"), opts: Options{Strategy: StrategyHermesDefault}, want: "1.0 2.0 3.0 4.0"},
		{name: "hermes: one mark left", in: native(twoBlocks, "", "u a u a u"), opts: Options{Strategy: StrategyHermesDefault, Reserved: 3}, want: "s0"},

		// Published Hermes Agent, native layout with tools (rows CA12 to CA14).
		{name: "transactions: last tool, prefix, two ends", in: native(twoBlocks, twoTools, "u c2 r2 a u c1 r1"), opts: Options{Strategy: StrategyTransactionEnds}, want: "t1 s0 3.0 6.0"},
		{name: "transactions: the next request shares an end", in: native(twoBlocks, twoTools, "u c2 r2 a u c1 r1 c3 r3"), opts: Options{Strategy: StrategyTransactionEnds}, want: "t1 s0 6.0 8.2"},
		{name: "transactions: a pending call has no end", in: native(twoBlocks, twoTools, "u c1"), opts: Options{Strategy: StrategyTransactionEnds}, want: "t1 s0"},
		{name: "transactions: a user message ends one only while it is last", in: native(twoBlocks, twoTools, "u a u"), opts: Options{Strategy: StrategyTransactionEnds}, want: "t1 s0 1.0 2.0"},
		{name: "transactions: the volatile suffix stays unmarked, and so does a system prompt without a static part", in: native(oneVolatile, twoTools, "u a"), opts: Options{Strategy: StrategyTransactionEnds}, want: "t1 1.0", skips: []string{"system[0] NEEDS_SPLIT"}},
		{name: "transactions: blank answers are no ends", in: native(twoBlocks, twoTools, "u a x u"), opts: Options{Strategy: StrategyTransactionEnds}, want: "t1 s0 1.0 3.0", skips: []string{"messages[2].content[0] EMPTY_TEXT"}},
		{name: "transactions: deferred tools are passed over", in: native(twoBlocks, deferred, "u a"), opts: Options{Strategy: StrategyTransactionEnds}, want: "t0 s0 1.0", skips: []string{"tools[1] DEFERRED_TOOL"}},
		{name: "transactions: results without a call are no end", in: native(twoBlocks, twoTools, "u a r1 r1"), opts: Options{Strategy: StrategyTransactionEnds}, want: "t1 s0 1.0"},
		{name: "transactions: no tools is the default layout", in: native(twoBlocks, "[]", "u a u a u"), opts: Options{Strategy: StrategyTransactionEnds}, want: "s0 s1 3.0 4.0"},

		{name: "anchored: one message", in: native(staticAlone, twoTools, "u"), opts: Options{Strategy: StrategyAnchored}, want: "s0 0.0"},
		{name: "anchored: the block before the last answer", in: native(staticAlone, twoTools, "u c25 r25"), opts: Options{Strategy: StrategyAnchored}, want: "s0 0.0 2.24"},
		{name: "anchored: two steps", in: native(staticAlone, "", "u c3 r3 c2 r2"), opts: Options{Strategy: StrategyAnchored}, want: "s0 2.2 4.1"},
		{name: "anchored: a paused turn", in: native(staticAlone, "", "u a a"), opts: Options{Strategy: StrategyAnchored}, want: "s0 1.0 2.0"},
		{name: "anchored: the last tool where there is no system prompt", in: native("", twoTools, "u a u"), opts: Options{Strategy: StrategyAnchored}, want: "t1 0.0 2.0"},
		{name: "anchored: nothing but messages", in: native("", "", "u a u"), opts: Options{Strategy: StrategyAnchored}, want: "0.0 2.0"},
		{name: "anchored: a head worth a mark", in: native(staticAlone, "", "U A u a u"), opts: Options{Strategy: StrategyAnchored}, want: "s0 1.0 2.0 4.0"},
		{name: "anchored: a head ends after the results of its calls", in: native(staticAlone, "", "U c1 r1 a u a u"), opts: Options{Strategy: StrategyAnchored}, want: "s0 2.0 4.0 6.0"},
		{name: "anchored: a longer head", in: native(staticAlone, "", "U A u a u a u"), opts: Options{Strategy: StrategyAnchored, HeadMessages: 4}, want: "s0 3.0 4.0 6.0"},
		{name: "anchored: a head that is not", in: native(staticAlone, "", "u a u a u"), opts: Options{Strategy: StrategyAnchored}, want: "s0 2.0 4.0", skips: []string{"messages[1].content[0] SMALL_HEAD"}},
		{name: "anchored: a compaction block", in: native(staticAlone, "", "u a u K u a u"), opts: Options{Strategy: StrategyAnchored}, want: "s0 3.0 4.0 6.0"},
		{name: "anchored: the end of the last answer for a retry", in: native(staticAlone, "", "U A u a u"), opts: Options{Strategy: StrategyAnchored, RetryAnchor: true}, want: "s0 2.0 3.0 4.0"},
		{name: "anchored: the tools where the system prompt varies", in: native(oneVolatile, twoTools, "U A u a u"), opts: Options{Strategy: StrategyAnchored}, want: "t1 s0 2.0 4.0", skips: []string{"system[0] NEEDS_SPLIT"}},
		{name: "anchored: the static part where it can be split off", in: native(oneVolatile, twoTools, "U A u a u"), opts: Options{Strategy: StrategyAnchored, SplitSystem: true}, want: "s0 1.0 2.0 4.0"},
		{name: "anchored: a grid before there is an answer", in: native(staticAlone, "", "b40 u"), opts: Options{Strategy: StrategyAnchored}, want: "s0 0.14 0.29 1.0"},
		{name: "anchored: three marks", in: native(staticAlone, "", "U A u a u"), opts: Options{Strategy: StrategyAnchored, Reserved: 1}, want: "s0 2.0 4.0"},
		{name: "anchored: two marks are the anchor and the last block", in: native(staticAlone, "", "U A u a u"), opts: Options{Strategy: StrategyAnchored, Reserved: 2}, want: "2.0 4.0"},
		{name: "anchored: one mark is the last block", in: native(staticAlone, "", "U A u a u"), opts: Options{Strategy: StrategyAnchored, Reserved: 3}, want: "4.0"},
		{name: "anchored: the newest user message unmarked", in: native(staticAlone, "", "u a u a u"), opts: Options{Strategy: StrategyAnchored, LeaveNewestUserUnmarked: true}, want: "s0 2.0 3.0", skips: []string{"messages[4] NEWEST_USER", "messages[1].content[0] SMALL_HEAD"}},

		{name: "auto: system and the automatic mode", in: native(staticAlone, twoTools, "u a u"), opts: Options{Strategy: StrategyAutoPlusSystem}, want: "s0 auto"},
		{name: "auto: the static part", in: native(twoBlocks, "", "u"), opts: Options{Strategy: StrategyAutoPlusSystem, TTL: TTL1h}, want: "s0@1h auto"},
		{name: "auto: none on this route", in: native(staticAlone, "", "u a u"), opts: Options{Strategy: StrategyAutoPlusSystem, Layout: LayoutBedrockInvoke}, want: "s0 2.0"},
		{name: "auto: not before an unmarked message", in: native(staticAlone, "", "u a u"), opts: Options{Strategy: StrategyAutoPlusSystem, LeaveNewestUserUnmarked: true}, want: "s0 1.0", skips: []string{"messages[2] NEWEST_USER"}},
		{name: "auto: one mark left", in: native(staticAlone, "", "u a u"), opts: Options{Strategy: StrategyAutoPlusSystem, Reserved: 3}, want: "s0"},

		{name: "system only", in: native(twoBlocks, twoTools, "u a u"), opts: Options{Strategy: StrategySystemOnly}, want: "s0"},
		{name: "system only: all of it is volatile", in: native(`"cwd: /tmp"`, twoTools, "u a u"), opts: Options{Strategy: StrategySystemOnly}, want: "s0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, out := place(t, anthropic, tt.in, tt.opts)
			if diff := cmp.Diff(tt.want, short(marksIn(t, anthropic, out))); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			if tt.skips != nil {
				if diff := cmp.Diff(tt.skips, skips(res)); diff != "" {
					t.Errorf("skips (-want +got):\n%s", diff)
				}
			}
			checkLegal(t, anthropic, tt.in, tt.opts)
		})
	}
}

func TestStrategiesOnOpenAIChat(t *testing.T) {
	const in = `{"tools":[{"type":"function","function":{"name":"t"}}],"messages":[{"role":"system","content":"Be brief.\nToday is Monday."},{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"},{"role":"assistant","content":"b"},{"role":"user","content":"d"}]}`
	tests := []struct {
		name string
		opts Options
		want string
	}{
		{"hermes", Options{Layout: LayoutOpenRouter, Strategy: StrategyHermesDefault}, "0.0 3.0 4.0 5.0"},
		{"hermes, split", Options{Layout: LayoutOpenRouter, Strategy: StrategyHermesDefault, SplitSystem: true}, "0.0 0.1 4.0 5.0"},
		{"transactions are the default layout where tools take no mark", Options{Layout: LayoutOpenRouter, Strategy: StrategyTransactionEnds}, "0.0 3.0 4.0 5.0"},
		{"anchored", Options{Layout: LayoutOpenRouter, Strategy: StrategyAnchored}, "0.0 3.0 5.0"},
		{"anchored, LiteLLM", Options{Layout: LayoutLiteLLM, Strategy: StrategyAnchored}, "0.0 1.0 5.0"},
		{"automatic", Options{Layout: LayoutOpenRouter, Strategy: StrategyAutoPlusSystem}, "0.0 auto"},
		{"automatic, LiteLLM", Options{Layout: LayoutLiteLLM, Strategy: StrategyAutoPlusSystem}, "0.0 5.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, out := place(t, openAI, in, tt.opts)
			if diff := cmp.Diff(tt.want, short(marksIn(t, openAI, out))); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			checkLegal(t, openAI, in, tt.opts)
		})
	}
}

func TestASplitChangesNoByteOfTheText(t *testing.T) {
	in := native(oneVolatile, "", "u")
	_, out := place(t, anthropic, in, Options{Strategy: StrategySystemOnly, SplitSystem: true})
	want := strings.Replace(in, oneVolatile, `[{"type":"text","text":"Be brief.\nUse \u00e9 \ud83d\ude00 \"tools\".\n",`+mark+`},{"type":"text","text":"Today's date is 2026-11-30.\nThat is all."}]`, 1)
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("string (-want +got):\n%s", diff)
	}
	in = native(`[{"type":"text","text":`+oneVolatile+`,"x":1}]`, "", "u")
	_, out = place(t, anthropic, in, Options{Strategy: StrategyHermesDefault, StaticSystem: "Be brief.\nUse é 😀", SplitSystem: true, Reserved: 2})
	want = strings.Replace(in, oneVolatile+`,"x":1}`, `"Be brief.\nUse \u00e9 \ud83d\ude00","x":1,`+mark+`},{"type":"text","text":" \"tools\".\nToday's date is 2026-11-30.\nThat is all.",`+mark+`}`, 1)
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestAStaticTextThatDoesNotFitIsReported(t *testing.T) {
	res, _ := place(t, anthropic, native(staticAlone, "", "u"), Options{Strategy: StrategySystemOnly, StaticSystem: "Be verbose."})
	if diff := cmp.Diff([]string{WarnStaticMismatch}, warnings(res)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestLinesThatLookVolatile(t *testing.T) {
	const head = "You are an agent.\nTools date from 2024-10-22; 50% of them work; the time is short.\n"
	for _, line := range []string{
		"Today's date is Monday.", "Current time: 12:00", "  Current date and time: x", "Today is Monday.", "Now 2026-11-30T10:00:00Z",
		"Working directory: /src", "cwd = /src", "Git status: clean", "Current branch: main",
		"now 2026-11-30 10:00", "CURRENT DAY", "git branch : x", "[100% full", "session 123e4567-e89b-12d3-a456-426614174000", "MEMORY [49% – 1,085/2,200]",
	} {
		if got := volatileLine(head + line + "\nThat is all."); got != len(head) {
			t.Errorf("%q: at %d, want %d", line, got, len(head))
		}
	}
	for _, text := range []string{
		head, "", "\n\n", "The current dates and times.", "currently, the date", "today, the update", "localtime", "a cwd or two", "git statuses: x",
		"2026-11-30", "12:30", "100% [x%]", "123e4567-e89b-12d3-a456", "the current file has a long name and no date",
	} {
		if got := volatileLine(text); got != -1 {
			t.Errorf("%q is said to change at %d", text, got)
		}
	}
}
