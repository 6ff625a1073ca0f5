package tokens

const (
	// shortLength is the longest piece, in bytes, that fits an entry of the short cache.
	shortLength = 15
	shortBits   = 15
	// tinyLength is the same for the tiny cache.
	tinyLength = 7
	tinyBits   = 14
	// longLength is the same for the long cache.
	longLength = 46
	longBits   = 12
)

// wordCache remembers the counts of pieces of up to 15 bytes.
type wordCache struct {
	tiny  tinyCache
	short shortCache
}

// add remembers that text is one token; longer texts than fit are left out.
func (c *wordCache) add(text string) {
	switch {
	case len(text) <= tinyLength:
		key := tinyKeyOf(text)
		c.tiny.set(key).put(key, 1)
	case len(text) <= shortLength:
		low, high := pieceKey(text, 0, len(text))
		c.short.put(low, high, 1)
	}
}

// tinyCache remembers the counts of pieces of up to 7 bytes, which most are, in a quarter of a megabyte. A piece is its own key:
// the bytes, then the length (low half byte) and the count (high half byte; a piece never has more tokens than bytes). A key
// has four places, the first one for the last one used. A zero entry is empty.
type tinyCache struct {
	sets [1 << tinyBits]tinySet
}

type tinySet [4]uint64

// put remembers a count of 1 to 7 in the first place; the entry in the last one goes.
func (s *tinySet) put(key uint64, n int) {
	s[3], s[2], s[1], s[0] = s[2], s[1], s[0], key|uint64(n)<<countShift //nolint:gosec // 1 to 7
}

func (c *tinyCache) set(key uint64) *tinySet {
	return &c.sets[tinyHash(key)>>(64-tinyBits)]
}

// tinyHash spreads keys over the top bits.
func tinyHash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

// tinyKeyOf is the key of a piece of at most tinyLength bytes.
func tinyKeyOf(piece string) (key uint64) {
	for i := range len(piece) {
		key |= uint64(piece[i]) << (8 * i)
	}
	return key | uint64(len(piece))<<56
}

// shortCache remembers the counts of pieces of 8 to 15 bytes. A piece is its own key: its bytes and its length make two
// words, so a look-up is exact. A key has two places.
type shortCache struct {
	pairs [1 << shortBits][2]shortEntry
}

// shortEntry holds a key and, in the top half byte of high, the count (a piece never has more tokens than bytes). A zero
// entry is empty.
type shortEntry struct {
	low, high uint64
}

const countShift = 60

func (e *shortEntry) holds(low, high uint64) bool {
	return e.low == low && (e.high^high)<<(64-countShift) == 0
}

func (c *shortCache) pair(low, high uint64) *[2]shortEntry {
	return &c.pairs[shortHash(low, high)>>(64-shortBits)]
}

// shortHash spreads keys over the top bits.
func shortHash(low, high uint64) uint64 { return (low ^ high*0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93 }

// get returns the count of a key, 0 if it is not known.
func (c *shortCache) get(low, high uint64) int {
	pair := c.pair(low, high)
	if pair[0].holds(low, high) {
		return int(pair[0].high >> countShift) //nolint:gosec // 1 to 15
	}
	if pair[1].holds(low, high) {
		return int(pair[1].high >> countShift) //nolint:gosec // 1 to 15
	}
	return 0
}

// put remembers a count of 1 to 15 in the place of the older entry.
func (c *shortCache) put(low, high uint64, n int) {
	pair := c.pair(low, high)
	pair[1] = pair[0]
	pair[0] = shortEntry{low: low, high: high | uint64(n)<<countShift} //nolint:gosec // 1 to 15
}

// shortKey packs the first n bytes (n <= shortLength) of s, which has at least 16, and n into two words.
func (t *byteTables) shortKey(s string, n int) (low, high uint64) {
	mask := &t.masks[n&15]
	return eightBytes(s[:8]) & mask[0], eightBytes(s[8:16])&mask[1] | uint64(n)<<56 //nolint:gosec // at most 15
}

// pieceKey packs text[at:at+n] (n <= shortLength) and n into two words.
func pieceKey(text string, at, n int) (low, high uint64) {
	if at+16 <= len(text) {
		s := text[at : at+16]
		low = eightBytes(s)
		if n <= 8 {
			low &= 1<<(8*uint(n)) - 1 //nolint:gosec // not negative
		} else {
			high = eightBytes(s[8:]) & (1<<(8*uint(n-8)) - 1)
		}
	} else {
		for i := range n {
			if i < 8 {
				low |= uint64(text[at+i]) << (8 * i)
			} else {
				high |= uint64(text[at+i]) << (8 * (i - 8))
			}
		}
	}
	return low, high | uint64(n)<<56 //nolint:gosec // at most 15
}

// longCache remembers the counts of pieces of 16 to 46 bytes.
type longCache struct {
	entries [1 << longBits]longEntry
}

// longEntry is 48 bytes. A zero entry is empty.
type longEntry struct {
	text   [longLength]byte
	length uint8
	count  uint8
}

func (c *longCache) entry(piece string) *longEntry {
	h := uint64(len(piece))
	rest := piece
	for len(rest) >= 8 {
		h = (h ^ eightBytes(rest)) * 0x9e3779b97f4a7c15
		h ^= h >> 32
		rest = rest[8:]
	}
	h = (h ^ eightBytes(piece[len(piece)-8:])) * 0xd6e8feb86659fd93
	return &c.entries[h>>(64-longBits)]
}

func (e *longEntry) holds(piece string) bool {
	return int(e.length) == len(piece) && string(e.text[:len(piece)]) == piece
}

func (e *longEntry) set(piece string, n int) {
	copy(e.text[:], piece)
	e.length, e.count = uint8(len(piece)), uint8(n) //nolint:gosec // both at most longLength
}

// eightBytes reads the first eight bytes of s as a little-endian number, which compiles to one load.
func eightBytes(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
