// Package extractive is the embedded summarizer: it needs no network and no
// model, takes milliseconds, and gives the same bytes for the same request.
//
// It quotes; it never paraphrases. Rules project the middle onto the published
// sections (the user's requests and rules, what was done and what came of it,
// files, decisions, errors, the todo list, next steps), and what the budget
// leaves goes to fact lines: the lines, sentences and JSON records that add most,
// by greedy coverage of weighted terms. Only the headings are English.
//
// # Lines
//
// Every line of a section reads "- [TAG] TEXT". The tag is the index of the
// message the text comes from. In an update, lines of the previous summary get
// the round they were written in once, "[r1:12]", and keep their bytes from then
// on; lines of a foreign format have no index, "[r1]". Lines of round 0 come from
// a summary that was older than the first known round.
//
// Text is attributed to who said it. The user and the assistant are quoted
// (user: "..."), a tool's output follows the tool's name, with "says" and quotes
// where it speaks to an assistant. Several pieces of one message stand on one
// line, parted by " | ". Items of a user's list stand alone and unquoted under
// Goal. A cut is marked with "…".
//
// # What is left out
//
// Reasoning (signed or not, also inline think tags), encoded data
// and cache marks never show. Media leave a marker with kind, name, type and
// size. Secrets are replaced before anything is looked at (package redact).
//
// # Files of this package
//
// Reading: source, units, records. Terms: lexicon, query; what a fact looks like is
// package facts. Rules: draft, notes, user, said, actions, outcome, files, plan.
// Update: previous, carry. Choice: fill, ledger, cover, prose, rank. Writing:
// clip, render, finish.
package extractive
