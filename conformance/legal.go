package conformance

// fault is one thing a provider would reject, or that the service reports.
type fault string

const (
	faultMissingResult    fault = "MISSING_RESULT"
	faultOrphanResult     fault = "ORPHAN_RESULT"
	faultDuplicateResult  fault = "DUPLICATE_RESULT"
	faultDuplicateCall    fault = "DUPLICATE_CALL_ID"
	faultTextBeforeResult fault = "TEXT_BEFORE_RESULT"
	faultServerPair       fault = "SERVER_PAIR"
	faultBlankText        fault = "BLANK_TEXT"
	faultEmpty            fault = "EMPTY_CONTENT"
	faultSilent           fault = "ASSISTANT_SAYS_NOTHING"
	faultLeading          fault = "LEADING_ASSISTANT"
	faultRole             fault = "BAD_ROLE"
	faultOtherForm        fault = "RESULT_OF_THE_OTHER_FORM"
)

// repairable are the faults that a changed conversation must not have any more.
// The others have no listed repair and stay where they were.
func (f fault) repairable() bool {
	switch f {
	case faultMissingResult, faultOrphanResult, faultDuplicateResult, faultBlankText, faultEmpty:
		return true
	}
	return false
}

// finding is a fault and where it stands.
type finding struct {
	fault fault
	index int
	id    string
}

// legality is what a provider would say of a conversation.
type legality struct {
	faults []finding
	// inFlight are the calls of the last assistant turn that have no result yet.
	inFlight []openCall
}

// Faults lists what a provider would refuse: calls and results that do not pair,
// roles out of order, blank texts, breakpoints that are too many or in wrong places.
func (t *Transcript) Faults() []Violation {
	var f findings
	judgeMarks(&f, t.marks())
	for _, found := range t.judge().faults {
		f.add(RuleLegal, found.index, "%s", found.fault)
	}
	return f.list
}

// LastFault is the index of the last message that calls, results, roles or texts are at
// fault in, -1 for none. On a continuity hit the messages behind the compressed ones stay
// as they are, so that an answer is judged only where none of them is.
func (t *Transcript) LastFault() int {
	last := -1
	for _, found := range t.judge().faults {
		last = max(last, found.index)
	}
	return last
}

// judge finds every fault of a transcript.
func (t *Transcript) judge() legality {
	j := judge{t: t, lastAssistant: -1}
	for i, m := range t.messages {
		if m.takesTurn() {
			j.lastAssistant = i
		}
	}
	for i, m := range t.messages {
		j.contents(i, m)
		if t.dialect == Anthropic {
			j.anthropic(i, m)
		} else {
			j.openAI(i, m)
		}
	}
	j.close(len(t.messages))
	if t.system != nil {
		j.blanks(-1, t.system)
	}
	return j.out
}

// judge walks a transcript with the calls of the open turn in hand.
type judge struct {
	t             *Transcript
	out           legality
	lastAssistant int

	open     bool
	calls    []openCall
	byID     map[string][]int // calls waiting, by spelling; served from the front
	answered map[string]bool
	text     bool // a user turn has begun with something else than a result
	passed   bool // a user's message without results stands behind the open calls
	spoken   bool // some message that is not a system prompt was seen
}

type openCall struct {
	message int
	id      string
	raw     []byte
	legacy  bool // a function_call
	done    bool
}

func (j *judge) fault(f fault, index int, id string) {
	j.out.faults = append(j.out.faults, finding{f, index, id})
}

// contents finds what is wrong with a message by itself.
func (j *judge) contents(i int, m *message) {
	anthropic := j.t.dialect == Anthropic
	switch {
	case known(m):
	case m.isResult() && !anthropic:
	default:
		j.fault(faultRole, i, "")
	}
	if anthropic && !j.spoken && m.role == "assistant" {
		j.fault(faultLeading, i, "")
	}
	j.spoken = j.spoken || !m.isSystem()
	switch {
	case m.role == "assistant" && !anthropic:
		if m.content.empty() && len(m.calls) == 0 && !m.speaksElsewhere() {
			j.fault(faultSilent, i, "")
		}
	case anthropic && known(m) && m.content.empty() && !(m.role == "assistant" && i == len(j.t.messages)-1):
		j.fault(faultEmpty, i, "")
	}
	if anthropic {
		j.blanks(i, m)
		j.server(i, m)
	}
}

// takesTurn says that the message is the model's: an assistant's, or one that calls
// tools under a role that nobody documents. A call in the message of a user or of the
// system is none, and no repair is listed for it.
func (m *message) takesTurn() bool {
	return m.role == "assistant" || !known(m) && !m.isResult() && (len(m.calls) > 0 || m.has("tool_use"))
}

// known says that the role is one that providers document; a message of another
// is carried and never interpreted.
func known(m *message) bool {
	return m.isSystem() || m.role == "user" || m.role == "assistant"
}

// speaksElsewhere reports whether an OpenAI assistant message without content
// says something in another field.
func (m *message) speaksElsewhere() bool {
	return !isNull(m.object.get("audio")) || m.object.text("refusal") != ""
}

func (j *judge) blanks(i int, m *message) {
	if m.content.shape != shapeList || !known(m) {
		return
	}
	for b := range m.content.blocks {
		if m.content.blocks[b].isBlank() {
			j.fault(faultBlankText, i, "")
		}
	}
}

