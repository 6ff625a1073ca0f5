// Package ladder tries one summarizer after the other until one has a summary: the
// language models in their order, then the embedded one. [Guard] makes calls to a
// model bearable (timeouts, retries, a circuit breaker); [Ladder] makes them worth
// their price (a cooldown for each session, one call for identical requests,
// finished summaries found again) and keeps the caller's deadline.
package ladder
