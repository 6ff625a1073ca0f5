// Package wire is what the provider packages share to render a conversation: a JSON writer that keeps the order it is
// given, the conversation as the turns that most providers want, and the list of what a rendering had to leave out.
package wire
