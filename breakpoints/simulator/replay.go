package simulator

import (
	"fmt"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// Schedule says when the requests of a replay are sent.
type Schedule struct {
	// Gap is the time from the start of a request to that of the next. Default [DefaultGap].
	Gap time.Duration
	// Every PauseEvery-th gap is Pause instead. 0: none.
	PauseEvery int
	Pause      time.Duration
}

// DefaultGap is the time between the requests of a replay: an agent's step.
const DefaultGap = 20 * time.Second

// Start is when a turn is sent, counted from the first.
func (s Schedule) Start(turn int) time.Duration {
	gap := s.Gap
	if gap <= 0 {
		gap = DefaultGap
	}
	if s.PauseEvery <= 0 || s.Pause <= 0 {
		return time.Duration(turn) * gap
	}
	pauses := turn / s.PauseEvery
	return time.Duration(turn-pauses)*gap + time.Duration(pauses)*s.Pause
}

// Turn is one request of a replay.
type Turn struct {
	// Messages is how many messages of the conversation it has.
	Messages int
	// Conversation is that beginning. Its Source is the whole body.
	Conversation *conversation.Conversation
	// Prompt has no marks.
	Prompt *Prompt
	// Counts are the sizes of its parts.
	Counts breakpoints.TokenCounts
	Rules  *Rules
	Price  *Price
	Start  time.Duration
	// full is the conversation that it is the beginning of.
	full *conversation.Conversation
	// sent is the prompt with the marks it came with, nil in a replay.
	sent *Prompt
}

// Replay is a conversation as the requests that its agent made.
type Replay struct {
	Turns []Turn
}

// NewReplay takes a conversation apart: a request ends before each answer of the model, and what follows the last answer
// is a request too. Messages of the model that follow each other are one answer. rules and price are used for all.
func NewReplay(m *Material, rules *Rules, price *Price, schedule Schedule) *Replay {
	r := &Replay{}
	for _, n := range turnEnds(m.conv) {
		part := *m.conv
		part.Messages = m.conv.Messages[:n]
		r.Turns = append(r.Turns, Turn{
			Messages: n, Conversation: &part, Prompt: m.Prompt(n, rules), Counts: m.counts(n),
			Rules: rules, Price: price, Start: schedule.Start(len(r.Turns)), full: m.conv,
		})
		last := r.Turns[len(r.Turns)-1].Prompt // many placements are tried on it, and none changes what it says
		last.keys = last.chain(rules, "")
	}
	return r
}

// Add appends a request that was made as it stands, with rules and a price of its own: a replay of bodies that were
// recorded one by one starts as the zero Replay. [AsSent] leaves the marks they came with.
func (r *Replay) Add(m *Material, rules *Rules, price *Price, start time.Duration) {
	n := len(m.messages)
	r.Turns = append(r.Turns, Turn{
		Messages: n, Conversation: m.conv, Prompt: m.Prompt(n, rules), Counts: m.counts(n),
		Rules: rules, Price: price, Start: start, full: m.conv, sent: m.Request(rules),
	})
}

// AsSent leaves the marks that requests came with.
func AsSent(turn *Turn) error {
	if turn.sent != nil {
		turn.Prompt = turn.sent
	}
	return nil
}

// turnEnds lists the numbers of messages that requests had.
func turnEnds(c *conversation.Conversation) []int {
	var out []int
	spoken := false // somebody but the model and the system prompt
	for i := range c.Messages {
		answer := c.Messages[i].Role == conversation.RoleAssistant
		if answer && spoken && c.Messages[i-1].Role != conversation.RoleAssistant {
			out = append(out, i)
		}
		spoken = spoken || !answer && c.Messages[i].Role != conversation.RoleSystem
	}
	if n := len(c.Messages); n > 0 && spoken && c.Messages[n-1].Role != conversation.RoleAssistant {
		out = append(out, n)
	}
	return out
}

// Placer chooses the marks of a turn, given the turns before it. It sets them on turn.Prompt with [Prompt.Place], or
// replaces the prompt.
type Placer func(turn *Turn) error

// Run simulates the replay with a placement; nil places nothing. The replay is not changed. Errors are the placer's.
func (r *Replay) Run(place Placer) (*Report, error) {
	requests, err := r.Requests(place)
	if err != nil {
		return nil, err
	}
	return Run(requests)
}

// Requests returns the requests with the placement, for changes before [Run].
func (r *Replay) Requests(place Placer) ([]Request, error) {
	requests := make([]Request, len(r.Turns))
	for i := range r.Turns {
		turn := r.Turns[i]
		prompt := *turn.Prompt
		turn.Prompt = &prompt
		if place != nil {
			if err := place(&turn); err != nil {
				return nil, fmt.Errorf("turn %d: %w", i, err)
			}
		}
		requests[i] = Request{Prompt: turn.Prompt, Rules: turn.Rules, Price: turn.Price, Start: turn.Start}
	}
	return requests, nil
}

// ByOptions places as [breakpoints.Place] does, with the layout, the model and the sizes of each turn, and hands its
// state from turn to turn. The option SplitSystem changes blocks and is left out. The placer is for one run.
func ByOptions(opts breakpoints.Options) Placer {
	opts.SplitSystem = false
	return func(turn *Turn) error {
		opts.Tokens, opts.Layout, opts.Model, opts.MinPrefix = &turn.Counts, turn.Rules.Layout, turn.Prompt.Model, turn.Rules.MinTokens
		res, err := breakpoints.Place(turn.Conversation, opts)
		if err != nil {
			return err
		}
		opts.State = res.State
		turn.Prompt.Place(res.Breakpoints)
		return nil
	}
}

// ByBody places as somebody else's program does: it gets the turn's request body and returns it with marks. The body is
// read again; its blocks keep the sizes they had. Errors are those of mark, and a body that cannot be read.
func ByBody(mark func(body string) (string, error)) Placer {
	return func(turn *Turn) error {
		body, err := mark(turn.Body())
		if err != nil {
			return err
		}
		c, err := conversation.Parse(turn.Conversation.Format, body, conversation.Limits{})
		if err != nil {
			return fmt.Errorf("marked body: %w", err)
		}
		m, err := Read(c, turn.Prompt.Model, nil)
		if err != nil {
			return err
		}
		marked := m.Request(turn.Rules)
		marked.inherit(turn.Prompt)
		turn.Prompt = marked
		return nil
	}
}

// inherit takes over the sizes of the same blocks of another prompt.
func (p *Prompt) inherit(from *Prompt) {
	sizes := make(map[Hash]int, len(from.Blocks))
	for i := range from.Blocks {
		sizes[from.Blocks[i].Hash] = from.Blocks[i].Tokens
	}
	for i := range p.Blocks {
		if n, ok := sizes[p.Blocks[i].Hash]; ok {
			p.Blocks[i].Tokens = n
		}
	}
}

// Body is the request body of the turn: the caller's bytes up to its last message, and those after the list.
func (t *Turn) Body() string {
	all := t.full.Messages
	if t.Messages == len(all) || t.Messages == 0 {
		return t.full.Source
	}
	return t.full.Source[:all[t.Messages-1].Span.End] + t.full.Source[all[len(all)-1].Span.End:]
}

// Optimum returns what no placement can exceed: for every turn the largest prefix, in tokens, that an earlier turn had
// too, that was last sent less than ttl before, and that is large enough to be cached. It lets every block be marked and
// every mark be refreshed, so with a limit on marks it is a bound. A conversation that is only appended to, without
// expiry, reaches it by marking the end of the request before and the last block: an entry exists only where an earlier
// request ended, and the largest of those is then read.
//
// Without automatic only places count that the caller's form has; with it also those that the provider's own marks reach.
func (r *Replay) Optimum(ttl time.Duration, automatic bool) []int {
	seen := make(map[Hash]time.Duration)
	best := make([]int, len(r.Turns))
	for i := range r.Turns {
		t := &r.Turns[i]
		keys := t.Prompt.chain(t.Rules, "")
		sum := 0
		for k := range keys {
			b := &t.Prompt.Blocks[k]
			sum += b.Tokens
			at, ok := seen[keys[k]]
			if ok && t.Start >= at+DefaultFirstToken && t.Start < at+ttl && sum >= t.Rules.MinTokens && b.Refused == "" && (automatic || !b.Hidden) {
				best[i] = sum
			}
			seen[keys[k]] = t.Start
		}
	}
	return best
}
