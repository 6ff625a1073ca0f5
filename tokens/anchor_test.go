package tokens

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

func anchored(t testing.TB, c *Counter, conv *conversation.Conversation, model Model, u Usage) (Report, Anchor) {
	t.Helper()
	r, a, err := c.CountAfter(t.Context(), conv, model, u)
	if err != nil {
		t.Fatal(err)
	}
	if a.Applied != (a.Reason == "") || a.Applied && a.Tokens != a.PromptTokens+a.After {
		t.Errorf("%+v", a)
	}
	if a.Applied && (a.Lower > a.Tokens || a.Upper < a.Tokens || a.Lower < a.PromptTokens) {
		t.Errorf("%d tokens outside [%d, %d], %d of them reported", a.Tokens, a.Lower, a.Upper, a.PromptTokens)
	}
	return r, a
}

// dialogue is a conversation of n messages of about 290 tokens each.
func dialogue(t testing.TB, n int) *conversation.Conversation {
	t.Helper()
	var messages []string
	for i := range n {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":"%d %s"}`, []string{"user", "assistant"}[i%2], i, strings.Repeat("The tide reaches the old pier by noon. ", 32)))
	}
	return anthropic(t, `{"system":"Be brief.","messages":[`+strings.Join(messages, ",")+`]}`)
}

func TestAReportedPromptStandsForTheMessagesItCovered(t *testing.T) {
	c, gpt := NewCounter(), newRegistry(t).Lookup("gpt-4o")
	conv := dialogue(t, 6)
	plain := report(t, c, conv, gpt)
	r, a := anchored(t, c, conv, gpt, Usage{PromptTokens: 1300, MessageCount: 4})
	if diff := cmp.Diff(plain, r); diff != "" {
		t.Errorf("the local report changed (-without +with usage):\n%s", diff)
	}
	local := r.System + r.Priming + sum(r.Messages[:4])
	want := Anchor{
		Applied: true, PromptTokens: 1300, Covered: 4, CoveredLocal: local, After: sum(r.Messages[4:]),
		Tokens: 1300 + sum(r.Messages[4:]), Ratio: 1300 / float64(local), Correction: 1,
	}
	// The text after is exact; only the frames of two messages may be off by one each.
	want.Lower, want.Upper = want.Tokens-2, want.Tokens+2
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, a = anchored(t, c, conv, gpt, Usage{PromptTokens: 1800})
	if a.Tokens != 1800 || a.Lower != 1800 || a.Upper != 1800 || a.Covered != 6 || a.After != 0 {
		t.Errorf("a prompt for all messages: %+v", a)
	}
}

func TestAUsageThatDoesNotFitIsIgnoredWithItsReason(t *testing.T) {
	c, gpt := NewCounter(), newRegistry(t).Lookup("gpt-4o")
	conv := dialogue(t, 4)
	half := sum(report(t, c, conv, gpt).Messages[:2]) / 2
	for _, x := range []struct {
		name   string
		usage  Usage
		reason string
	}{
		{"no prompt", Usage{MessageCount: 2}, "it reports no prompt"},
		{"a negative prompt", Usage{PromptTokens: -5, MessageCount: 2}, "it reports no prompt"},
		{"more messages than there are", Usage{PromptTokens: 5000, MessageCount: 5}, "it covers 5 messages, the request has 4"},
		{"a negative number of messages", Usage{PromptTokens: 5000, MessageCount: -1}, "it covers -1 messages, the request has 4"},
		{"only the uncached part", Usage{PromptTokens: half - 1, MessageCount: 2}, fmt.Sprintf("%d tokens are fewer than the messages it covers hold (at least %d); cached input counts too", half-1, half)},
		{"half of what they hold", Usage{PromptTokens: half, MessageCount: 2}, ""},
		{"less than all messages hold", Usage{PromptTokens: 3 * half}, "are fewer than the messages it covers hold"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, a := anchored(t, c, conv, gpt, x.usage)
			if !strings.Contains(a.Reason, x.reason) || a.Applied != (x.reason == "") {
				t.Errorf("applied %v, reason %q, want %q", a.Applied, a.Reason, x.reason)
			}
			if !a.Applied && (a.Tokens != 0 || a.After != 0 || a.Correction != 1) {
				t.Errorf("%+v", a)
			}
		})
	}
	if _, a := anchored(t, c, anthropic(t, `[]`), gpt, Usage{PromptTokens: 700}); !a.Applied || a.Tokens != 700 {
		t.Errorf("no messages: %+v", a)
	}
}

