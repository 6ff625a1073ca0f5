// Package facts recognizes what in a text is a fact: names by their shape (paths,
// addresses, identifiers, numbers, symbols), sentences by their cue words (rules,
// decisions, steps), exit codes, todo lists, and what a program put around
// somebody's words. It judges single texts and knows no summary.
//
// Shapes, not dictionaries, say what a name is; only the cue words are words of
// languages. Every function is linear in its text.
package facts