// server checks the provider's own calls: each result stands after its call in
// the same message; only the last message may still wait for one.
func (j *judge) server(i int, m *message) {
	var waiting map[string]bool
	for b := range m.content.blocks {
		switch blk := &m.content.blocks[b]; {
		case blk.isServerCall():
			if waiting == nil {
				waiting = make(map[string]bool)
			}
			waiting[blk.id] = true
		case blk.isServerAnswer():
			if !waiting[blk.id] {
				j.fault(faultServerPair, i, blk.id)
			}
			delete(waiting, blk.id)
		}
	}
	if len(waiting) > 0 && i < j.lastAssistant {
		j.fault(faultServerPair, i, "")
	}
}

// openAI follows calls and results of OpenAI and typed messages: results are
// messages of their own directly after the calls.
func (j *judge) openAI(i int, m *message) {
	if m.isResult() && j.t.dialect == OpenAI {
		j.result(i, m.answers, m.legacy)
		return
	}
	// In the typed form results in the message of a user answer, too.
	if m.isResult() || j.t.dialect == Typed && !m.takesTurn() && m.has("tool_result") {
		answers, more := false, false
		for b := range m.content.blocks {
			if blk := &m.content.blocks[b]; blk.kind == "tool_result" {
				answers = j.result(i, spellings(blk.id), false) || answers
			} else {
				more = true
			}
		}
		if !m.isResult() && !answers && more {
			j.close(i) // without the results somebody else speaks between
		}
		return
	}
	j.close(i)
	if m.takesTurn() {
		for _, c := range m.calls {
			j.call(i, c.raw, c.ids, c.legacy)
		}
	}
	if j.t.dialect != Typed {
		return
	}
	for b := range m.content.blocks {
		switch blk := &m.content.blocks[b]; {
		case blk.kind == "tool_use" && m.takesTurn():
			j.call(i, blk.raw, spellings(blk.id), false)
		case blk.kind == "tool_result":
			j.fault(faultOrphanResult, i, blk.id)
		}
	}
}

// anthropic follows calls and results of Anthropic messages. Adjacent messages
// of one role are one turn; the results open the user turn after the calls.
func (j *judge) anthropic(i int, m *message) {
	switch {
	case m.takesTurn():
		if i == 0 || !j.t.messages[i-1].takesTurn() {
			j.close(i)
		}
		for b := range m.content.blocks {
			if blk := &m.content.blocks[b]; blk.kind == "tool_use" {
				if j.open && len(j.byID[blk.id]) > 0 {
					j.fault(faultDuplicateCall, i, blk.id)
				}
				j.call(i, blk.raw, []string{blk.id}, false)
			}
		}
		j.text, j.passed = false, false
	case m.role == "user":
		j.passed = !m.has("tool_result")
		for b := range m.content.blocks {
			blk := &m.content.blocks[b]
			if blk.kind != "tool_result" {
				j.text = true
				continue
			}
			if j.text && j.open {
				j.fault(faultTextBeforeResult, i, blk.id)
			}
			j.result(i, []string{blk.id}, false)
		}
	default:
		if !m.has("tool_result") || j.passed {
			j.close(i)
			if !m.has("tool_result") {
				return
			}
		}
		// No provider takes the role; its results still belong to their calls.
		for b := range m.content.blocks {
			if blk := &m.content.blocks[b]; blk.kind == "tool_result" {
				j.result(i, []string{blk.id}, false)
			}
		}
	}
}

func (j *judge) call(i int, raw []byte, ids []string, legacy bool) {
	if !j.open {
		j.open = true
		j.calls = j.calls[:0]
		j.byID = make(map[string][]int)
		j.answered = make(map[string]bool)
	}
	n := len(j.calls)
	if len(ids) == 0 {
		ids = []string{""} // a call without an id is answered by a result without one
	}
	j.calls = append(j.calls, openCall{message: i, id: ids[0], raw: raw, legacy: legacy})
	for _, id := range ids {
		j.byID[id] = append(j.byID[id], n)
	}
}

// result finds the call that a result answers, and reports whether there is one. legacy is
// set for a message of a function, which answers a function_call.
func (j *judge) result(i int, ids []string, legacy bool) bool {
	if len(ids) == 0 {
		ids = []string{""}
	}
	id := ids[0]
	if !j.open {
		j.fault(faultOrphanResult, i, id)
		return false
	}
	known := false
	for _, id := range ids {
		waiting := j.byID[id]
		for len(waiting) > 0 && j.calls[waiting[0]].done {
			waiting = waiting[1:]
		}
		j.byID[id] = waiting
		if len(waiting) > 0 {
			j.calls[waiting[0]].done = true
			if j.calls[waiting[0]].legacy != legacy && j.t.dialect == OpenAI {
				j.fault(faultOtherForm, i, id) // its call is there, and no repair is listed
			}
			j.answered[id] = true
			j.byID[id] = waiting[1:]
			return true
		}
		known = known || j.answered[id]
	}
	if known {
		j.fault(faultDuplicateResult, i, id)
	} else {
		j.fault(faultOrphanResult, i, id)
	}
	return false
}

// close ends the open turn before message i.
func (j *judge) close(i int) {
	if j.open {
		for _, c := range j.calls {
			switch {
			case c.done:
			case i > j.lastAssistant:
				j.out.inFlight = append(j.out.inFlight, c)
			default:
				j.fault(faultMissingResult, c.message, c.id)
			}
		}
	}
	j.open, j.text = false, false
}

// alternates reports whether no two neighbours are both the user's or both the
// assistant's: what strict chat templates demand. Results and system prompts
// stand between.
func (t *Transcript) alternates() bool {
	for i := 1; i < len(t.messages); i++ {
		was, is := t.messages[i-1].role, t.messages[i].role
		if was == is && (is == "user" || is == "assistant") {
			return false
		}
	}
	return true
}
