package summarizer

import "errors"

// Errors that callers branch on.
var (
	// ErrBudgetTooSmall says that not even one short line fits the budget.
	ErrBudgetTooSmall = errors.New("summarizer: the budget is too small for a summary")
	// ErrNothingToSay says that the middle holds no text a summary could quote.
	ErrNothingToSay = errors.New("summarizer: nothing to summarize")
)
