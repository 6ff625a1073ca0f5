package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints"
)

// DefaultFirstToken is the time from the start of a request to the first token of its answer, where none is given.
const DefaultFirstToken = time.Second

// Request is one request of a sequence.
type Request struct {
	// Prompt, Rules and Price are required.
	Prompt *Prompt
	Rules  *Rules
	Price  *Price
	// Start is when it was sent, counted from any moment that is the same for all requests.
	Start time.Duration
	// FirstToken is the time from the start to the first token of the answer, from when on others can read what it wrote.
	// Default [DefaultFirstToken]. Duration is the time to the end of the answer, default FirstToken.
	FirstToken, Duration time.Duration
	// Scope is the organization, workspace or region in which caches are shared. Requests of different scopes share nothing.
	Scope string
	// Thread names the conversation: a request is compared with the one before it of the same thread.
	Thread string
	// Billed is what the provider reported, nil when it is not known.
	Billed *Billed
}

// Billed is the usage that a provider reported for a prompt, in tokens.
type Billed struct {
	// Uncached is what was paid in full, and no read or write.
	Uncached, Read   int
	Write5m, Write1h int
	// Write is where the provider has one life only, or does not split.
	Write int
}

// Prompt is the whole prompt.
func (b *Billed) Prompt() int { return b.Uncached + b.Read + b.Write5m + b.Write1h + b.Write }

// Placed is a mark as the provider sees it.
type Placed struct {
	At  breakpoints.Position
	TTL time.Duration
	// Tokens is the size of the prefix that ends there.
	Tokens int
	// Inert is set when that prefix is smaller than the model caches.
	Inert bool
	// Automatic is set when the provider placed it.
	Automatic bool
}

// Outcome is what became of one request.
type Outcome struct {
	Split
	Cost Cost
	// Rejections are set when the provider refuses the request: nothing is then read, written or billed.
	Rejections []Rejection
	Marks      []Placed
	// Hit is the index of the block up to which the prompt was read, -1 when nothing was.
	Hit      int
	Findings []Finding
}

// Report is what became of a sequence.
type Report struct {
	Outcomes []Outcome
	Total    Split
	Cost     Cost
	// NoCache is what the accepted requests would have cost without any cache.
	NoCache Cost
	// Agreement is how much of what the provider reported as read was predicted, between 0 and 1; -1 without a report, or
	// when nothing was reported as read.
	Agreement float64
}

// ErrOrder means that the requests are not in the order of their starts, or lack a prompt, rules or a price.
var ErrOrder = errors.New("requests out of order")

// Run simulates a sequence of requests, which are in the order of their starts. It takes time and memory in proportion
// to the blocks of all requests. The error wraps [ErrOrder].
func Run(requests []Request) (*Report, error) {
	s := &run{store: make(map[Hash]*entry), last: make(map[string]*step)}
	report := &Report{Outcomes: make([]Outcome, len(requests)), Agreement: -1}
	billed, agreed := 0, 0
	for i := range requests {
		r := &requests[i]
		switch {
		case r.Prompt == nil || r.Rules == nil || r.Price == nil:
			return nil, fmt.Errorf("%w: request %d has no prompt, rules or price", ErrOrder, i)
		case i > 0 && r.Start < requests[i-1].Start:
			return nil, fmt.Errorf("%w: request %d starts before the one ahead of it", ErrOrder, i)
		}
		out := &report.Outcomes[i]
		s.request(i, r, out)
		if out.Rejections != nil {
			continue
		}
		report.Total.add(out.Split)
		report.Cost.add(out.Cost)
		report.NoCache.add(r.Price.Cost(Split{Uncached: out.Prompt()}))
		if b := r.Billed; b != nil {
			billed += b.Read
			agreed += min(b.Read, out.Read)
		}
	}
	if billed > 0 {
		report.Agreement = float64(agreed) / float64(billed)
	}
	s.neverRead(report)
	for i := range report.Outcomes {
		slices.SortStableFunc(report.Outcomes[i].Findings, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Now.BaseTokens, a.Now.BaseTokens))
		})
	}
	return report, nil
}

