// Package architecture holds the tests that keep the house in order: imports
// point one way, no package is a drawer of leftovers, nothing runs before main,
// and what is generated or pinned twice agrees. It has no code of its own outside
// its tests.
package architecture
