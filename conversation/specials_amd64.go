package conversation

import (
	"unicode/utf8"
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

// asciiWide returns how many of the n bytes from src on are certainly ASCII: up to the
// first that is not, or to less than 32 bytes before the end.
//
//go:noescape
func asciiWide(src *byte, n int) int

// leadsWide finds the leads of 64 bytes in the instructions of AVX2.
//
//go:noescape
func leadsWide(src *[64]byte, m *leads)

// ValidUTF8 is [utf8.ValidString], several times as fast on long texts where the
// processor has AVX2.
func ValidUTF8(s string) bool {
	if cpu.X86.HasAVX2 {
		var m leads
		for {
			s = s[asciiWide(unsafe.StringData(s), len(s)):]
			if len(s) < 64 {
				break
			}
			leadsWide((*[64]byte)(unsafe.Pointer(unsafe.StringData(s))), &m) //nolint:gosec // there are 64 bytes, and they are only read
			n, valid := m.check(s)
			if !valid {
				return false
			}
			s = s[n:]
		}
	}
	return utf8.ValidString(s)
}
