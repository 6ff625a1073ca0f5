package session

// Fact is something in the conversation that the agent may need again.
type Fact struct {
	// What says it in a few words.
	What string
	// Text is how it stands in the conversation.
	Text string
}

// Facts lists some of them, in the order of the story. Most stand in messages
// that are summarized, the last ones deep inside long tool outputs.
func Facts() []Fact {
	return []Fact{
		{"constraint: leave api/v2 alone", "Do not change anything under api/v2"},
		{"constraint: PostgreSQL 13", "PostgreSQL 13"},
		{"the cause, with its line", "internal/webhook/dispatch.go:142"},
		{"the constraint that fired", "charges_idempotency_key_key"},
		{"its error code", "23505"},
		{"how many duplicates", "1,284"},
		{"their sum", "4821375"},
		{"decision: index, not trigger", "not a trigger"},
		{"decision: retries stay at 7", "WEBHOOK_RETRY_MAX at 7"},
		{"decision: refund, never delete", "not deleted"},
		{"the migration", "migrations/0093_one_success_per_event.up.sql"},
		{"the failed test", "TestDispatcherConcurrent"},
		{"where the race is", "queue.go:120"},
		{"the test that pins the old key", "TestDispatcherKeyPerAttempt"},
		{"a request id in the log", "req_5b1f77c0"},
	}
}
