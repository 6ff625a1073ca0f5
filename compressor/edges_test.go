package compressor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

func codes(r *Result) []string {
	var out []string
	for _, w := range r.Report.Warnings {
		out = append(out, w.Code)
	}
	return out
}

func TestAPromptReportedWithoutItsCachedPartIsIgnored(t *testing.T) {
	c := parse(t, conversation.FormatOpenAIChat, chat("s:p", "u:"+long("text"), "a:ho", "u:"+long("text")))
	for prompt, by := range map[int]string{10: "usage ignored: 10 tokens", 200: "usage"} {
		r := compress(t, newTestEngine(t, note()), Request{Conversation: c, Model: gpt(128_000), LastUsage: &Usage{PromptTokens: prompt, MessageCount: 4}}).Report
		if !strings.HasPrefix(r.JudgedBy, by) {
			t.Errorf("%d tokens: judged by %q", prompt, r.JudgedBy)
		}
	}
}

func TestAPinnedSystemPromptGetsNoNote(t *testing.T) {
	x := long("text")
	policy := small(3, 2)
	policy.SystemNote = nil
	r := compress(t, newTestEngine(t, note()), Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, chat("s:prompt", "u:a", "a:b", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e")),
		Model:        gpt(128_000), Force: true, Policy: policy, Pinned: []int{0},
	})
	if r.Outcome != OutcomeCompressed || strings.Contains(r.Rewrite.Render(), "condensed into a context summary") {
		t.Errorf("%v: the note was appended", r.Outcome)
	}
}

func TestASummaryIsUpdatedEvenWhenPinned(t *testing.T) {
	x := long("text")
	r := compress(t, newTestEngine(t, note()), Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, chat("s:p", "u:a", "a:b", "u:"+frameSummary("## Goal\n- old", 1, "0"), "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e")),
		Model:        gpt(128_000), Force: true, Policy: small(3, 2), Pinned: []int{3},
	})
	out := parse(t, conversation.FormatOpenAIChat, r.Rewrite.Render())
	if got := roles(out); got != "s u a U u a" || r.Report.Round != 2 || !slices.Contains(codes(r), "PINNED_SUMMARY") {
		t.Errorf("%v: roles %s, round %d, warnings %v", r.Outcome, got, r.Report.Round, codes(r))
	}
}

func TestAnExplicitMaximumWinsOverTheDefaultMinimum(t *testing.T) {
	if got := mustResolve(t, Policy{SummaryMaxTokens: ptr(100)}, LayerAgent).summary(200_000, 80_000); got != 100 {
		t.Errorf("budget %d, want 100", got)
	}
}

func TestAResultLargerThanTheWindowIsWarnedOf(t *testing.T) {
	x := long("text")
	r := compress(t, newTestEngine(t, note()), Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, chat("s:p", "u:a", "a:b", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:"+strings.Repeat("word ", 2_000), "a:e")),
		Model:        gpt(1_000), Policy: small(3, 2),
	})
	if !slices.Contains(codes(r), "EXCEEDS_WINDOW") || r.Report.BindingConstraint != "the newest request" {
		t.Errorf("%v: warnings %v, binding constraint %q", r.Outcome, codes(r), r.Report.BindingConstraint)
	}
}

func TestRepairsAloneAreAResult(t *testing.T) {
	messages := []string{"s:p", "u:a", "A:c"}
	for range 50 {
		messages = append(messages, "t:c:"+long("again"))
	}
	r, out := run(t, note(), small(3, 20), chat(append(messages, "u:q")...))
	if got := roles(out); got != "s u a t u" || r.Report.Rung != RungPruneOnly || len(r.Report.Repairs) != 49 {
		t.Errorf("%v (%s): roles %s, %d repairs", r.Outcome, r.Report.Reason, got, len(r.Report.Repairs))
	}
	r, _ = run(t, note(), small(3, 20), chat("t:a:lost", "t:b:lost"))
	if r.Outcome != OutcomeTooShort || !r.Rewrite.Empty() {
		t.Errorf("nothing but lost results: %v (%s)", r.Outcome, r.Report.Reason)
	}
}

func TestAConversationOfWhichNothingWouldBeLeftStays(t *testing.T) {
	lost := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"gone","content":"r"}]}`
	thought := `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"}]}`
	for name, json := range map[string]string{"a lost result": `[` + lost + `]`, "a lost result and thinking": `[` + lost + `,` + thought + `]`} {
		t.Run(name, func(t *testing.T) {
			r := compress(t, newTestEngine(t, note()), Request{
				Conversation: parse(t, conversation.FormatAnthropicMessages, json), Model: tokens.Model{Name: "nobody-knows", ContextWindow: 4_000}, Force: true, Policy: small(3, 20),
			})
			if r.Outcome != OutcomeTooShort && r.Outcome != OutcomeNoGain || !r.Rewrite.Empty() {
				t.Errorf("%v (%s), and the conversation is changed: %v", r.Outcome, r.Report.Reason, !r.Rewrite.Empty())
			}
			if r.Report.ThinkingRemoved != 0 || len(r.Report.Repairs) > 0 || len(codes(r)) > 0 {
				t.Errorf("nothing was done, and the report tells of %d thinking blocks, %v and %v", r.Report.ThinkingRemoved, r.Report.Repairs, codes(r))
			}
		})
	}
}

