// Package summarizer turns the middle of a conversation into a structured
// summary. [Summarizer] is the one-method interface of every backend; package
// extractive is the embedded one, which needs no network and no model.
package summarizer
