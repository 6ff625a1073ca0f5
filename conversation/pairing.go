package conversation

import "strings"

// Pairing says which tool result answers which call, and what is wrong.
type Pairing struct {
	// Unit[i] is the index of the message that begins the unit message i belongs
	// to. A unit is a message, or an assistant turn with calls together with the
	// messages that hold its results; it is never cut.
	Unit []int
	// Missing are calls without a result, in-flight calls excluded.
	Missing []Ref
	// InFlight are calls of the last assistant turn without a result: the caller
	// is still running them.
	InFlight []Ref
	// Orphans are results whose call is not in the turn before them.
	Orphans []Ref
	// Duplicates are second results of a call already answered.
	Duplicates []Ref
	// Ambiguous are calls that share an id with another call of the same turn
	// where the provider refuses that.
	Ambiguous []Ref
	// CallOf leads from a result to its call.
	CallOf map[Ref]Ref
}

// Pair matches calls and results by id and order: a result answers the first
// unanswered call with its id of the turn directly before it. Ids may be used again
// in later turns (field report C077), so an id alone never decides. Results in an
// assistant message answer nothing. It takes time linear in the number of blocks.
func Pair(c *Conversation) *Pairing {
	p := &pairer{c: c, out: &Pairing{
		Unit:   make([]int, len(c.Messages)),
		CallOf: make(map[Ref]Ref),
	}}
	for i := range c.Messages {
		if c.Messages[i].takesTurn() {
			p.lastAssistant = i
		}
	}
	for i := range c.Messages {
		p.message(i)
	}
	p.close(true)
	return p.out
}

// pairer walks the messages with the calls of the open turn in hand.
type pairer struct {
	c     *Conversation
	out   *Pairing
	start int // message that began the open turn
	open  bool
	// answering is set once a message with results was met in the open turn: no
	// further assistant message can join it.
	answering bool
	calls     []openCall
	waiting   int // calls without a result
	// byID finds the calls of the open turn by id; legacy calls have the id "".
	byID map[string]*callQueue
	// nextResult is a message with results known to follow in the open turn, which
	// spares looking for it again.
	nextResult    int
	lastAssistant int
}

type openCall struct {
	ref      Ref
	answered bool
}

// callQueue holds the positions of the calls with one id; those before next are
// answered, so that many results of one id do not look at them again and again.
type callQueue struct {
	calls []int
	next  int
}

func (p *pairer) message(i int) {
	m := &p.c.Messages[i]
	p.out.Unit[i] = i
	switch {
	case m.takesTurn():
		p.assistant(i, m)
	case m.Has(KindToolResult):
		p.results(i, m)
	case p.open && m.Role == RoleUser && p.c.Format == FormatAnthropicMessages && p.pendingResults(i):
		// A user message between two result messages of one turn: Anthropic reads
		// adjacent user messages as one.
		p.out.Unit[i] = p.start
	case p.open && m.Role == RoleTool && p.c.Format != FormatAnthropicMessages:
		// A tool's message without a result, or that has lost an orphan: nobody speaks in
		// it, and the results behind it still answer.
		p.out.Unit[i] = p.start
	default:
		p.close(i > p.lastAssistant)
	}
}

// takesTurn reports whether a message is a turn of the model: the assistant's, or
// one that calls tools under a role word of its own.
func (m *Message) takesTurn() bool {
	return m.Role == RoleAssistant || m.Role == RoleOther && m.Has(KindToolUse)
}

// assistant begins a turn, or continues one: Anthropic reads adjacent assistant
// messages as one.
func (p *pairer) assistant(i int, m *Message) {
	if p.open && !p.answering && p.c.Format == FormatAnthropicMessages {
		p.out.Unit[i] = p.start
	} else {
		p.close(false)
		if m.Has(KindToolUse) {
			p.begin(i)
		}
	}
	for b := range m.Blocks {
		switch m.Blocks[b].Kind {
		case KindToolUse:
			p.addCall(Ref{i, b})
		case KindToolResult:
			p.out.Orphans = append(p.out.Orphans, Ref{i, b})
		}
	}
}

