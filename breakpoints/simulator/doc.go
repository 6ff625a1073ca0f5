// Package simulator says what a sequence of requests costs under a provider's
// prompt cache, and why a part of it was not read from there.
//
// A [Prompt] is what a provider keys its cache on: the blocks of tools, system
// prompt and messages, each with a hash of its bytes and its size in tokens, and
// the parameters that enter the key. [Run] steps through the requests with the
// provider's [Rules]: what each one reads, what it writes, what it pays in full,
// and a [Finding] for everything that was lost, with the first byte that differs.
// [NewReplay] takes one conversation apart into the requests that an agent made
// of it, so that placements can be compared on it.
//
// The rules and prices are dated data (rules.json, prices.json). Nothing here
// asks a provider: what a provider does not document is a named assumption.
package simulator
