package extractive

import (
	"fmt"
	"slices"

	"github.com/elbowroom/elbowroom/internal/parallel"
	"github.com/elbowroom/elbowroom/summarizer"
)

// finish counts the whole and gives back lines, the last taken first, until it
// fits.
func (f *filler) finish() (summarizer.Response, error) {
	for margin := 0; ; margin = 2*margin + 2 {
		// What was read is redacted; this is for a secret that only the join of two
		// texts makes recognizable.
		text := f.render()
		if text == "" {
			return f.bare()
		}
		var clean string
		var tokens int
		var err error
		parallel.Both(func() { clean = f.secret.Text(text) }, func() { tokens, err = f.count(f.ctx, text) })
		if clean != text {
			text = clean
			tokens, err = f.count(f.ctx, text)
		}
		if err != nil {
			return summarizer.Response{}, fmt.Errorf("extractive: count: %w", err)
		}
		if tokens <= f.budget {
			return summarizer.Response{Text: text, Tokens: tokens}, nil
		}
		f.giveBack(tokens - f.budget + margin)
	}
}

// giveBack undoes choices worth so many tokens.
func (f *filler) giveBack(tokens int) {
	for tokens > 0 && len(f.history) > 0 {
		c := f.history[len(f.history)-1]
		f.history = f.history[:len(f.history)-1]
		tokens -= max(c.cost, 1)
		if c.note != nil {
			c.note.taken = false
			continue
		}
		g := f.picked[f.units[c.unit].passage]
		g.units = slices.DeleteFunc(g.units, func(u int32) bool { return u == c.unit })
	}
}

// bare is the summary where no heading with a line fits: the most important line
// alone, as much of it as there is room for.
func (f *filler) bare() (summarizer.Response, error) {
	n := f.first()
	full := n.text
	for size := min(len(full), 12*max(f.budget, 0)); size >= 8; size = size * 3 / 4 {
		n.text = clipQuoted(full, size)
		tokens, err := f.count(f.ctx, n.line())
		if err != nil {
			return summarizer.Response{}, fmt.Errorf("extractive: count: %w", err)
		}
		if tokens <= f.budget {
			return summarizer.Response{Text: n.line(), Tokens: tokens}, nil
		}
	}
	return summarizer.Response{}, fmt.Errorf("extractive: %d tokens: %w", f.budget, summarizer.ErrBudgetTooSmall)
}

// first is the most important line there is.
func (f *filler) first() note {
	for _, s := range []section{sectionGoal, sectionConstraints, sectionInProgress, sectionNext, sectionBlocked, sectionDone, sectionDecisions, sectionFiles, sectionCritical} {
		for _, list := range [][]*note{f.carried[s], f.notes[s]} {
			if len(list) > 0 {
				return *list[0]
			}
		}
	}
	if len(f.units) > 0 {
		u := int32(len(f.units) - 1)
		p := &f.script.passages[f.units[u].passage]
		return note{index: p.index, text: p.source + ": " + f.quote(u)}
	}
	return *f.script.media[0]
}
