//go:build !amd64

package conversation

func classify(src *[64]byte) (slashes, stops, legal uint64) { return classifyPlainly(src) }
