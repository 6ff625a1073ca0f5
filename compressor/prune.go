package compressor

import (
	"cmp"
	"context"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/parallel"
)

// duplicateText takes the place of a result that stands again, unshortened, in a
// later kept message.
const duplicateText = "[Duplicate tool output — same content as a more recent call]"

// duplicateMinChars is the least size of a result that is compared with others
// (row PR2).
const duplicateMinChars = 200

// pruning is what is shortened, by message. Only what is kept in the end is
// rendered; the summarizer reads everything unshortened.
type pruning struct {
	texts  map[conversation.Ref]edit // tool results
	inputs map[conversation.Ref]edit // arguments
	// looked says of each row before the protected region that it was looked at.
	looked []bool
	// untouchable are the calls whose arguments must stay.
	untouchable map[conversation.Ref]bool
}

// edit is a new text with its report.
type edit struct {
	text   string
	report Pruned
}

func (p *pruning) any() bool { return len(p.texts)+len(p.inputs) > 0 }

// planPruning prepares to replace old, long tool results by one line and to cut long
// arguments of old, answered calls. Most old rows end up in a summary, where nobody
// asks what they would be shortened to, so a row is looked at when its cost matters:
// see pruneRows.
func (j *job) planPruning() {
	j.prune = pruning{
		texts:       make(map[conversation.Ref]edit),
		inputs:      make(map[conversation.Ref]edit),
		looked:      make([]bool, pruneBoundary(j.rows, j.budget.tail, j.rules.protectLastN)),
		untouchable: j.unanswered(),
	}
}

// pruneRows shortens what is to be shortened in rows[from:to], once. These rows have
// the cost they have after it.
func (j *job) pruneRows(ctx context.Context, from, to int) error {
	return j.pruneSome(ctx, from, to, func(int) bool { return true })
}

// pruneAll is pruneRows for every row.
func (j *job) pruneAll(ctx context.Context) error { return j.pruneRows(ctx, 0, len(j.rows)) }

// pruneKept is pruneRows for the rows that the layout keeps.
func (j *job) pruneKept(ctx context.Context) error {
	return j.pruneSome(ctx, 0, len(j.rows), j.keptRow)
}

// pruneTail prunes the rows that a walk from the end takes until it passes a limit:
// as many as tailStart reads the cost of.
func (j *job) pruneTail(ctx context.Context, head, limit, least int) error {
	const batch = 16 // rows, so that there is something to share
	total := 0
	for r := len(j.rows) - 1; r >= head; r-- {
		if r < len(j.prune.looked) && !j.prune.looked[r] {
			if err := j.pruneRows(ctx, max(r+1-batch, head), r+1); err != nil {
				return err
			}
		}
		if total += j.rows[r].cost; total > limit && len(j.rows)-r > least {
			return nil
		}
	}
	return nil
}

func (j *job) pruneSome(ctx context.Context, from, to int, wanted func(r int) bool) error {
	request := newestRequest(j.rows)
	var todo []int
	for r := from; r < min(to, len(j.prune.looked)); r++ {
		if !j.prune.looked[r] && wanted(r) {
			j.prune.looked[r] = true
			if row := &j.rows[r]; row.index >= 0 && !row.pinned && r != request {
				todo = append(todo, r)
			}
		}
	}
	rows := make([]prunedRow, len(todo))
	parallel.Each(len(todo), func(n int) { rows[n] = j.pruneRow(ctx, j.rows[todo[n]].index) })
	for n := range rows {
		if rows[n].err != nil {
			return rows[n].err
		}
		for _, e := range rows[n].edits {
			if e.input {
				j.prune.inputs[e.ref] = e.edit
			} else {
				j.prune.texts[e.ref] = e.edit
			}
		}
		j.rows[todo[n]].cost += rows[n].change
	}
	return nil
}

// prunedRow is what is shortened in one row, and the change of its cost.
type prunedRow struct {
	edits  []blockEdit
	change int
	err    error
}

// blockEdit is the new text of a tool result, or with input the new arguments of a call.
type blockEdit struct {
	edit
	ref   conversation.Ref
	input bool
}

// pruneRow shortens one message and counts it again.
func (j *job) pruneRow(ctx context.Context, i int) prunedRow {
	var p prunedRow
	m := &j.c.Messages[i]
	for b := range m.Blocks {
		ref := conversation.Ref{Message: i, Block: b}
		switch block := &m.Blocks[b]; block.Kind {
		case conversation.KindToolResult:
			if e, ok := j.pruneResult(ref, block); ok {
				p.edits = append(p.edits, blockEdit{edit: e, ref: ref})
			}
		case conversation.KindToolUse:
			if !j.rules.pruneToolArguments || j.prune.untouchable[ref] || m.Role == conversation.RoleSystem || m.Role == conversation.RoleUser {
				continue // only the model calls; in another's message it is not ours to change
			}
			if e, ok := pruneArguments(ref, block); ok {
				p.edits = append(p.edits, blockEdit{edit: e, ref: ref, input: true})
			}
		}
	}
	if len(p.edits) == 0 {
		return p
	}
	rewrite := conversation.NewRewrite(j.c)
	for _, e := range p.edits {
		if e.input {
			rewrite.SetInput(e.ref, e.text)
		} else {
			rewrite.SetText(e.ref, e.text)
		}
	}
	cost, err := j.sizes.message(ctx, changedMessage(rewrite, i))
	p.change, p.err = cost-j.counts.Messages[i], err
	return p
}

