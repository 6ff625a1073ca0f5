package extractive

import (
	"slices"
	"strconv"
	"strings"
)

// Shares of the budget that a section may take before facts compete for the
// rest. What a section leaves goes to the facts.
const (
	shareGoal       = 0.10
	shareRules      = 0.08
	shareList       = 0.08
	shareListMost   = 0.35 // where lists are long
	shareInProgress = 0.04
	shareBlocked    = 0.05
	shareNext       = 0.04
	shareRequests   = 0.08
	shareDecisions  = 0.06
	shareFiles      = 0.10
	shareDone       = 0.12
	shareCarried    = 0.15 // Critical context of the previous summary
	shareProse      = 0.06
	shareFocus      = 0.60 // everything about the focus, where one is set
)

// filler decides what goes into the summary.
type filler struct {
	*draft
	ledger
	covered []bool // terms that stand in the summary
	// relevance is what each unit has to do with the focus or the newest request, factors
	// what a unit's gain is multiplied by for its passage.
	relevance, factors []float64
	// chosen units by passage, and the bytes of the line being filled there.
	picked  map[int32]*group
	groups  []*group
	quotes  map[int32]string // chosen units as they stand in a line
	history []choice         // in the order of taking: the last goes first
	alarms  []string         // shapes of the error lines already quoted
	// leftovers are the notes that compete with units.
	leftovers []*note
}

// choice is one thing taken: a note or a unit.
type choice struct {
	note *note
	unit int32
	cost int
}

// take spends at most most tokens on the notes, in their order.
func (f *filler) take(notes []*note, most int) error {
	spent, misses := 0, 0
	for _, n := range notes {
		if n.taken {
			continue
		}
		room := min(most-spent, f.left())
		if room <= 0 || misses > 3 {
			break
		}
		cost, err := f.price(n, room)
		if err != nil {
			return err
		}
		if cost > room {
			misses++
			continue
		}
		f.accept(n, cost)
		spent += cost
	}
	return nil
}

// price counts a note with the headings it would open.
func (f *filler) price(n *note, room int) (int, error) {
	line := n.line()
	if hopeless(line, room) {
		return room + 1, nil
	}
	head, err := f.headings(n.section)
	if err != nil {
		return 0, err
	}
	cost, err := f.count(f.ctx, line+"\n")
	return head + cost, err
}

func (f *filler) accept(n *note, cost int) {
	n.taken = true
	f.used += cost
	f.opened(n.section)
	f.cover(n.refs)
	f.history = append(f.history, choice{note: n, cost: cost})
}

func (f *filler) cover(refs []int32) {
	for _, id := range refs {
		f.grow()
		f.covered[id] = true
	}
}

func (f *filler) grow() {
	if n := len(f.lex.terms) - len(f.covered); n > 0 {
		f.covered = append(f.covered, make([]bool, n)...)
	}
}

