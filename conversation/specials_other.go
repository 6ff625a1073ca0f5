//go:build !amd64

package conversation

func classify(src *[64]byte) (slashes, stops, legal uint64) { return classifyPlainly(src) }

// pass is [passBlocks], the fastest that the processor has.
func pass(src string) (at int, slashed bool) { return passBlocks(src) }