// pruneResult turns a long result of text alone into a line.
func (j *job) pruneResult(ref conversation.Ref, b *conversation.Block) (edit, bool) {
	call, answered := j.pairing.CallOf[ref]
	if !answered && j.c.Format != conversation.FormatOpenAIChat {
		return edit{}, false
	}
	if !b.ResultIsText() {
		return edit{}, false
	}
	text := b.ResultText()
	chars := utf8.RuneCountInString(text)
	var use *conversation.Block
	if answered {
		use = j.c.At(call)
	}
	name := toolName(use, b)
	if chars <= j.rules.pruneOverChars || text == duplicateText || text == missingResultText || isStub(text, name) {
		return edit{}, false
	}
	line := stubLine(use, b, text, chars)
	if utf8.RuneCountInString(line) >= chars {
		return edit{}, false
	}
	return edit{line, Pruned{Ref: ref, Kind: PruneStub, Tool: name, CharsBefore: chars, CharsAfter: utf8.RuneCountInString(line)}}, true
}

// unanswered are the calls whose arguments must stay: nobody ran them yet, or
// nobody knows. A stand-in of an earlier compression is no answer.
func (j *job) unanswered() map[conversation.Ref]bool {
	calls := make(map[conversation.Ref]bool)
	for result, call := range j.pairing.CallOf {
		if j.c.At(result).ResultText() == missingResultText {
			calls[call] = true
		}
	}
	for _, refs := range [][]conversation.Ref{j.pairing.InFlight, j.pairing.Missing} {
		for _, ref := range refs {
			calls[ref] = true
		}
	}
	return calls
}

// changedMessage is one message as a rewrite leaves it.
func changedMessage(rewrite *conversation.Rewrite, i int) *conversation.Message {
	m := rewrite.ApplyMessage(i)
	return &m
}

// pruneBoundary is the first row that is not pruned: rows from the end within
// the tail budget, the row that passes it included, and at least protectLast of
// them (rows PR12 to PR14: the count is a floor, never a ceiling).
func pruneBoundary(rows []row, budget, protectLast int) int {
	least := min(protectLast, len(rows))
	total := 0
	for r := len(rows) - 1; r >= 0; r-- {
		total += rows[r].cost
		if total > budget && len(rows)-r > least {
			return r
		}
	}
	return 0
}

// planDuplicates finds results that stand again in a later kept message and
// replaces the older ones. The copy that is pointed at is kept whole, so the
// pointer cannot dangle. Lists are left alone (row PR4).
func (j *job) planDuplicates() {
	dropped := make(map[conversation.Ref]bool) // by a repair: nothing may point at them
	for _, refs := range j.repairs.dropBlocks {
		for _, ref := range refs {
			dropped[ref] = true
		}
	}
	newest := make(map[string]int) // the message after the one that is pointed at
	request := newestRequest(j.rows)
	for r := len(j.rows) - 1; r >= 0; r-- {
		i := j.rows[r].index
		if i < 0 || !j.keptRow(r) {
			continue
		}
		m := &j.c.Messages[i]
		for b := len(m.Blocks) - 1; b >= 0; b-- {
			ref := conversation.Ref{Message: i, Block: b}
			block := &m.Blocks[b]
			if block.Kind != conversation.KindToolResult || block.ResultShape != conversation.ShapeString || len(block.Result) != 1 || dropped[ref] {
				continue
			}
			text := block.Result[0].Text
			chars := utf8.RuneCountInString(text)
			if chars < duplicateMinChars || text == duplicateText {
				continue
			}
			if newest[text] == 0 {
				if _, shortened := j.prune.texts[ref]; !shortened {
					newest[text] = i + 1
				}
				continue
			}
			// A copy in the head outlives the one it would point at.
			if j.rows[r].pinned || r == request || r < j.layout.head {
				continue
			}
			j.pointed = max(j.pointed, newest[text])
			j.prune.texts[ref] = edit{duplicateText, Pruned{
				Ref: ref, Kind: PruneDuplicate, Tool: toolName(j.callOf(ref), block),
				CharsBefore: chars, CharsAfter: utf8.RuneCountInString(duplicateText),
			}}
		}
	}
}

// callOf is the call a result answers, nil when it is unknown.
func (j *job) callOf(ref conversation.Ref) *conversation.Block {
	if call, ok := j.pairing.CallOf[ref]; ok {
		return j.c.At(call)
	}
	return nil
}

// keptRow reports whether a row stays in the conversation.
func (j *job) keptRow(r int) bool {
	l := &j.layout
	switch {
	case r < l.head || r >= l.tail:
		return true
	case r < l.middle:
		return j.layout.pruneOnly // an earlier summary stays when no new one is written
	default:
		return j.layout.pruneOnly || l.keep[r]
	}
}

// eachPruned visits what is shortened in kept messages, in order.
func (j *job) eachPruned(visit func(ref conversation.Ref, text, input *edit)) {
	for r := range j.rows {
		i := j.rows[r].index
		if i < 0 || !j.keptRow(r) {
			continue
		}
		for b := range j.c.Messages[i].Blocks {
			ref := conversation.Ref{Message: i, Block: b}
			if e, ok := j.prune.texts[ref]; ok {
				visit(ref, &e, nil)
			}
			if e, ok := j.prune.inputs[ref]; ok {
				visit(ref, nil, &e)
			}
		}
	}
}

// applyPruning writes the shortened texts of kept messages.
func (j *job) applyPruning(rewrite *conversation.Rewrite) {
	j.eachPruned(func(ref conversation.Ref, text, input *edit) {
		if text != nil {
			rewrite.SetText(ref, text.text)
		} else {
			rewrite.SetInput(ref, input.text)
		}
	})
	j.reportPruning()
}

// reportPruning lists the shortened texts of kept messages.
func (j *job) reportPruning() {
	j.report.Pruned = nil
	j.eachPruned(func(_ conversation.Ref, text, input *edit) {
		j.report.Pruned = append(j.report.Pruned, cmp.Or(text, input).report)
	})
}