func TestAnEstimateLearnsFromTheReportedPrompt(t *testing.T) {
	c, unknown := NewCounter(), newRegistry(t).Lookup("who-knows")
	conv := dialogue(t, 8)
	r := report(t, c, conv, unknown)
	covered := r.System + r.Priming + sum(r.Messages[:6])
	for _, x := range []struct {
		name      string
		ratio     float64
		corrected float64
	}{
		{"fewer tokens than estimated", 0.8, 0.8},
		{"more tokens than estimated", 1.3, 1.3},
		{"far fewer", 0.6, CorrectionMin},
		{"far more", 4, CorrectionMax},
	} {
		t.Run(x.name, func(t *testing.T) {
			prompt := int(math.Round(x.ratio * float64(covered)))
			_, a := anchored(t, c, conv, unknown, Usage{PromptTokens: prompt, MessageCount: 6})
			after := sum(r.Messages[6:])
			if !a.Corrected || math.Abs(a.Correction-x.corrected) > 0.001 || math.Abs(a.Ratio-x.ratio) > 0.001 || a.CoveredLocal != covered {
				t.Errorf("%+v", a)
			}
			if want := int(math.Round(float64(after) * a.Correction)); a.After != want {
				t.Errorf("%d tokens after, want %d", a.After, want)
			}
			// The bounds of the uncorrected estimate still hold.
			if low, high := 0.75*float64(after), 1.40*float64(after); float64(a.Lower-prompt) > low || float64(a.Upper-prompt) < high {
				t.Errorf("[%d, %d] after the prompt, want it to contain [%.0f, %.0f]", a.Lower-prompt, a.Upper-prompt, low, high)
			}
		})
	}
}

func TestTheSystemPromptTeachesToo(t *testing.T) {
	c, unknown := NewCounter(), newRegistry(t).Lookup("who-knows")
	conv := anthropic(t, `{"system":"`+strings.Repeat("kelp ", 3000)+`","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}`)
	if _, a := anchored(t, c, conv, unknown, Usage{PromptTokens: 3000, MessageCount: 1}); !a.Corrected || a.Correction > 0.85 {
		t.Errorf("%+v", a)
	}
}

func TestNothingIsLearnedFromWhatSaysLittleAboutText(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	short := dialogue(t, 4)
	images := anthropic(t, `{"messages":[{"role":"user","content":[{"type":"text","text":"`+strings.Repeat("kelp ", 2000)+`"},
		{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}},{"type":"image","source":{"type":"url","url":"https://example.org/b.png"}}]},
		{"role":"assistant","content":"ok"}]}`)
	for _, x := range []struct {
		name  string
		conv  *conversation.Conversation
		model string
		usage Usage
	}{
		{"a model whose vocabulary is at hand", dialogue(t, 8), "gpt-4o", Usage{PromptTokens: 2500, MessageCount: 6}},
		{"a short prompt", short, "who-knows", Usage{PromptTokens: 800, MessageCount: 2}},
		{"mostly images", images, "claude-opus-5", Usage{PromptTokens: 5000, MessageCount: 1}},
	} {
		_, a := anchored(t, c, x.conv, r.Lookup(x.model), x.usage)
		if !a.Applied || a.Corrected || a.Correction != 1 || a.Ratio == 0 {
			t.Errorf("%s: %+v", x.name, a)
		}
	}
}

// The exact counts of an OpenAI model play the provider; the estimate for an unknown model, made of the same vocabulary
// and a quarter too high, learns to agree with them on conversations as they are.
func TestAnchorsBringRecordedConversationsCloserToTheTruth(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	truth, unknown := r.Lookup("gpt-4o"), r.Lookup("who-knows")
	learned := 0
	for _, f := range testdata.Conversations(t) {
		conv := recorded(t, f)
		exact := report(t, c, conv, truth)
		plain := report(t, c, conv, unknown)
		n := len(conv.Messages) / 2
		if n == 0 {
			continue
		}
		_, a := anchored(t, c, conv, unknown, Usage{PromptTokens: exact.System + exact.Tools + exact.Priming + sum(exact.Messages[:n]), MessageCount: n})
		if !a.Applied {
			t.Errorf("%s: %s", f.Name, a.Reason)
			continue
		}
		anchoredOff, plainOff := math.Abs(float64(a.Tokens-exact.Tokens)), math.Abs(float64(plain.Tokens-exact.Tokens))
		if anchoredOff > plainOff || exact.Tokens < a.Lower || exact.Tokens > a.Upper {
			t.Errorf("%s: %d tokens in truth, %d anchored [%d, %d], %d estimated", f.Name, exact.Tokens, a.Tokens, a.Lower, a.Upper, plain.Tokens)
		}
		if a.Corrected {
			learned++
			if anchoredOff > 0.05*float64(exact.Tokens) {
				t.Errorf("%s: %d tokens in truth, %d anchored with a correction of %.3f", f.Name, exact.Tokens, a.Tokens, a.Correction)
			}
		}
	}
	if learned < 5 {
		t.Errorf("a correction was learned from %d conversations only", learned)
	}
}
