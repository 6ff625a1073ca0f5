package extractive

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// Summarizer is the embedded summarizer. It is safe for concurrent use; create it
// with [New].
type Summarizer struct {
	cues  *facts.Lookout
	spare spares
}

// New returns the embedded summarizer.
func New() *Summarizer { return &Summarizer{cues: facts.NewLookout()} }

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
		cues = facts.NewLookout()
	}
	var secret *redact.Redactor // keeps every secret
	if !req.KeepSecrets {
		secret = redact.New()
	}
	carried := readPrevious(req.Previous, req.Round, secret, cues)
	d := newDraft(&req, secret, cues, &s.spare)
	defer func() { // nothing of the answer is in there
		s.spare.putLexicon(d.lex)
		s.spare.putUnits(d.units)
		s.spare.putRefs(d.refs)
	}()
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
		picked: make(map[int32]*group), quotes: make(map[int32]string),
	}
	if err := f.fill(); err != nil {
		return summarizer.Response{}, fmt.Errorf("extractive: count: %w", err)
	}
	resp, err := f.finish()
	for _, c := range secret.Counts() {
		resp.Redactions = append(resp.Redactions, summarizer.Redaction{Kind: c.Kind, Count: c.Distinct})
	}
	return resp, err
}

// Ahead does what Summarize would do for each text of a request by itself, for the
// request's memo to remember.
func Ahead(req *summarizer.Request) {
	var secret *redact.Redactor
	if !req.KeepSecrets {
		secret = redact.New()
	}
	s := read(req, secret)
	cutChunks(s, chunksOf(s), req.Memo, nil)
}

// empty reports whether there is nothing that could be said.
func (d *draft) empty() bool {
	n := len(d.units) + len(d.script.media)
	for s := range d.notes {
		n += len(d.notes[s]) + len(d.carried[s])
	}
	return n == 0
}

// maxMarkers is the number of media markers that stand one by one.
const maxMarkers = 8

// mediaNotes prepares the markers of what is not text. Of many the newest stand
// one by one; a line counts the others.
func (d *draft) mediaNotes() {
	slices.Reverse(d.script.media)
	if more := len(d.script.media) - maxMarkers; more > 0 {
		oldest := d.script.media[len(d.script.media)-1]
		d.script.media = append(d.script.media[:maxMarkers:maxMarkers], &note{
			section: sectionCritical, index: oldest.index, turn: oldest.turn, voice: voiceNote,
			text: strconv.Itoa(more) + " more images, documents or other media from here on",
		})
	}
	for i, n := range d.script.media {
		n.seq = -1 - i // before the text of the same message, in order
		n.refs = d.refsOf(n.text)
	}
}
