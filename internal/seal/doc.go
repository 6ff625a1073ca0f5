// Package seal wraps small pieces of state that callers carry between two
// requests, so that a piece which was changed on the way is noticed. With a key it
// is signed, without one it has a checksum.
package seal
