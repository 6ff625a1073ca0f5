package compressor

import (
	"context"
	"fmt"

	"github.com/elbowroom/elbowroom/conversation"
)

// Figures of the boundary rules.
const (
	// tailCeiling is how far the tail walk may run over its budget.
	tailCeiling = 1.5
	// tooShortTail is the tail that the too-short rule reckons with.
	tooShortTail = 3
	// anchorRoom is the share of the threshold that the result may reach when the
	// tail is stretched back to the newest request. Above it the request is kept
	// alone: stretching further would only bring the next compression nearer.
	anchorRoom = 0.75
	// smallestSummary is the summary budget in tokens that a tight target leaves.
	smallestSummary = 64
)

// layout is where the rows are cut: rows[:head] stay, rows[middle:tail] are
// summarized but for the pinned ones, rows[tail:] stay. rows[head:middle] are
// earlier summaries, which are replaced.
type layout struct {
	head, middle, tail int
	// keep are the rows inside the middle that stay: pinned ones and the newest
	// request.
	keep map[int]bool
	// pruneOnly is set when there is no middle.
	pruneOnly bool
	// binding names what kept the result from being smaller.
	binding string
}

// planBoundaries decides the layout, and prunes what it keeps.
func (j *job) planBoundaries(ctx context.Context) (verdict, bool, error) {
	head := j.headEnd()
	middle := head
	if j.earlier.found {
		head, middle = j.earlier.row, j.earlier.row+j.earlier.count
		switch {
		case j.nothingNew(middle):
			return verdict{OutcomeNoGain, "nothing was added since the last compression"}, true, nil
		case j.counts.Tokens <= j.rules.targetTokens && j.report.JudgedTokens < j.budget.threshold:
			return verdict{OutcomeNoGain, "the conversation was compressed before and is within its target"}, true, nil
		}
	}
	if n := len(j.rows); !j.earlier.found && n <= head+min(tooShortTail, j.rules.protectLastN)+1 {
		j.layout = layout{head: head, middle: middle, tail: middle, pruneOnly: true}
		if err := j.pruneAll(ctx); err != nil {
			return verdict{}, true, err
		}
		if n > 0 && (j.prune.any() || j.repairs.any()) {
			return verdict{}, false, nil
		}
		return verdict{OutcomeTooShort, fmt.Sprintf("%s, of which %d belong to the protected head", plural(len(j.c.Messages), "message"), head)}, true, nil
	}
	if err := j.pruneRows(ctx, 0, head); err != nil {
		return verdict{}, true, err
	}
	if j.tight() {
		if err := j.pruneAll(ctx); err != nil {
			return verdict{}, true, err
		}
	}
	budget := j.tailBudget(head, middle)
	if err := j.pruneTail(ctx, middle, int(tailCeiling*float64(budget)), j.rules.protectLastN); err != nil {
		return verdict{}, true, err
	}
	tail := tailStart(j.rows, middle, budget, j.rules.protectLastN)
	var err error
	if j.layout, err = j.withAnchor(ctx, layout{head: head, middle: middle, tail: tail}); err != nil {
		return verdict{}, true, err
	}
	if j.rules.alternation == AlternationStrict {
		j.layout = j.alternate(j.layout)
	}
	if err := j.pruneKept(ctx); err != nil {
		return verdict{}, true, err
	}
	j.nameConstraint()
	if j.middleRows() > 0 {
		return verdict{}, false, nil
	}
	j.layout.pruneOnly = true
	if err := j.pruneAll(ctx); err != nil {
		return verdict{}, true, err
	}
	if j.prune.any() || j.repairs.any() {
		return verdict{}, false, nil
	}
	if j.earlier.found {
		return verdict{OutcomeNoGain, "nothing new stands outside the protected tail"}, true, nil
	}
	return verdict{OutcomeTooShort, "no messages stand between the protected head and tail"}, true, nil
}

// headEnd is the row after the head: the system prompt, then protect_first_n
// messages of which a system prompt counts as one, then whatever completes the
// last unit. A provider's own compaction block belongs to the head too: the
// provider ignores everything before it, so a summary must stand after it.
func (j *job) headEnd() int {
	system := j.systemRows()
	n := j.rules.protectFirstN
	if system > 0 || j.c.System != nil {
		n = max(n-1, 0)
	}
	head := min(system+n, len(j.rows))
	for r := len(j.rows) - 1; r >= head; r-- {
		if m := j.message(r); m != nil && m.Has(conversation.KindCompaction) {
			head = r + 1
			break
		}
	}
	return unitLimit(j.rows, head)
}

