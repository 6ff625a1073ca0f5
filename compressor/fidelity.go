package compressor

import (
	"context"
	"fmt"

	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// factRequest is what is known of the check before there is a summary.
func (j *job) factRequest(req summarizer.Request) fidelity.Request {
	check := fidelity.Request{
		Turns: req.Turns, Calls: req.Calls, Known: []string{req.Focus},
		Previous: req.Previous, Carried: j.earlier.facts, Round: req.Round, Count: req.Count, Memo: req.Memo,
	}
	check.Kept, check.Shortened = j.standing()
	return check
}

// quotes reports whether the embedded summarizer is asked before any other.
func (j *job) quotes() bool {
	first := j.rules.summarizer
	if first == "" {
		first = j.engine.ladder.Names()[0]
	}
	return first == summarizer.Extractive
}

// checkFacts holds the ladder's summary against the messages it stands for: facts
// that matter are added, invented names taken out. source is what was read of them
// without looking for secrets, nil for nothing yet.
func (j *job) checkFacts(ctx context.Context, check fidelity.Request, source *fidelity.Source, budget int, result ladder.Result) (summary, error) {
	j.progress(Progress{Phase: PhaseChecking, Tokens: j.counts.Tokens})
	rung, resp := rungOf(result.Name), result.Response
	check.Summary, check.Tokens = resp.Text, resp.Tokens
	check.Budget, check.Quoted = min(budget, j.gainfulBudget()), rung == RungExtractive
	// The embedded summarizer has read the same texts with the same eyes: what it
	// found free of secrets, or was told to quote, needs no second look.
	if rung != RungExtractive || len(resp.Redactions) > 0 {
		secret := redact.New()
		secret.Reserve(check.Previous)
		secret.Reserve(check.Carried)
		check.Redact, source = secret.Text, nil
	}
	if source == nil {
		source = j.engine.checker.Read(check)
	}
	checked, err := source.Check(ctx, check)
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
