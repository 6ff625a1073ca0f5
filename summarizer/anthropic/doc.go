// Package anthropic is the summarizer backend that speaks Anthropic's Messages
// API through the official SDK: one system prompt, one user message, no tools,
// no thinking asked for. It streams where the caller wants the text as it
// arrives. It reads nothing from the environment, makes each call once, and
// sends no telemetry of its own.
package anthropic
