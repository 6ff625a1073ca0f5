package tokens

// seams knows between which characters a piece may be cut without changing its tokens: where no token of the
// vocabulary reaches across. Merging never joins what no token holds, so both parts have the tokens they would have
// alone. Only places between two characters of three bytes are looked at (Han, Kana, Hangul and their punctuation): there
// most pairs occur in no token, and cutting turns long runs without spaces into short pieces that come again.
//
// The set is a bit table under a hash: a pair that happens to share its bit with another is not cut, which costs time
// only.
type seams struct {
	held [1 << (seamBits - 6)]uint64
}

const seamBits = 18

// next returns the first place after at where text[at:end] may be cut, end if there is none. A character starts at at.
func (j *seams) next(text string, at, end int) int {
	var left uint32 // the character before, 0 if it is not one of three bytes
	for at < end {
		switch c := text[at]; {
		case c < 0x80:
			left = 0
			at++
		case c < 0xe0:
			left = 0
			at += 2
		case c >= 0xf0 || at+3 > len(text):
			left = 0
			at += 4
		default:
			s := text[at : at+3]
			right := uint32(s[0])<<16 | uint32(s[1])<<8 | uint32(s[2])
			if left != 0 && !j.isHeld(left, right) && !j.isHeld(left&0xff, right) {
				return at
			}
			left = right
			at += 3
		}
	}
	return end
}

// isHeld reports whether a token holds the end of left and the start of right. left is a character or, for tokens that start
// inside one, its last byte.
func (j *seams) isHeld(left, right uint32) bool {
	bit := seamBit(left, right)
	return j.held[bit>>6]&(1<<(bit&63)) != 0
}

func seamBit(left, right uint32) uint64 {
	return (uint64(left)<<24 | uint64(right)) * 0x9e3779b97f4a7c15 >> (64 - seamBits)
}

// add marks every pair that the token holds.
func (j *seams) add(token []byte) {
	for at := 1; at < len(token); at++ {
		if token[at]&0xf0 != 0xe0 || token[at-1]&0xc0 != 0x80 {
			continue
		}
		left := uint32(token[at-1])
		if at >= 3 && token[at-3]&0xf0 == 0xe0 {
			left |= uint32(token[at-3])<<16 | uint32(token[at-2])<<8
		}
		// A token that ends inside the right character holds every character that starts so.
		low, high := [3]byte{token[at], 0x80, 0x80}, [3]byte{token[at], 0xbf, 0xbf}
		copy(low[:], token[at:])
		copy(high[:], token[at:])
		for second := low[1]; second <= high[1]; second++ {
			for third := low[2]; third <= high[2]; third++ {
				bit := seamBit(left, uint32(token[at])<<16|uint32(second)<<8|uint32(third))
				j.held[bit>>6] |= 1 << (bit & 63)
			}
		}
	}
}
