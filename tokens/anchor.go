package tokens

import (
	"fmt"
	"math"
)

// Usage is what a provider reported for an earlier request of a conversation.
type Usage struct {
	// PromptTokens is the size of that request, cached input included. 0 or less says nothing.
	PromptTokens int
	// MessageCount is how many leading messages of the list at hand the prompt stood for, its reply excluded; 0 is all.
	MessageCount int
}

const (
	// usageSlack is the share of the local count under which a reported prompt cannot be the size of the messages it
	// covers. It is wide, because other tokenizers count otherwise; what it finds is a prompt reported without its cached
	// part.
	usageSlack = 0.5
	// usageMost is the most that a reported prompt may exceed the local count of what it covers, in tokens, beyond ten
	// times that count: a system prompt and tools that are not in the request, or files that only the provider sees.
	usageMost = 1_000_000
	// CorrectionMin is the least that an estimate is multiplied by, CorrectionMax the most. No family's vocabulary is further
	// from its estimate than its bounds say (0.75 to 1.40); what a ratio says beyond that has another cause, for example
	// content that only the provider can see.
	CorrectionMin = 0.75
	// CorrectionMax: see CorrectionMin.
	CorrectionMax = 1.50
	// correctionLeast is the text in tokens from which a ratio is learned, correctionText the least share of it in what
	// was covered: frames and media are off for other reasons than text.
	correctionLeast = 1000
	correctionText  = 0.75
)

// Anchor is what a reported usage makes of a count: the reported prompt for the messages it covered, and the local count
// for those after them.
type Anchor struct {
	// Applied says whether the usage fits the request; if not, Reason says why and the counts below are 0.
	Applied bool
	Reason  string
	// Tokens is PromptTokens + After. Lower and Upper bound it like those of a Report: the covered part is known.
	Tokens, Lower, Upper int
	// PromptTokens is what was reported for the first Covered messages, the system prompt, the tools and the start of the
	// answer; CoveredLocal is what is counted here for the same.
	PromptTokens, Covered, CoveredLocal int
	// After is the local count of the messages after them times Correction. The reply to the reported prompt is one of
	// them. It is not taken from the usage: the tokens of a completion hold reasoning that is not sent back.
	After int
	// Ratio is PromptTokens / CoveredLocal, 0 if nothing was covered. Correction is Ratio within CorrectionMin and
	// CorrectionMax where Corrected is set: for estimated models, once a thousand tokens of text were covered. Else it is 1.
	Ratio, Correction float64
	Corrected         bool
}

// Anchor judges a usage by the costs of a request's pieces. It depends on nothing else: what one request reports changes
// no other.
func (c *Counter) Anchor(model Model, messages []Cost, system, tools Cost, u Usage) Anchor {
	a := Anchor{PromptTokens: max(u.PromptTokens, 0), Covered: u.MessageCount, Correction: 1}
	whole := c.Report(model, messages, system, tools)
	if a.Reason = a.fit(whole, u); a.Reason != "" {
		return a
	}
	a.Applied = true
	covered := whole.Priming + system.Tokens() + tools.Tokens()
	text := system.Text + tools.Text // of what is covered
	for i := range messages[:a.Covered] {
		covered += messages[i].Tokens()
		text += messages[i].Text
	}
	a.learn(model, covered, text)

	var after Cost
	for i := range messages[a.Covered:] {
		after = after.add(&messages[a.Covered+i])
	}
	local := after.Tokens()
	a.After = int(math.Round(float64(local) * a.Correction))
	a.Tokens = a.PromptTokens + a.After
	// The bounds hold for the estimate as it was. A correction learned from other text may only widen them.
	t := tokenizerOf(model)
	below, above := t.margins(after.Text)
	correctedBelow, correctedAbove := t.margins(int(math.Round(float64(after.Text) * a.Correction)))
	a.Lower = a.PromptTokens + max(0, min(local-below, a.After-correctedBelow)-after.Slack)
	a.Upper = a.PromptTokens + max(local+above, a.After+correctedAbove) + after.Slack
	return a
}

// fit settles how many messages are covered, or says why the usage cannot be the size of those.
func (a *Anchor) fit(whole Report, u Usage) string {
	if u.PromptTokens <= 0 {
		return "it reports no prompt"
	}
	if u.MessageCount < 0 || u.MessageCount > len(whole.Messages) {
		return fmt.Sprintf("it covers %d messages, the request has %d", u.MessageCount, len(whole.Messages))
	}
	least := whole.Lower
	if u.MessageCount > 0 {
		held := 0
		for _, n := range whole.Messages[:u.MessageCount] {
			held += n
		}
		least = int(usageSlack * float64(held))
	} else {
		a.Covered = len(whole.Messages)
	}
	if u.PromptTokens < least {
		return fmt.Sprintf("%d tokens are fewer than the messages it covers hold (at least %d); cached input counts too", u.PromptTokens, least)
	}
	if most := 10*whole.Upper + usageMost; u.PromptTokens > most {
		return fmt.Sprintf("%d tokens are more than a request of this kind can have (at most %d)", u.PromptTokens, most)
	}
	return ""
}

// learn compares the reported prompt with the local count of the same, of which text tokens are text.
func (a *Anchor) learn(model Model, covered, text int) {
	a.CoveredLocal = covered
	if covered == 0 {
		return
	}
	a.Ratio = float64(a.PromptTokens) / float64(covered)
	t := tokenizerOf(model)
	if t.low == 1 && t.high == 1 || text < correctionLeast || float64(text) < correctionText*float64(covered) {
		return
	}
	a.Corrected = true
	a.Correction = min(max(a.Ratio, CorrectionMin), CorrectionMax)
}
