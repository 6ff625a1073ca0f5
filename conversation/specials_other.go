//go:build !amd64

package conversation

func specials(src *[64]byte) uint64 { return findSpecials(src) }
