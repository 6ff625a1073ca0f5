// Package replicas runs two servers on one Redis, each a process of its own, and holds them
// against what docs/operations.md and docs/shared-state.md say that replicas share: one call
// to a model for identical requests, budgets, compressed prefixes, cooldowns. It kills a
// server, takes Redis away and gives the two different keys. Redis is Redis, and the model
// is a double on a loopback port; every answer is judged by package conformance.
//
// Faults of one server under load are in tests/chaos.
package replicas
