package tokens

import "math/bits"

// The scanner of ASCII text looks at eight bytes at a time: in a little-endian number every byte gets its answer in its
// top bit, and the number of trailing zeros says where the first "no" is.
const (
	everyByte = 0x0101010101010101
	topBits   = 0x80 * everyByte
	lowBits   = 0x7f * everyByte
)

// outside sets the top bit of every byte of x that does not lie in [low, high]; both are below 0x80.
func outside(x, low, high uint64) uint64 {
	y := x & lowBits
	return (^(y + (0x80-low)*everyByte) | (y + (0x7f-high)*everyByte) | x) & topBits
}

// asciiWord returns the end of the word whose first letter is at text[at]: upper-case letters, then lower-case letters.
// fold is 0, or 0x20 in every byte to ignore case. ok is false if the word goes on beyond ASCII or ends in the last
// bytes of the text.
func asciiWord(text string, at int, fold uint64) (end int, ok bool) {
	for at+9 <= len(text) {
		x := eightBytes(text[at:at+8]) | fold
		notUpper := outside(x, 'A', 'Z')
		if notUpper == 0 {
			at += 8
			continue
		}
		// The bytes in front of the first one that is not upper case need not be lower case.
		upper := notUpper&-notUpper - 1
		if notWord := outside(x, 'a', 'z') &^ upper; notWord != 0 {
			end = at + bits.TrailingZeros64(notWord)>>3
			return end, text[end] < 0x80
		}
		// Lower-case letters up to the end of these eight: only such can follow.
		for at += 8; at+9 <= len(text); at += 8 {
			x := eightBytes(text[at:at+8]) | fold
			if notLower := outside(x, 'a', 'z'); notLower != 0 {
				end = at + bits.TrailingZeros64(notLower)>>3
				return end, text[end] < 0x80
			}
		}
	}
	return 0, false
}
