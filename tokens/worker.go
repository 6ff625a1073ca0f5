package tokens

import (
	"context"
	"fmt"
)

// worker counts texts one after the other and remembers the counts of the short pieces it met: most pieces of a text
// are words it has seen before.
type worker struct {
	merger
	seen [seenSlots]seenPiece
}

const (
	seenBits  = 16
	seenSlots = 1 << seenBits
	// seenLength is the longest piece that is remembered, in bytes.
	seenLength = 15
)

// seenPiece is a piece of up to 15 bytes and its count: the bytes themselves, in the top byte of high the length (low
// half) and the count (high half; a piece never has more tokens than bytes). A zero entry is empty.
type seenPiece struct {
	low, high uint64
}

const seenCountShift = 60

// count returns the tokens of text by class; text is valid UTF-8 and not empty.
func (w *worker) count(ctx context.Context, split *splitter, text string) (Classes, error) {
	var classes Classes
	check := 0
	for at := 0; at < len(text); {
		if at >= check {
			if err := ctx.Err(); err != nil {
				return Classes{}, fmt.Errorf("count tokens: %w", err)
			}
			check = at + ctxInterval
		}
		end, class := split.next(text, at)
		if class == ClassDigits {
			classes.Digits += end - at
		}
		if end-at > seenLength {
			n, err := w.piece(ctx, text[at:end])
			if err != nil {
				return Classes{}, err
			}
			classes.Tokens[class] += n
			at = end
			continue
		}
		low, high := pieceKey(text, at, end-at)
		entry := &w.seen[(low^high*0x9e3779b97f4a7c15)*0xd6e8feb86659fd93>>(64-seenBits)]
		if entry.low != low || entry.high&(1<<seenCountShift-1) != high {
			n, err := w.piece(ctx, text[at:end])
			if err != nil {
				return Classes{}, err
			}
			*entry = seenPiece{low: low, high: high | uint64(n)<<seenCountShift} //nolint:gosec // 1 to 15
		}
		classes.Tokens[class] += int(entry.high >> seenCountShift) //nolint:gosec // 1 to 15
		at = end
	}
	return classes, nil
}

// piece returns the number of tokens of one piece.
func (w *worker) piece(ctx context.Context, piece string) (int, error) {
	first, length := w.words.trie.longest(piece)
	if length == len(piece) {
		return 1, nil
	}
	return w.merger.count(ctx, piece, first)
}

// pieceKey packs text[at:at+n] (n <= seenLength) and n into two words.
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

// eightBytes reads the first eight bytes of s as a little-endian number, which compiles to one load.
func eightBytes(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