// tailStart is the first row of the tail: the walk from the end stops before the
// row that would exceed 1.5 times the budget, at least protectLast rows stay,
// and the cut never parts a unit.
func tailStart(rows []row, head, budget, protectLast int) int {
	available := len(rows) - head - 1
	if available < 1 {
		return head
	}
	least := min(protectLast, available)
	ceiling := int(tailCeiling * float64(budget))
	cut := walkBack(rows, head, ceiling, least)
	if cut == head {
		// Everything fits: cut by the bare budget, or no compression would ever do
		// more than a message. The row that passes the budget stays (row BD17).
		if cut = walkBack(rows, head, budget, least); cut > head {
			cut = max(cut-1, head+1)
		} else {
			cut = len(rows) - least
		}
	}
	cut = max(min(cut, len(rows)-least), head+1)
	return max(unitStart(rows, min(cut, len(rows)-1)), head)
}

// walkBack adds rows from the end until the limit would be passed and least rows
// are in, and returns the first row taken.
func walkBack(rows []row, head, limit, least int) int {
	total := 0
	for r := len(rows) - 1; r >= head; r-- {
		total += rows[r].cost
		if total > limit && len(rows)-r > least {
			return r + 1
		}
	}
	return head
}

// tight reports whether a target asks for less than there is: then every row's cost
// matters.
func (j *job) tight() bool {
	return j.rules.targetTokens != 0 && j.counts.Tokens > j.rules.targetTokens
}

// tailBudget is the token budget of the tail: a fifth of the threshold, less
// where target_tokens leaves less beside the head and a summary.
func (j *job) tailBudget(head, middle int) int {
	budget := j.budget.tail
	if !j.tight() {
		return budget
	}
	fixed := j.fixedTokens() + rowTokens(j.rows[:head])
	summarized := rowTokens(j.rows[middle:])
	reserve := min(j.rules.summary(j.budget.window, summarized), max((j.rules.targetTokens-fixed)/4, smallestSummary)) + frameTokens
	room := j.rules.targetTokens - fixed - reserve
	return max(min(budget, int(float64(room)/tailCeiling)), 1)
}

// fixedTokens are the tokens no boundary can change: system prompt with the note
// it will carry, tools, and what frames the request.
func (j *job) fixedTokens() int {
	fixed := j.counts.Tokens
	if j.addsNote() {
		fixed += noteTokens
	}
	for _, n := range j.counts.Messages {
		fixed -= n
	}
	return fixed
}

func rowTokens(rows []row) int {
	sum := 0
	for i := range rows {
		sum += rows[i].cost
	}
	return sum
}

// withAnchor sees to it that the newest request stays: the tail begins with it,
// or, where that would keep too much, it is kept alone inside the middle. Pinned
// units are kept the same way.
func (j *job) withAnchor(ctx context.Context, l layout) (layout, error) {
	l.keep = make(map[int]bool)
	for r := l.middle; r < l.tail; r++ {
		if j.rows[r].pinned {
			l.keep[r] = true
		}
	}
	q := newestRequest(j.rows)
	if q < l.middle || q >= l.tail {
		return l, nil
	}
	start := unitStart(j.rows, q)
	if err := j.pruneRows(ctx, start, l.tail); err != nil {
		return l, err
	}
	if start > l.middle && j.fitsAnchor(l, start) {
		l.tail = start
		for r := range l.keep {
			if r >= start {
				delete(l.keep, r)
			}
		}
		l.binding = "the newest request"
		return l, nil
	}
	for r := start; r == start || sameUnit(j.rows, r); r++ {
		l.keep[r] = true
	}
	return l, nil
}

// fitsAnchor reports whether a tail that begins at row start still leaves room.
func (j *job) fitsAnchor(l layout, start int) bool {
	limit := int(anchorRoom * float64(j.budget.threshold))
	if j.rules.targetTokens > 0 {
		limit = min(limit, j.rules.targetTokens)
	}
	kept := j.fixedTokens() + rowTokens(j.rows[:l.head]) + rowTokens(j.rows[start:])
	return kept+smallestSummary <= limit
}

// middleRows counts the rows that would be summarized.
func (j *job) middleRows() int {
	n := 0
	for r := j.layout.middle; r < j.layout.tail; r++ {
		if !j.layout.keep[r] {
			n++
		}
	}
	return n
}

// nameConstraint says what makes the tail larger than its budget.
func (j *job) nameConstraint() {
	l := &j.layout
	tail := rowTokens(j.rows[l.tail:])
	if tail <= int(tailCeiling*float64(j.budget.tail)) {
		return
	}
	if q := newestRequest(j.rows); q >= l.tail && j.rows[q].cost > tail/2 {
		l.binding = "the newest request"
	}
	if l.binding == "" {
		l.binding = "protect_last_n"
	}
}
