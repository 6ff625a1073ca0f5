package tokens

// wordSet holds the tokens of up to shortLength bytes by the keys of the caches: most words that are not in a cache are
// tokens, and one look here, usually at one cache line, says so. Both tables are open hashes, about half full; a zero key
// is empty.
type wordSet struct {
	tiny       []uint64
	short      [][2]uint64
	tinyShift  uint8
	shortShift uint8
}

func newWordSet(tiny, short int) wordSet {
	tinyBits, shortBits := hashBits(tiny), hashBits(short)
	return wordSet{
		tiny: make([]uint64, 1<<tinyBits), tinyShift: 64 - tinyBits,
		short: make([][2]uint64, 1<<shortBits), shortShift: 64 - shortBits,
	}
}

// hashBits is the binary logarithm of the size of a table for n entries that leaves a third of it empty.
func hashBits(n int) uint8 {
	bits := uint8(6)
	for 2<<bits < 3*n {
		bits++
	}
	return bits
}

func (s *wordSet) add(text []byte) {
	switch {
	case len(text) <= tinyLength:
		key := tinyKeyOf(string(text))
		mask := uint64(len(s.tiny) - 1)
		at := tinyHash(key) >> s.tinyShift
		for s.tiny[at] != 0 {
			at = (at + 1) & mask
		}
		s.tiny[at] = key
	case len(text) <= shortLength:
		low, high := pieceKey(string(text), 0, len(text))
		mask := uint64(len(s.short) - 1)
		at := shortHash(low, high) >> s.shortShift
		for s.short[at][1] != 0 {
			at = (at + 1) & mask
		}
		s.short[at] = [2]uint64{low, high}
	}
}

// hasTiny reports whether the piece of a tiny key is a token.
func (s *wordSet) hasTiny(key uint64) bool {
	mask := uint64(len(s.tiny) - 1)
	for at := tinyHash(key) >> s.tinyShift; ; at = (at + 1) & mask {
		switch s.tiny[at] {
		case key:
			return true
		case 0:
			return false
		}
	}
}

// hasShort is hasTiny for the two words of a short key.
func (s *wordSet) hasShort(low, high uint64) bool {
	mask := uint64(len(s.short) - 1)
	for at := shortHash(low, high) >> s.shortShift; ; at = (at + 1) & mask {
		key := &s.short[at]
		if key[1] == high && key[0] == low {
			return true
		}
		if key[1] == 0 {
			return false
		}
	}
}
