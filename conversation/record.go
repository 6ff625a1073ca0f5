package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Record is a rewrite apart from its conversation: it can be stored and replayed
// on any conversation that begins with the same messages. Like [Rewrite.Then] it
// covers what compression decides and no cache breakpoints.
type Record struct {
	// Drop lists half-open ranges of dropped messages.
	Drop [][2]int `json:"drop,omitempty"`
	// Edits are changed messages, Inserts new ones, both in order.
	Edits   []RecordedEdit   `json:"edits,omitempty"`
	Inserts []RecordedInsert `json:"inserts,omitempty"`
	// System is text added to the top-level system prompt.
	System string `json:"system,omitempty"`
}

// RecordedEdit is the edit of one message.
type RecordedEdit struct {
	Message int             `json:"message"`
	Results []NewResult     `json:"results,omitempty"`
	Append  string          `json:"append,omitempty"`
	Blocks  []RecordedBlock `json:"blocks,omitempty"`
}

// RecordedBlock is the edit of one block.
type RecordedBlock struct {
	Block int     `json:"block"`
	Drop  bool    `json:"drop,omitempty"`
	Text  *string `json:"text,omitempty"`
	Input *string `json:"input,omitempty"`
}

// RecordedInsert is a new message and the message that it comes before.
type RecordedInsert struct {
	Before  int        `json:"before"`
	Message NewMessage `json:"message"`
}

// Record writes the rewrite down. ok is false when it marks or unmarks something.
func (r *Rewrite) Record() (rec Record, ok bool) {
	if len(r.tools) > 0 || r.auto.Kind != MarkKeep {
		return Record{}, false
	}
	if e := r.system; e != nil {
		if e.Unmark || len(e.blocks) > 0 {
			return Record{}, false
		}
		rec.System = e.Append
	}
	for _, i := range sortedKeys(r.messages) {
		e := r.messages[i]
		if e.Drop {
			if n := len(rec.Drop); n > 0 && rec.Drop[n-1][1] == i {
				rec.Drop[n-1][1] = i + 1
			} else {
				rec.Drop = append(rec.Drop, [2]int{i, i + 1})
			}
			continue
		}
		edit := RecordedEdit{Message: i, Results: e.Results, Append: e.Append}
		for _, b := range e.EditedBlocks() {
			be := e.blocks[b]
			if be.Mark.Kind != MarkKeep || be.Split > 0 || len(be.parts) > 0 {
				return Record{}, false
			}
			edit.Blocks = append(edit.Blocks, RecordedBlock{Block: b, Drop: be.Drop, Text: be.Text, Input: be.Input})
		}
		if e.Unmark {
			return Record{}, false
		}
		rec.Edits = append(rec.Edits, edit)
	}
	for _, i := range sortedKeys(r.inserts) {
		for _, m := range r.inserts[i] {
			rec.Inserts = append(rec.Inserts, RecordedInsert{i, m})
		}
	}
	return rec, true
}

// Reach is how many leading messages a conversation must have for the record: those
// that it changes or drops, and those that a new message comes before.
func (rec *Record) Reach() int {
	reach := 0
	for _, span := range rec.Drop {
		reach = max(reach, span[1])
	}
	for _, edit := range rec.Edits {
		reach = max(reach, edit.Message+1)
	}
	for _, insert := range rec.Inserts {
		reach = max(reach, insert.Before+1)
	}
	return reach
}

// Touches reports whether the record changes or drops a message.
func (rec *Record) Touches(message int) bool {
	return slices.ContainsFunc(rec.Drop, func(span [2]int) bool { return span[0] <= message && message < span[1] }) ||
		slices.ContainsFunc(rec.Edits, func(edit RecordedEdit) bool { return edit.Message == message })
}

// errRecord says that a record does not fit a conversation.
var errRecord = errors.New("the record does not fit the conversation")

// Replay makes the recorded rewrite of a conversation. It fails where the record
// names messages or blocks that the conversation does not have.
func (rec *Record) Replay(c *Conversation) (*Rewrite, error) {
	r := NewRewrite(c)
	for _, span := range rec.Drop {
		if span[0] < 0 || span[1] > len(c.Messages) {
			return nil, fmt.Errorf("%w: messages %d to %d dropped of %d", errRecord, span[0], span[1], len(c.Messages))
		}
		for i := span[0]; i < span[1]; i++ {
			r.Drop(i)
		}
	}
	for _, edit := range rec.Edits {
		i := edit.Message
		if i < 0 || i >= len(c.Messages) || r.Dropped(i) {
			return nil, fmt.Errorf("%w: message %d changed of %d", errRecord, i, len(c.Messages))
		}
		e := r.message(i)
		e.Results, e.Append = slices.Clone(edit.Results), edit.Append
		for _, b := range edit.Blocks {
			if b.Block < 0 || b.Block >= len(c.Messages[i].Blocks) || b.Input != nil && !json.Valid([]byte(*b.Input)) {
				return nil, fmt.Errorf("%w: block %d of message %d", errRecord, b.Block, i)
			}
			*e.block(b.Block) = BlockEdit{Drop: b.Drop, Text: b.Text, Input: b.Input}
		}
	}
	for _, insert := range rec.Inserts {
		if insert.Before < 0 || insert.Before > len(c.Messages) {
			return nil, fmt.Errorf("%w: a message before %d of %d", errRecord, insert.Before, len(c.Messages))
		}
		r.inserts[insert.Before] = append(r.inserts[insert.Before], insert.Message)
	}
	if rec.System != "" {
		if c.System == nil {
			return nil, fmt.Errorf("%w: there is no system prompt", errRecord)
		}
		r.AppendSystemText(rec.System)
	}
	return r, nil
}
