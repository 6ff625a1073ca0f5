// Package store holds what outlives one call and may be shared by replicas:
// finished summaries, cooldowns, the record of earlier compressions. [Store] is
// the whole interface; [Memory] is the embedded default. Package storetest is
// the conformance suite that every implementation passes.
//
// A store is a cache: any entry may disappear at any time, and callers lose
// work by it, never correctness.
package store
