package compressor

import (
	"context"
	"fmt"

	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// checkFacts holds the ladder's summary against the messages it stands for: facts
// that matter are added, invented names taken out.
func (j *job) checkFacts(ctx context.Context, req summarizer.Request, result ladder.Result) (summary, error) {
	j.progress(Progress{Phase: PhaseChecking, Tokens: j.counts.Tokens})
	rung, resp := rungOf(result.Name), result.Response
	check := fidelity.Request{
		Summary: resp.Text, Tokens: resp.Tokens, Turns: req.Turns, Calls: req.Calls,
		Known: []string{req.Focus}, Previous: req.Previous, Carried: j.earlier.facts, Round: req.Round,
		Budget: min(req.Budget, j.gainfulBudget()), Count: req.Count, Quoted: rung == RungExtractive,
	}
	// The embedded summarizer has read the same texts with the same eyes: what it
	// found free of secrets, or was told to quote, needs no second look.
	if rung != RungExtractive || len(resp.Redactions) > 0 {
		secret := redact.New()
		secret.Reserve(req.Previous)
		secret.Reserve(j.earlier.facts)
		check.Redact = secret.Text
	}
	check.Kept, check.Shortened = j.standing()
	checked, err := j.engine.checker.Check(ctx, check)
	if err != nil {
		return summary{}, fmt.Errorf("check the summary: %w", err)
	}
	j.report.Fidelity = &checked.Report
	return summary{body: unframed(checked.Text), rung: rung}, nil
}

// factReserve is what the summarizer leaves of the summary's budget to facts that
// it misses. A small budget is its own: there, a line less costs more than a line
// more brings.
func factReserve(budget int) int {
	const share, least = 8, 64 // an eighth, in tokens
	if reserve := budget / share; reserve >= least {
		return reserve
	}
	return 0
}

// standing are the messages that stay as they are and those that stay shortened,
// the system prompt that stands outside of the list among the former.
func (j *job) standing() (kept, shortened []summarizer.Turn) {
	pruned := make(map[int]bool, len(j.prune.texts)+len(j.prune.inputs))
	for ref := range j.prune.texts {
		pruned[ref.Message] = true
	}
	for ref := range j.prune.inputs {
		pruned[ref.Message] = true
	}
	if j.c.System != nil {
		kept = append(kept, summarizer.Turn{Index: -1, Message: j.c.System})
	}
	for i, stays := range j.keptMessages() {
		turn := summarizer.Turn{Index: i, Message: &j.c.Messages[i]}
		switch {
		case !stays || j.earlier.messages[i]:
		case pruned[i] || j.repairs.dropMessages[i]:
			shortened = append(shortened, turn)
		default:
			kept = append(kept, turn)
		}
	}
	return kept, shortened
}

// gainfulBudget is what the summary may cost at most for the least gain of the
// policy, when nothing else becomes smaller.
func (j *job) gainfulBudget() int {
	replaced := 0
	for i, stays := range j.keptMessages() {
		if !stays || j.earlier.messages[i] {
			replaced += j.counts.Messages[i]
		}
	}
	overhead := frameTokens
	if j.addsNote() {
		overhead += noteTokens
	}
	return replaced - overhead - int(j.rules.minGain*float64(j.report.TokensBefore))
}
