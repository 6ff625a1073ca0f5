package conversation

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// classify is [classifyPlainly] in the vector instructions of the processor, several
// times as fast: the time of reading a large conversation goes here.
//
//go:noescape
func classify(src *[64]byte) (slashes, stops, legal uint64)

// passWide is [passBlocks] in the instructions of AVX2, once more several times as fast.
// It reads the n bytes from src on, 64 at least.
//
//go:noescape
func passWide(src *byte, n int) (at int, slashes uint64)

// pass is [passBlocks], the fastest that the processor has.
func pass(src string) (at int, slashed bool) {
	if !cpu.X86.HasAVX2 || len(src) < 64 {
		return passBlocks(src)
	}
	at, slashes := passWide(unsafe.StringData(src), len(src))
	return at, slashes != 0
}