// pendingResults reports whether a later message of the same user turn holds a
// result of the open call turn.
func (p *pairer) pendingResults(i int) bool {
	if p.waiting == 0 {
		return false
	}
	if i < p.nextResult {
		return true
	}
	for j := i + 1; j < len(p.c.Messages) && p.c.Messages[j].Role == RoleUser; j++ {
		if p.c.Messages[j].Has(KindToolResult) {
			p.nextResult = j
			return true
		}
	}
	return false
}

func (p *pairer) begin(i int) {
	p.start, p.open, p.answering = i, true, false
	p.calls, p.waiting = p.calls[:0], 0
	p.byID = make(map[string]*callQueue)
}

func (p *pairer) addCall(ref Ref) {
	call := p.c.At(ref)
	n := len(p.calls)
	p.calls = append(p.calls, openCall{ref: ref})
	p.waiting++
	if p.c.Format == FormatAnthropicMessages && p.byID[call.ID] != nil {
		p.out.Ambiguous = append(p.out.Ambiguous, ref)
	}
	for _, id := range callIDs(call) {
		q := p.byID[id]
		if q == nil {
			q = &callQueue{}
			p.byID[id] = q
		}
		q.calls = append(q.calls, n)
	}
}

// callIDs lists every spelling under which a result may name the call: id,
// call_id, and the halves of a joined "call|item" id. A legacy call has no id: its
// result names the function only.
func callIDs(b *Block) []string {
	ids := []string{b.ID}
	if b.Site == SiteFunctionCall && b.ID != "" {
		ids = append(ids, "")
	}
	add := func(id string) {
		for _, have := range ids {
			if have == id {
				return
			}
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	add(b.AltID)
	for _, id := range []string{b.ID, b.AltID} {
		if head, tail, ok := strings.Cut(id, "|"); ok {
			add(head)
			add(tail)
		}
	}
	return ids
}

func (p *pairer) results(i int, m *Message) {
	matched := false
	for b := range m.Blocks {
		if m.Blocks[b].Kind == KindToolResult && p.result(Ref{i, b}) {
			matched = true
		}
	}
	if p.open && (matched || p.staysWithTurn(m)) {
		p.out.Unit[i] = p.start
		p.answering = true
		return
	}
	p.close(i > p.lastAssistant)
}

// staysWithTurn reports whether a message whose results answer nothing still belongs to
// the open turn, once they are gone: it must leave nothing between the calls and the
// results behind it.
func (p *pairer) staysWithTurn(m *Message) bool {
	if p.c.Format == FormatAnthropicMessages {
		return m.Role == RoleUser // one turn with the messages around it
	}
	if m.Role == RoleTool {
		return true
	}
	for b := range m.Blocks {
		if m.Blocks[b].Kind != KindToolResult {
			return false
		}
	}
	return true
}

// result finds the call a result answers and reports whether there is one.
func (p *pairer) result(ref Ref) bool {
	if !p.open {
		p.out.Orphans = append(p.out.Orphans, ref)
		return false
	}
	spellings := callIDs(p.c.At(ref))
	known := false
	for _, id := range spellings {
		q := p.byID[id]
		if q == nil {
			continue
		}
		known = true
		for ; q.next < len(q.calls); q.next++ {
			call := &p.calls[q.calls[q.next]]
			if !call.answered {
				call.answered = true
				p.waiting--
				p.out.CallOf[ref] = call.ref
				return true
			}
		}
	}
	if known {
		p.out.Duplicates = append(p.out.Duplicates, ref)
	} else {
		p.out.Orphans = append(p.out.Orphans, ref)
	}
	return false
}

// close ends the open turn. Its unanswered calls are in flight when no assistant
// message follows, else they are missing their results.
func (p *pairer) close(last bool) {
	if !p.open {
		return
	}
	for _, call := range p.calls {
		switch {
		case call.answered:
		case last:
			p.out.InFlight = append(p.out.InFlight, call.ref)
		default:
			p.out.Missing = append(p.out.Missing, call.ref)
		}
	}
	p.open = false
}
