package conversation

import "encoding/binary"

// findSpecials has a bit for each of 64 bytes that is a quote, a backslash or a control
// character: what a string literal cannot hold as it is.
func findSpecials(src *[64]byte) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	const gather = 0x0102040810204080 // moves the lowest bits of eight bytes to the highest byte
	found := uint64(0)
	for i := 0; i < len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		low := w &^ highs
		// Each sum carries into the high bit of a byte that is not what is looked for.
		plain := (low + 0x60*ones) & (low ^ '"'*ones + 0x7f*ones) & (low ^ '\\'*ones + 0x7f*ones)
		here := highs &^ (plain | w)
		found = found>>8 | (here>>7*gather)&(0xff<<56)
	}
	return found
}
