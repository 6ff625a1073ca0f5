package conversation

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// classifyPlainly has a bit for each of 64 bytes inside a string literal: slashes are the
// backslashes, stops the quotes and control characters, legal what commonly follows a
// backslash: a quote, a backslash, n, r and t.
func classifyPlainly(src *[64]byte) (slashes, stops, legal uint64) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	const gather = 0x0102040810204080 // moves the lowest bits of eight bytes to the highest byte
	push := func(to, plain uint64) uint64 {
		return to>>8 | ((highs&^plain)>>7*gather)&(0xff<<56)
	}
	for i := 0; i < len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		low := w &^ highs
		// Each sum carries into the high bit of a byte that is not the one looked for.
		not := func(c uint64) uint64 { return (low ^ c*ones) + 0x7f*ones | w }
		slash, quote := not('\\'), not('"')
		slashes = push(slashes, slash)
		stops = push(stops, quote&(low+0x60*ones|w))
		legal = push(legal, slash&quote&not('n')&not('r')&not('t'))
	}
	return slashes, stops, legal
}

// passBlocks passes over the inside of a string literal, 64 bytes at once: plain text and
// the escapes of one letter. It returns an offset at or before the first byte that is
// neither, at most 64 before the end of src, and whether there are escapes before it.
func passBlocks(src string) (at int, slashed bool) {
	carry := uint64(0)
	for at+64 <= len(src) {
		slashes, stops, legal := classify((*[64]byte)(unsafe.Pointer(unsafe.StringData(src[at:])))) //nolint:gosec // there are 64 bytes, and they are only read
		escaped, next := escapedBy(slashes, carry)
		if stop := stops&^escaped | escaped&^legal; stop != 0 {
			first := stop & -stop
			slashed = slashed || slashes&(first-1) != 0
			at += bits.TrailingZeros64(stop)
			if escaped&first != 0 {
				at-- // to the backslash
			}
			return at, slashed
		}
		slashed = slashed || slashes != 0
		at, carry = at+64, next
	}
	return at - int(carry), slashed //nolint:gosec // 0 or 1
}

// escapedBy returns which of 64 bytes a backslash before them escapes. carry is 1 when
// the first byte is escaped by the one before it, next when the byte behind the last is.
// A run of backslashes escapes every second byte of itself, and one more if it is odd:
// to add the odd starts of runs to them carries through each run.
func escapedBy(slashes, carry uint64) (escaped, next uint64) {
	const even = 0x5555555555555555
	slashes &^= carry
	follows := slashes<<1 | carry
	sum, next := bits.Add64(slashes&^even&^follows, slashes, 0)
	return (even ^ sum<<1) & follows, next
}
