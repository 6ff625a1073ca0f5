// Package anthropic counts by Anthropic's count_tokens endpoint. A conversation in Anthropic's own format goes as the
// caller's bytes; others are rendered.
package anthropic
