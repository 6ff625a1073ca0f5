package fidelity

import (
	"context"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// Request is a summary and what it stands for.
type Request struct {
	// Summary is the text as a summarizer wrote it, Tokens its size by Count.
	Summary string
	Tokens  int
	// Turns are the messages it replaces, in order.
	Turns []summarizer.Turn
	// Calls finds the call a tool result answers; nil when it is unknown.
	Calls func(ref conversation.Ref) *conversation.Block
	// Kept are the messages that stay as they are, Shortened those that stay in part,
	// the system prompt among either.
	Kept, Shortened []summarizer.Turn
	// Known are other texts whose names are not invented, such as the focus.
	Known []string
	// Previous is the earlier summary without its section of facts, Carried that
	// section; both from [Split].
	Previous, Carried string
	// Round counts compressions of this conversation, from 1.
	Round int
	// Budget is the largest allowed size in tokens of the summary with its section.
	Budget int
	// Count counts text as the conversation is counted.
	Count func(ctx context.Context, text string) (int, error)
	// Redact replaces secrets in what is read; nil when there are none.
	Redact func(text string) string
	// Quoted says that the summary consists of quotes, so that no name in it can be
	// invented and none is looked for.
	Quoted bool
	// Memo remembers what is made of single texts; nil remembers nothing.
	Memo *memo.Memo
}

// Result is the summary after the check.
type Result struct {
	// Text is the summary, its section of facts at the end. It is within the budget if
	// the summary was.
	Text   string
	Report Report
}

// Report says what became of the facts.
type Report struct {
	// Facts were found; Kept of them stand in the summary as it was written (less what
	// was invented), Repaired were added, Lost are missing.
	Facts, Kept, Repaired, Lost int
	// Invented names were taken out of the summary.
	Invented int
	// Items are the facts repaired, lost and invented: invented ones first, then those
	// that matter most; at most [MaxItems].
	Items []Item
}

// MaxItems bounds the list of a report.
const MaxItems = 200

// Item is a fact with its fate.
type Item struct {
	Fate Fate
	// Kind is the kind of fact, for example "path".
	Kind string
	// Text is the fact, cut after 200 characters.
	Text string
	// Message is the index of the message that held it last, -1 for invented names and
	// for facts of an earlier summary.
	Message int
}

// Fate says what became of a fact; the numbers are those of the API.
type Fate int

// The fates.
const (
	Repaired Fate = iota + 1
	Lost
	Invented
)

// Checker checks summaries. It is safe for concurrent use; create it with [New].
type Checker struct {
	cues *facts.Lookout
}

// New returns a checker.
func New() *Checker { return &Checker{cues: facts.NewLookout()} }

// Check holds a summary against its source. Errors come from the counter.
func (c *Checker) Check(ctx context.Context, req Request) (Result, error) {
	return c.Read(req).Check(ctx, req)
}

// Source is what a summary stands for, read for its facts. It serves one check.
type Source struct{ index *index }

// Read reads the messages of a request and its earlier summary. Neither the summary
// nor a budget need be known yet, so it can be done while the summary is written.
func (c *Checker) Read(req Request) *Source {
	x := newIndex(c.cues, &req)
	x.read()
	return &Source{x}
}

// Check holds the summary of a request against its source, which must have been read
// from the same messages with the same Redact. Errors come from the counter.
func (s *Source) Check(ctx context.Context, req Request) (Result, error) {
	x := s.index
	x.req = &req
	text := withoutHeading(req.Summary)
	var invented []string
	if !req.Quoted {
		text, invented = x.withoutInventions(plainSigns(text))
	}
	x.markKept(text)
	tokens := req.Tokens
	if text != req.Summary {
		var err error
		if tokens, err = req.Count(ctx, text); err != nil {
			return Result{}, err
		}
	}
	section, err := x.repair(ctx, x.found, text, tokens)
	if err != nil {
		return Result{}, err
	}
	if section != "" {
		text = join(text, section)
	}
	return Result{Text: text, Report: report(x.found, invented)}, nil
}

// join puts the section at the end of a summary.
func join(text, section string) string {
	text = strings.TrimRight(text, " \t\r\n")
	if text == "" {
		return section
	}
	return text + "\n\n" + section
}

// report counts the fates.
func report(found []*fact, invented []string) Report {
	r := Report{Facts: len(found), Invented: len(invented)}
	for _, text := range invented[:min(len(invented), MaxItems)] {
		r.Items = append(r.Items, Item{Fate: Invented, Kind: kindOfText(text).String(), Text: cut(text), Message: -1})
	}
	for _, f := range found {
		switch {
		case f.kept:
			r.Kept++
			continue
		case f.repaired:
			r.Repaired++
		default:
			r.Lost++
		}
		if len(r.Items) < MaxItems {
			fate := Lost
			if f.repaired {
				fate = Repaired
			}
			r.Items = append(r.Items, Item{Fate: fate, Kind: f.kind.String(), Text: cut(f.text), Message: f.index})
		}
	}
	return r
}

// maxItemText is the size of a fact in a report, in characters.
const maxItemText = 200

// cut shortens a fact for the report.
func cut(s string) string {
	n := 0
	for i := range s {
		if n == maxItemText {
			return s[:i]
		}
		n++
	}
	return s
}
