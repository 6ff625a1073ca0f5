package llm

import (
	"errors"
	"fmt"

	"github.com/elbowroom/elbowroom/summarizer"
)

// entryFrame is more than the line that labels a message costs beyond its words,
// by any known tokenizer.
const entryFrame = 16

// part is what one call is about.
type part struct {
	notes   string // on everything before
	entries []entry
	last    bool
	limit   int // tokens the answer's notes may have
	tokens  int // of the prompt, by the request's counter
}

// plan takes the next part: as many messages as fit beside the notes, in even
// shares where several parts are left.
func (r *run) plan(notes string, rest []entry) (part, error) {
	room := r.input - r.frame
	if room < leastRoom {
		return part{}, &summarizer.BackendError{
			Failure: summarizer.FailureTooLarge,
			Err:     fmt.Errorf("a window of %d tokens leaves no room beside the prompt", r.s.window),
		}
	}
	notes, spent, err := r.fit(notes, room/notesShare)
	if err != nil {
		return part{}, err
	}
	room -= spent
	total := 0
	for i := range rest {
		if rest[i].tokens > room {
			text, tokens, err := r.fit(rest[i].text, room-entryFrame)
			if err != nil {
				return part{}, err
			}
			rest[i].text, rest[i].tokens = text, tokens+entryFrame
		}
		total += rest[i].tokens
	}
	p := part{notes: notes, limit: r.req.Budget, tokens: r.frame + spent}
	share := total
	if total > room {
		parts := (total + room - 1) / room
		share = total / parts
	}
	taken := 0
	for _, e := range rest {
		if len(p.entries) > 0 && (taken >= share || taken+e.tokens > room) {
			break
		}
		taken += e.tokens
		p.entries = append(p.entries, e)
	}
	p.tokens += taken
	p.last = len(p.entries) == len(rest)
	if !p.last {
		p.limit = (r.input - r.frame) / notesShare // what the next prompt has room for
	}
	return p, nil
}

var errNoFit = errors.New("llm: a message does not fit the window")

// fit shortens a text until it has at most so many tokens. Each try is at most
// three quarters of the one before.
func (r *run) fit(text string, limit int) (string, int, error) {
	original := text
	size := len(text)
	for {
		tokens, err := r.count(text)
		if err != nil {
			return "", 0, err
		}
		if tokens <= limit {
			return text, tokens, nil
		}
		if size < 8 {
			return "", 0, errNoFit
		}
		size = min(size*3/4, int(float64(size)*float64(limit)/float64(tokens)))
		text = clip(original, size, size*2/3, size/4)
	}
}
