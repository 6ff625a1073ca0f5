//go:build !amd64

package conversation

import "unicode/utf8"

func classify(src *[64]byte) (slashes, stops, legal uint64) { return classifyPlainly(src) }

// pass is [passBlocks], the fastest that the processor has.
func pass(src string) (at int, slashed bool) { return passBlocks(src) }

// ValidUTF8 is [utf8.ValidString], several times as fast on long texts where the
// processor has AVX2.
func ValidUTF8(s string) bool { return utf8.ValidString(s) }