// run is a simulation on its way.
type run struct {
	store map[Hash]*entry
	// last is the step before, by thread.
	last  map[string]*step
	steps []*step
}

// entry is a cached prefix.
type entry struct {
	tokens           int
	ttl              time.Duration
	visible, expires time.Duration
	// implicit is set when the provider chose its place.
	implicit bool
	// by is the request that wrote it; reads is how many read it.
	by, reads int
	// replaced is the entry that was there before, dead or alive.
	replaced *entry
}

func (e *entry) live(at time.Duration) bool { return e != nil && e.visible <= at && at < e.expires }

// step is one request with what was worked out for it.
type step struct {
	index  int
	req    *Request
	prompt *Prompt
	keys   []Hash
	pos    []int
	// upTo is the size of the prefix that ends with each block, whole the prompt's.
	upTo  []int
	whole int
	// cached is the size of the largest prefix that can be read after this request.
	cached int
	// explicit marks and the expanded automatic one, in order.
	marks   []Mark
	written []*entry
	out     *Outcome
}

func (s *run) request(index int, r *Request, out *Outcome) {
	p := r.Prompt
	out.Hit = -1
	out.Rejections = p.Rejections
	if len(out.Rejections) == 0 {
		out.Rejections = p.check(r.Rules)
	}
	for _, rej := range out.Rejections {
		out.Findings = append(out.Findings, rejected(rej))
	}
	if len(out.Rejections) > 0 {
		return
	}
	st := &step{index: index, req: r, prompt: p, keys: p.chain(r.Rules, r.Scope), out: out}
	st.measure()
	switch r.Rules.Mode {
	case ModeMarks:
		st.pos = p.positions(r.Rules)
		s.marks(st)
	case ModeBreakpoints:
		s.breakpoints(st)
	case ModePrefix, ModeUnits:
		s.prefix(st)
	default:
		out.Uncached = st.whole
	}
	out.Cost = r.Price.Cost(out.Split)
	if before := s.last[r.Thread]; before != nil {
		out.Findings = append(out.Findings, compare(before, st)...)
	}
	s.judge(st)
	s.last[r.Thread] = st
	s.steps = append(s.steps, st)
}

// measure adds the blocks up. Where the provider reported the size of the prompt, the blocks are scaled to it.
func (st *step) measure() {
	st.upTo = make([]int, len(st.prompt.Blocks))
	for i := range st.prompt.Blocks {
		st.whole += st.prompt.Blocks[i].Tokens
		st.upTo[i] = st.whole
	}
	b := st.req.Billed
	if b == nil || st.whole == 0 || b.Prompt() == 0 {
		return
	}
	sum := st.whole
	st.whole = b.Prompt()
	for i := range st.upTo {
		st.upTo[i] = int(int64(st.upTo[i]) * int64(st.whole) / int64(sum))
	}
}

// visibleAt is when what the request writes can be read.
func (st *step) visibleAt() time.Duration {
	r := st.req
	first := r.FirstToken
	if first <= 0 {
		first = DefaultFirstToken
	}
	if r.Rules.VisibleAtEnd {
		return r.Start + max(first, r.Duration)
	}
	return r.Start + first
}

// write adds entries.
func (s *run) write(st *step, block int, ttl time.Duration, implicit bool) {
	e := &entry{
		tokens: st.upTo[block], ttl: ttl, visible: st.visibleAt(), expires: st.req.Start + ttl, implicit: implicit, by: st.index,
	}
	old := s.store[st.keys[block]]
	if old != nil {
		keep := *old
		keep.replaced = nil
		e.replaced = &keep
	}
	if old != nil && old.expires > st.req.Start {
		// Written by somebody whose answer has not begun: it stays visible from then on, whoever pays.
		e.visible = min(e.visible, old.visible)
		e.implicit = implicit && old.implicit
	}
	s.store[st.keys[block]] = e
	st.written = append(st.written, e)
}

func (e *entry) refresh(at time.Duration) { e.expires = max(e.expires, at+e.ttl) }
