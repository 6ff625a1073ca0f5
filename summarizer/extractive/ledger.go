package extractive

import (
	"context"
)

// ledger keeps the budget: every line is counted once, alone, before it is
// taken. The sum is an upper estimate of the whole; the whole is counted once at
// the end.
type ledger struct {
	ctx    context.Context
	count  func(ctx context.Context, text string) (int, error)
	budget int
	used   int
	open   [sectionCount]bool
	// progress is set when the Progress heading was paid for.
	progress bool
}

// headings is what opening a section costs, 0 for an open one.
func (l *ledger) headings(s section) (int, error) {
	if l.open[s] {
		return 0, nil
	}
	text := "\n\n" + s.heading() + "\n"
	if s.progress() && !l.progress {
		text = "\n\n## Progress\n" + s.heading() + "\n"
	}
	return l.count(l.ctx, text)
}

func (l *ledger) opened(s section) {
	l.open[s] = true
	l.progress = l.progress || s.progress()
}

// left is what may still be spent.
func (l *ledger) left() int { return l.budget - l.used }

// hopeless reports without counting that a text cannot fit into so many tokens:
// no tokenizer packs this many bytes into one token of running text.
func hopeless(text string, tokens int) bool { return len(text) > 12*tokens+64 }

// estimate is a rough number of tokens of so many bytes, used for ranking only.
func estimate(bytes int) float64 { return float64(bytes)/3.8 + 1 }
