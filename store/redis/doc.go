// Package redis keeps the shared state of many servers in Redis. Values can be
// encrypted, names are hashed, and every operation has a short time limit: a store
// that is slow is worth less than none.
package redis
