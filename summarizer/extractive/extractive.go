package extractive

import (
	"context"
	"fmt"

	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
)

// Summarizer is the embedded summarizer. It is safe for concurrent use; create it
// with [New].
type Summarizer struct {
	cues *lookout
}

// New returns the embedded summarizer.
func New() *Summarizer { return &Summarizer{cues: newLookout()} }

// Name is the rung's name.
func (s *Summarizer) Name() string { return summarizer.Extractive }

// Summarize writes the summary. The result never exceeds the budget. Errors wrap
// [summarizer.ErrBudgetTooSmall] or [summarizer.ErrNothingToSay], or come from
// the request's counter or context.
func (s *Summarizer) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Response, error) {
	if err := ctx.Err(); err != nil {
		return summarizer.Response{}, err
	}
	cues := s.cues
	if cues == nil {
		cues = newLookout()
	}
	secret := redact.New()
	carried := readPrevious(req.Previous, req.Round, secret)
	d := newDraft(&req, read(&req, secret), cues)
	d.carried = carried
	d.userNotes()
	d.saidNotes()
	d.actionNotes()
	d.planNotes()
	d.fileNotes()
	d.mediaNotes()
	d.carry()
	if d.empty() {
		return summarizer.Response{}, fmt.Errorf("extractive: %w", summarizer.ErrNothingToSay)
	}
	if err := ctx.Err(); err != nil {
		return summarizer.Response{}, err
	}
	f := &filler{
		draft:  d,
		ledger: ledger{ctx: ctx, count: req.Count, budget: req.Budget},
		picked: make(map[int32]*group),
	}
	if err := f.fill(); err != nil {
		return summarizer.Response{}, fmt.Errorf("extractive: count: %w", err)
	}
	return f.finish()
}

// empty reports whether there is nothing that could be said.
func (d *draft) empty() bool {
	n := len(d.units) + len(d.script.media)
	for s := range d.notes {
		n += len(d.notes[s]) + len(d.carried[s])
	}
	return n == 0
}

// mediaNotes prepares the markers of what is not text.
func (d *draft) mediaNotes() {
	for i, n := range d.script.media {
		n.seq = i - len(d.script.media) // before the text of the same message
		n.refs = d.refsOf(n.text)
	}
}
