// Package bench measures the service from outside: every RPC over a real
// loopback connection, on the largest recorded conversation and on conversations
// that grow from 100 to 10,000 messages, and ApplyCacheControl beside a bare echo of
// the same bytes. Run it with `make bench`.
package bench
