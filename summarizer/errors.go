package summarizer

import "errors"

// Errors that callers branch on.
var (
	// ErrBudgetTooSmall says that not even one short line fits the budget.
	ErrBudgetTooSmall = errors.New("summarizer: the budget is too small for a summary")
	// ErrNothingToSay says that the middle holds no text a summary could quote.
	ErrNothingToSay = errors.New("summarizer: nothing to summarize")
)

// The reasons for which an answer is not accepted as a summary, stable words for
// reports.
const (
	RejectEmpty      = "empty"          // no text
	RejectCutOff     = "cut_off"        // the answer ended at its length limit
	RejectRefusal    = "refusal"        // the model declined
	RejectToolCalls  = "tool_calls"     // tool calls instead of text
	RejectMarkup     = "tool_markup"    // tool-call markup or chat-template tokens in the text
	RejectThinking   = "thinking_only"  // nothing but reasoning
	RejectOverBudget = "over_budget"    // larger than the budget
	RejectErrorText  = "error_text"     // an error message in place of a summary
	RejectDirective  = "directive_text" // text that gives orders to the model that will read it
	RejectNoSections = "no_sections"    // none of the sections that make a summary
)

// RejectedError is an answer that is no summary. It is never retried as it
// stands; the next rung takes over.
type RejectedError struct {
	// Code is one of the Reject constants.
	Code string
	// Detail says more, without text of the conversation or of the answer.
	Detail string
}

func (e *RejectedError) Error() string {
	if e.Detail == "" {
		return "the answer is no summary: " + e.Code
	}
	return "the answer is no summary: " + e.Code + ": " + e.Detail
}
