// Package fidelity holds a summary against what it stands for. It needs no model
// and gives the same bytes for the same request.
//
// It looks for the facts of the removed messages: names that must be spelled
// right (paths, URLs, identifiers, numbers, error classes, symbols), commands with
// their exit codes, what the user ruled, what was decided, and open entries of the
// todo list. What the summary lacks and what matters is appended line by line,
// each with the words around it, under one heading. Names in the summary that
// occur nowhere in its source are taken out.
//
// # What matters
//
// A fact weighs by its kind, by who said it (user 4, assistant 3, tool 1), by how
// near the end it stood, by the number of messages that used it, and more when
// it was used in a tool's arguments. Facts that also stand in a message that
// stays are none of this package's business: nothing happens to them. What a tool
// alone said once counts only where its shape says that it is a name (a path, an
// address, an identifier, an error class).
//
// # The section
//
// The appended lines are a section of their own, [Heading]. It is derived: [Split]
// takes it off an earlier summary before a summarizer sees that, and its lines
// compete again with the new facts, worth less with every round, so chained
// compressions do not grow. Tasks are not carried: what was open once is not
// open because an old text says so.
//
// # Bounds
//
// A tool's long text is read at its beginning and end, see maxToolText; a text
// adds at most maxNames names. Everything is linear in the conversation.
package fidelity
