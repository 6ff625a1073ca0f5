package compressor

import (
	"context"

	"github.com/elbowroom/elbowroom/conversation"
)

// row is one message as the boundaries see it: repaired messages only, with
// their current cost.
type row struct {
	// index is the message's position in the caller's list, -1 for a stand-in
	// result that the repair adds.
	index int
	// cost in tokens, after pruning.
	cost int
	// unit is the row that begins the row's unit; rows of one unit are never parted.
	unit int
	// request is set for something the user said.
	request bool
	// pinned rows are kept verbatim.
	pinned bool
}

// layRows lists the messages that are there after repair, at what they cost then,
// stand-in results included: a second pass meets the very same rows.
func (j *job) layRows(ctx context.Context) error {
	rewrite := conversation.NewRewrite(j.c)
	j.applyRepairs(rewrite, func(int) bool { return true })
	repaired := rewrite.Apply()
	j.repaired = repaired.Conversation.Messages
	// The units are those of the repaired messages: a result that was dropped binds
	// nothing to its neighbours any more.
	unit := conversation.Pair(repaired.Conversation).Unit
	pinned := make(map[int]bool, len(j.req.Pinned))
	for _, i := range j.req.Pinned {
		pinned[i] = true
	}
	for _, ref := range j.pairing.InFlight {
		pinned[ref.Message] = true // the caller still runs it, whatever was said since
	}
	pinnedUnits := make(map[int]bool, len(pinned))
	for k, from := range repaired.From {
		if pinned[from] {
			pinnedUnits[unit[k]] = true
		}
	}
	j.rows = make([]row, 0, len(repaired.From))
	for k, from := range repaired.From {
		m := &repaired.Conversation.Messages[k]
		r := row{index: from, unit: unit[k], pinned: pinnedUnits[unit[k]]}
		if from >= 0 {
			r.cost = j.counts.Messages[from]
			r.request = m.IsRequest() && !isSummary(m)
		}
		if from < 0 || rewrite.Changed(from) {
			cost, err := j.sizes.message(ctx, m)
			if err != nil {
				return err
			}
			r.cost = cost
		}
		j.rows = append(j.rows, r)
	}
	return nil
}

// newestRequest is the last row that is something the user said, -1 when there
// is none.
func newestRequest(rows []row) int {
	for r := len(rows) - 1; r >= 0; r-- {
		if rows[r].request {
			return r
		}
	}
	return -1
}

// sameUnit reports whether rows r-1 and r belong together, so that no boundary
// may lie before r.
func sameUnit(rows []row, r int) bool {
	return r > 0 && r < len(rows) && rows[r].unit == rows[r-1].unit
}

// unitStart moves r back to the first row of its unit.
func unitStart(rows []row, r int) int {
	for sameUnit(rows, r) {
		r--
	}
	return r
}

// unitLimit moves r forward to a place where a boundary may lie.
func unitLimit(rows []row, r int) int {
	for sameUnit(rows, r) {
		r++
	}
	return r
}

// systemRows counts the leading system and developer messages.
func (j *job) systemRows() int {
	n := 0
	for n < len(j.rows) && j.role(n) == conversation.RoleSystem {
		n++
	}
	return n
}

// message is the row's message as it came, nil for a stand-in.
func (j *job) message(r int) *conversation.Message {
	if i := j.rows[r].index; i >= 0 {
		return &j.c.Messages[i]
	}
	return nil
}

// role is the role of a row.
func (j *job) role(r int) conversation.Role {
	if m := j.message(r); m != nil {
		return m.Role
	}
	return conversation.RoleTool
}
