package llm

import (
	"context"
	"errors"
	"fmt"

	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
)

// Shares and room, in tokens where nothing else is said.
const (
	// margin is by how much the model may count more than the request's counter,
	// which is another model's.
	margin = 1.25
	// headRoom is what an answer may take beyond the notes: reasoning counts as
	// output. Published compressors that capped the answer near its target had
	// thinking models cut off in mid-section.
	headRoom = 4_096
	// askedShare is the share of the budget that the prompt asks for. Models
	// overshoot, and a summary over its budget is refused.
	askedShare = 0.75
	// notesShare is the part of a prompt that notes on earlier messages may take.
	notesShare = 3
	// leastRoom is the room for messages below which a prompt makes no sense.
	leastRoom = 256
	// maxHalvings bounds how often the parts are made smaller because the backend
	// found a prompt too large.
	maxHalvings = 2
)

// run is the work on one request.
type run struct {
	s       *Summarizer
	ctx     context.Context
	req     *summarizer.Request
	from    *material
	secrets *redact.Redactor

	input    int  // tokens of the request's counter that a prompt may have
	frame    int  // what a prompt without messages and notes takes of it
	widened  bool // an answer was asked for again with more room
	streamed bool // pieces were passed on that a new call makes void
	bill     summarizer.Response
}

// write reads the middle in as many parts as the window asks for, each updating
// the notes on those before.
func (r *run) write() (text string, tokens int, err error) {
	r.input = int(float64(r.s.window-r.maxTokens(r.req.Budget)) / margin)
	if r.frame, err = r.measureFrame(); err != nil {
		return "", 0, err
	}
	notes, rest := r.from.previous, r.from.entries
	for i := range rest {
		if rest[i].tokens, err = r.count(rest[i].label + rest[i].text); err != nil {
			return "", 0, err
		}
		rest[i].tokens += entryFrame
	}
	for halvings := 0; ; {
		p, err := r.plan(notes, rest)
		if err != nil {
			return "", 0, err
		}
		text, tokens, err = r.ask(p)
		if failed, ok := errors.AsType[*summarizer.BackendError](err); ok &&
			failed.Failure == summarizer.FailureTooLarge && halvings < maxHalvings {
			halvings++
			// Half of what was sent: half of the window may still be larger than that.
			r.input = r.frame + (p.tokens-r.frame)/2
			continue
		}
		if err != nil || p.last {
			return text, tokens, err
		}
		notes, rest = text, rest[len(p.entries):]
	}
}

// ask makes one call and judges its answer. An answer that was cut off although
// the notes are within their budget lost its room to reasoning or to another way
// of counting: it is asked for once more, with twice the room.
func (r *run) ask(p part) (text string, tokens int, err error) {
	prompt, boundary, err := r.prompt(p)
	if err != nil {
		return "", 0, err
	}
	for {
		completion, err := r.complete(prompt)
		if err != nil {
			return "", 0, err
		}
		text, rejected := r.s.template.read(completion, boundary)
		if rejected == nil {
			text, _ = r.secrets.Again(text)
		}
		if tokens, err = r.count(text); err != nil {
			return "", 0, err
		}
		switch {
		case rejected == nil && tokens <= p.limit && repeats(text):
			return "", 0, &summarizer.RejectedError{Code: summarizer.RejectEmpty, Detail: "the same words again and again"}
		case rejected == nil && tokens <= p.limit:
			return text, tokens, nil
		case rejected == nil:
			return "", 0, &summarizer.RejectedError{
				Code: summarizer.RejectOverBudget, Detail: fmt.Sprintf("%d tokens, %d were allowed", tokens, p.limit),
			}
		}
		wider := min(2*prompt.MaxTokens, r.s.maxOutput, r.s.window-int(float64(p.tokens)*margin))
		if rejected.Code != summarizer.RejectCutOff || r.widened || tokens > p.limit || wider < prompt.MaxTokens+prompt.MaxTokens/4 {
			return "", 0, rejected
		}
		r.widened = true
		prompt.MaxTokens = wider
	}
}

// complete calls the backend, passes its pieces on and keeps the bill.
func (r *run) complete(prompt summarizer.Prompt) (summarizer.Completion, error) {
	if err := r.ctx.Err(); err != nil {
		return summarizer.Completion{}, err
	}
	var onText func(string)
	if r.req.OnText != nil {
		if r.streamed {
			r.req.OnText("", true)
			r.streamed = false
		}
		onText = func(piece string) {
			r.req.OnText(piece, piece == "")
			r.streamed = piece != ""
		}
	}
	completion, err := r.s.backend.Complete(r.ctx, prompt, onText)
	r.bill.Calls += calls(completion, err)
	r.bill.PromptTokens += completion.PromptTokens
	r.bill.CompletionTokens += completion.CompletionTokens
	if completion.Model != "" {
		r.bill.Model = completion.Model
	}
	return completion, err
}

// calls is how many calls a completion stands for.
func calls(c summarizer.Completion, err error) int {
	failed, ok := errors.AsType[*summarizer.BackendError](err)
	if c.Attempts == 0 && (!ok || failed.Failure != summarizer.FailureBreakerOpen) {
		return 1
	}
	return c.Attempts
}

// maxTokens bounds an answer that may hold notes of the budget: half as much
// again, because the model counts in its own tokens, and room to think. It leaves
// two thirds of the window to the prompt.
func (r *run) maxTokens(budget int) int {
	return min(budget+budget/2+headRoom, r.s.maxOutput, r.s.window/3)
}

func (r *run) count(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := r.req.Count(r.ctx, text)
	if err != nil {
		return 0, fmt.Errorf("llm: count: %w", err)
	}
	return n, nil
}