func TestACopyInTheHeadStaysBecauseTheLaterOneWillGo(t *testing.T) {
	same, x := strings.Repeat("same line\n", 30), long("text")
	_, out := run(t, note(), small(4, 4), chat("s:p", "u:a", "A:a", "t:a:"+same, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "A:b", "t:b:"+same, "u:q"))
	if got := out.Messages[3].Blocks[0].ResultText(); got != same {
		t.Errorf("the copy in the head became %.60q", got)
	}
}

func TestPinsThatBreakStrictAlternationAreWarnedOf(t *testing.T) {
	x := long("text")
	policy := small(3, 2)
	policy.Alternation = ptr(AlternationStrict)
	r := compress(t, newTestEngine(t, note()), Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, chat("s:p", "u:a", "a:b", "u:"+x, "a:"+x, "u:pinned", "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e")),
		Model:        gpt(128_000), Force: true, Policy: policy, Pinned: []int{5},
	})
	out := parse(t, conversation.FormatOpenAIChat, r.Rewrite.Render())
	if !slices.Contains(codes(r), "ALTERNATION") {
		t.Errorf("roles %s, warnings %v", roles(out), codes(r))
	}
}

func TestAnUpdatedSummaryKeepsTheRoomOfTheEarlierOne(t *testing.T) {
	earlier := frameSummary("## Goal\n- "+strings.Repeat("carried fact ", 300), 1, "0")
	x := long("text")
	s := note()
	r := compress(t, newTestEngine(t, s), Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, chat("s:p", "u:a", "a:b", "u:"+earlier, "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e")),
		Model:        tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 128_000},
		Force:        true, Policy: small(3, 2),
	})
	if len(s.seen) != 1 || s.seen[0].Budget < 600 {
		t.Errorf("%v: budget %d, the earlier summary had about 600 tokens", r.Outcome, r.Report.SummaryBudgetTokens)
	}
}

func TestAShortenedConversationKeepsTheStateOfItsSummary(t *testing.T) {
	const body = "## Goal\n- Watch the tide."
	e := newTestEngine(t, &scripted{err: errors.New("down")})
	json := chat("s:p", "u:go", "u:"+frameSummary(body, 3, ""), "A:c", "t:c:"+long("result"), "A:d", "t:d:"+long("result"), "u:q", "t:lost:"+long("orphan"), "a:e")
	r := compress(t, e, Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, json), Model: gpt(4_000), Force: true, Policy: small(5, 2),
	})
	if r.Outcome != OutcomeCompressed || r.Report.Rung != RungPruneOnly {
		t.Fatalf("%v by %v: %s", r.Outcome, r.Report.Rung, r.Report.Reason)
	}
	if s, verdict := e.states.open("", r.State); s.Round != 3 || !s.matches(body) {
		t.Errorf("state %+v (%s)", s, verdict)
	}
}

func TestAConversationOfWhichRepairsLeaveNothingStaysAsItIs(t *testing.T) {
	model := gpt(10)
	model.Thinking = tokens.ThinkingBound
	body := `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"gone","content":"` + long("x") + `"}]},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"}]}]`
	r := compress(t, newTestEngine(t, note()), Request{
		Conversation: parse(t, conversation.FormatAnthropicMessages, body), Model: model, Force: true, Policy: small(0, 2),
	})
	if got := r.Rewrite.Render(); r.Outcome != OutcomeNoGain || got != body {
		t.Errorf("%v (%s): %s", r.Outcome, r.Report.Reason, got)
	}
}

// The system prompt of this one is a result without its call, which a repair drops.
func TestTheFrontIsThatOfTheResult(t *testing.T) {
	c := &conversation.Conversation{Format: conversation.FormatTyped, Messages: []conversation.Message{
		{Role: conversation.RoleSystem, Blocks: []conversation.Block{{Kind: conversation.KindToolResult, ID: "gone"}}},
		{Role: conversation.RoleUser, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: long("x")}}},
	}}
	e := newContinuousEngine(t, note())
	for _, hit := range []bool{false, true} {
		r := compress(t, e, Request{Conversation: c, Model: gpt(128_000), Force: true, Policy: small(3, 2)}).Report
		if r.Continuity.Hit != hit || r.FrontMessages != 3 {
			t.Errorf("hit %v, front of %d messages", r.Continuity.Hit, r.FrontMessages)
		}
	}
}

func TestASummaryWithNothingBehindItIsNoGain(t *testing.T) {
	model := gpt(10)
	model.Thinking = tokens.ThinkingBound
	x := long("text")
	body := `[{"role":"assistant","content":"` + x + `"},{"role":"assistant","content":"` + x + `"},{"role":"assistant","content":"` + x + `"},` +
		`{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}]`
	r := compress(t, newTestEngine(t, note()), Request{
		Conversation: parse(t, conversation.FormatAnthropicMessages, body), Model: model, Force: true, Policy: small(1, 0),
	})
	if got := r.Rewrite.Render(); r.Outcome != OutcomeNoGain || got != body {
		t.Errorf("%v (%s): %s", r.Outcome, r.Report.Reason, got)
	}
}
