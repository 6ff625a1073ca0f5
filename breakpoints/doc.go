// Package breakpoints decides where a request carries its cache breakpoints.
//
// A breakpoint (a cache_control member, a mark for short) tells the provider
// where a cached prefix ends. A request may carry four of them, counted over
// tools, system prompt and messages. [Place] looks at a read-only conversation,
// chooses the places for one layout and one strategy, and returns a rewrite that
// sets the marks there and removes every other one, together with a report of
// what was marked, what was passed over and why.
//
// The package repairs nothing and refuses nothing about the conversation itself:
// calls without results and the like are somebody else's business.
package breakpoints