// fill takes lines section by section, then facts.
func (f *filler) fill() error {
	f.grow()
	f.weigh()
	scale := 1.0
	focused := f.req.Focus != "" && f.anyRelevant()
	if focused {
		scale = 0.4
	}
	share := func(x float64) int { return int(x * scale * float64(f.budget)) }

	if err := f.goal(share(shareGoal)); err != nil {
		return err
	}
	for s := range f.carried {
		youngestFirst(f.carried[s])
	}
	newestFirst(f.notes[sectionConstraints])
	steps := []func() error{
		func() error {
			return f.both(f.carried[sectionConstraints], f.notes[sectionConstraints], share(shareRules), 0.6)
		},
		func() error { return f.list(share(shareList)) },
		func() error {
			return f.both(f.carried[sectionInProgress], f.notes[sectionInProgress], share(shareInProgress), 0.4)
		},
		func() error {
			return f.both(f.carried[sectionBlocked], f.notes[sectionBlocked], share(shareBlocked), 0.3)
		},
		func() error { return f.take(f.notes[sectionNext], share(shareNext)) },
		func() error { return f.requests(share(shareRequests)) },
	}
	if focused {
		steps = append(steps, func() error { return f.focus(int(shareFocus * float64(f.budget))) })
	}
	steps = append(steps,
		func() error {
			return f.both(f.carried[sectionDecisions], f.notes[sectionDecisions], share(shareDecisions), 0.4)
		},
		func() error {
			return f.both(f.carried[sectionFiles], f.notes[sectionFiles], share(shareFiles), 0.4)
		},
		func() error { return f.done(share(shareDone)) },
		func() error {
			byScore(f.carried[sectionCritical])
			return f.take(f.carried[sectionCritical], int(shareCarried*float64(f.budget)))
		},
		func() error { return f.take(f.script.media, share(shareNext)) },
		func() error { return f.prose(share(shareProse)) },
		func() error { return f.facts(f.left(), false) },
	)
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// both spends on carried lines a part of a section's share, then on new ones,
// then on carried ones again.
func (f *filler) both(carried, fresh []*note, most int, part float64) error {
	before := f.used
	if err := f.take(carried, int(part*float64(most))); err != nil {
		return err
	}
	if err := f.take(fresh, most-(f.used-before)); err != nil {
		return err
	}
	return f.take(carried, most-(f.used-before))
}

// goal takes the first request, shortened if need be: no summary is without it.
func (f *filler) goal(most int) error {
	lines := f.carried[sectionGoal]
	if len(lines) == 0 {
		lines = f.notes[sectionGoal]
	}
	end := 0 // the lines of one message
	for end < len(lines) && lines[end].turn == lines[0].turn && lines[end].tag == lines[0].tag && lines[end].key == "" {
		end++
	}
	if end == 0 {
		return nil
	}
	if err := f.takeShortened(lines[0], max(most, min(60, f.budget*3/4))); err != nil {
		return err
	}
	return f.take(lines[1:end], most-f.used)
}

// takeShortened takes a note, cut to the room there is.
func (f *filler) takeShortened(n *note, room int) error {
	room = min(room, f.left())
	full := n.text
	for size := len(full); ; {
		cost, err := f.price(n, room)
		if err != nil {
			return err
		}
		if cost <= room {
			f.accept(n, cost)
			return nil
		}
		size = min(size*3/4, 12*room+64)
		if size < 12 {
			n.text = full
			return nil
		}
		n.text = clipQuoted(full, size)
	}
}

// clipQuoted shortens a line and keeps its closing quote.
func clipQuoted(s string, n int) string {
	if strings.HasSuffix(s, `"`) && len(s) > n {
		return clip(s[:len(s)-1], n-1) + `"`
	}
	return clip(s, n)
}

// requests takes later requests, the newest first.
func (f *filler) requests(most int) error {
	newestFirst(f.notes[sectionGoal])
	later := slices.DeleteFunc(slices.Clone(f.notes[sectionGoal]), func(n *note) bool { return n.key != "" })
	return f.both(f.carried[sectionGoal], later, most, 0.4)
}

// list takes the items of the user's lists. Items are cut rather than left out:
// a list of many must not become a list of some.
func (f *filler) list(most int) error {
	var items []*note
	size := 0
	for _, n := range f.notes[sectionGoal] {
		if n.key == "item" {
			items = append(items, n)
			size += int(estimate(len(n.line())))
		}
	}
	if len(items) == 0 || most <= 0 {
		return nil
	}
	// An item needs a dozen tokens to say anything.
	most = max(most, min(12*len(items), int(shareListMost*float64(f.budget))))
	if size > most {
		// The tag and the marker of an item cost some seven tokens.
		each := max(int(float64(most)/float64(len(items))-7)*3, 18)
		for _, n := range items {
			n.text = clip(n.text, each)
			n.refs = f.refsOf(n.text)
		}
	}
	spent := 0
	for _, n := range items {
		room := min(most*3/2-spent, f.left())
		cost, err := f.price(n, room)
		if err != nil {
			return err
		}
		if cost > room {
			return nil
		}
		f.accept(n, cost)
		spent += cost
	}
	return nil
}

// done takes finished work: tasks and reports, then calls, then one line that
// counts all calls.
func (f *filler) done(most int) error {
	notes := f.notes[sectionDone]
	newestFirst(notes)
	if err := f.both(f.carried[sectionDone], notes, most, 0.35); err != nil {
		return err
	}
	counts := f.callCounts()
	if counts.text == "" {
		return nil
	}
	f.notes[sectionDone] = append(notes, &counts)
	return f.take(f.notes[sectionDone][len(notes):], max(most/4, 24))
}

// callCounts tells how often each tool was called, in order of first use.
func (f *filler) callCounts() note {
	var names []string
	counts := make(map[string]int)
	for i := range f.script.calls {
		name := f.script.calls[i].name
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}
	if len(f.script.calls) < 4 || len(names) > 24 {
		return note{}
	}
	var sb strings.Builder
	for i, name := range names {
		if i > 0 {
			sb.WriteString(", ")
		}
		sb.WriteString(name + " ×" + strconv.Itoa(counts[name]))
	}
	last := &f.script.calls[len(f.script.calls)-1]
	return note{section: sectionDone, index: last.index, turn: last.turn, seq: 1 << 20, voice: voiceCall, text: "calls: " + sb.String()}
}
