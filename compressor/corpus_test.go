package compressor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/tokens"
)

func formatOf(f testdata.File) conversation.Format {
	if f.Format == testdata.Anthropic {
		return conversation.FormatAnthropicMessages
	}
	return conversation.FormatOpenAIChat
}

// Over every real conversation: a second pass, also forced, returns its input,
// two runs agree, and what is reported as the size is what a fresh count says.
func TestASecondPassReturnsItsInput(t *testing.T) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	counter := tokens.NewCounter()
	policies := map[string]Policy{
		"default":      {},
		"small tail":   {ProtectLastN: ptr(4), ProtectFirstN: ptr(1)},
		"no head":      {ProtectFirstN: ptr(0), ProtectLastN: ptr(2)},
		"tight target": {TargetTokens: ptr(6_000), ProtectLastN: ptr(3)},
		"strict":       {Alternation: ptr(AlternationStrict), ProtectLastN: ptr(6)},
		"remove":       {Thinking: ptr(ThinkingRemove)},
	}
	for _, f := range testdata.Conversations(t) {
		c := parse(t, formatOf(f), f.JSON)
		for _, model := range []string{"claude-sonnet-4-5", "claude-opus-5-5"} {
			for name, policy := range policies {
				for _, window := range []int{16_000, 64_000, 200_000} {
					t.Run(fmt.Sprintf("%s/%s/%s/%d", f.Name, model, name, window), func(t *testing.T) {
						e := newTestEngine(t, &scripted{reply: "## Goal\n- something was done here"})
						req := Request{Conversation: c, Model: registry.Lookup(model), ContextWindow: window, Policy: policy, Force: true}
						first, err := e.Compress(t.Context(), req)
						if err != nil {
							t.Fatal(err)
						}
						out := first.Rewrite.Render()
						again := compress(t, e, req)
						if again.Rewrite.Render() != out {
							t.Fatal("two runs differ")
						}
						if !first.Outcome.Changed() && out != f.JSON {
							t.Fatalf("%v changed the conversation", first.Outcome)
						}
						req.Conversation = parse(t, c.Format, out)
						fresh, err := counter.Count(t.Context(), req.Conversation, req.Model)
						if err != nil || fresh.Tokens != first.Report.TokensAfter {
							t.Errorf("%d tokens reported, %d counted", first.Report.TokensAfter, fresh.Tokens)
						}
						second := compress(t, e, req)
						if second.Rewrite.Render() != out {
							t.Errorf("second pass: %v (%s), %d -> %d tokens, %d -> %d messages; first %v (%s)", second.Outcome, second.Report.Reason,
								second.Report.TokensBefore, second.Report.TokensAfter, second.Report.MessagesBefore, second.Report.MessagesAfter, first.Outcome, first.Report.Reason)
						}
					})
				}
			}
		}
	}
}

// Failing summarizers never cost a message: the result is pruned only, or the
// input, and says so.
func TestNoMessageIsLostWhenEverySummarizerFails(t *testing.T) {
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 16_000}
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			c := parse(t, formatOf(f), f.JSON)
			e := newTestEngine(t, &scripted{err: errors.New("overloaded")})
			r := compress(t, e, Request{Conversation: c, Model: model, Force: true, Policy: Policy{ProtectLastN: ptr(4)}})
			out := parse(t, c.Format, r.Rewrite.Render())
			if lost := len(c.Messages) - len(out.Messages); lost > len(r.Report.Repairs) {
				t.Errorf("%d messages lost, %d repairs reported", lost, len(r.Report.Repairs))
			}
			if r.Outcome == OutcomeCompressed && r.Report.Rung != RungPruneOnly {
				t.Errorf("rung %v", r.Report.Rung)
			}
		})
	}
}

func TestAbortLeavesTheConversationAndCoolsDown(t *testing.T) {
	x := long("text")
	json := chat("s:p", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q")
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 1_000}
	failing := &scripted{err: errors.New("overloaded")}
	e := newTestEngine(t, failing)
	req := Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, json), Model: model, SessionID: "s",
		Policy: Policy{ProtectLastN: ptr(2), FailurePolicy: ptr(FailureAbort)},
	}
	var failed *SummarizerError
	if r, err := e.Compress(t.Context(), req); !errors.As(err, &failed) || r != nil || failed.RetryAfter != time.Minute {
		t.Fatalf("FA7: %v %v", r, err)
	}
	r := compress(t, e, req)
	if r.Outcome != OutcomeCoolingDown || r.Report.RetryAfter != time.Minute || r.Rewrite.Render() != json || len(failing.seen) != 1 {
		t.Errorf("%v after %d calls, wait %v", r.Outcome, len(failing.seen), r.Report.RetryAfter)
	}
}

func TestAResultLargerThanTheInputIsNotTaken(t *testing.T) {
	json := chat("u:a", "a:b", "u:c", "a:d", "u:e")
	r := compress(t, newTestEngine(t, &scripted{reply: strings.Repeat("very long notes ", 200)}), Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, json), Force: true,
		Model:  tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 1_000},
		Policy: Policy{ProtectFirstN: ptr(0), ProtectLastN: ptr(1)},
	})
	if r.Outcome != OutcomeNoGain || r.Rewrite.Render() != json {
		t.Errorf("FA14: %v", r.Outcome)
	}
}
