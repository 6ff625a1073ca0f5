package conversation

import (
	"math/bits"
	"unicode/utf8"
)

// leads says of each of 64 bytes, the first of which begins a character, what it is in
// UTF-8. It is written by assembly, in this order.
type leads struct {
	high      uint64 // not ASCII
	continues uint64 // 80 to BF
	three     uint64 // E0 to FF, and ASCII
	four      uint64 // F0 to FF, and ASCII
	never     uint64 // C0, C1, F5 to FF: in no character
	narrow    uint64 // E0, ED, F0, F4: the next byte has less room
}

// check returns how many of the 64 bytes that src begins with are whole characters, and
// whether all of these are valid. They are when the bytes that continue a character are
// those that the leads before them ask for.
func (m *leads) check(src string) (n int, valid bool) {
	lead, three, four := m.high&^m.continues, m.high&m.three, m.high&m.four
	whole, looked := ^uint64(0), ^uint64(0)
	n = 64
	if last := lead>>63<<63 | three>>62<<62 | four>>61<<61; last != 0 { // one that goes on behind the 64
		n = bits.TrailingZeros64(last)
		whole, looked = 1<<n-1, 2<<n-1 // the byte at n has to be a lead
	}
	if asked := lead<<1 | three<<2 | four<<3; (asked^m.continues|m.never)&looked != 0 {
		return 0, false
	}
	for rest := m.narrow & whole; rest != 0; rest &= rest - 1 {
		at := bits.TrailingZeros64(rest)
		next := src[at+1]
		switch src[at] {
		case 0xe0: // else it would take two bytes
			valid = next >= 0xa0
		case 0xed: // else it would be half of a surrogate pair
			valid = next < 0xa0
		case 0xf0: // else it would take three bytes
			valid = next >= 0x90
		default: // else it would be behind the last character
			valid = next < 0x90
		}
		if !valid {
			return 0, false
		}
	}
	return n, true
}

// invalidUTF8 returns the offset of the first byte that is not part of valid
// UTF-8, -1 when there is none.
func invalidUTF8(src string) int {
	if ValidUTF8(src) {
		return -1
	}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRuneInString(src[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}
