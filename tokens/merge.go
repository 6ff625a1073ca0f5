package tokens

import (
	"context"
	"fmt"
	"runtime"
)

// merger counts the tokens of one piece that is not a token itself. It gives the result of the merge rule of byte pair
// encoding (join the adjacent pair with the lowest id, leftmost first, until none is left) without merging anything:
// it lays tokens from left to right, longest first, and takes one back when no continuation agrees with the rule.
//
// That works because the rule leaves a boundary between two tokens exactly if merging the bytes of these two alone
// leaves it (see splits). A place from which no continuation exists is marked dead and never tried again, so every
// place is visited a bounded number of times and a piece of any length costs linear time.
type merger struct {
	words *vocabulary
	laid  []uint32 // the tokens laid so far
	dead  []uint64 // one bit a byte position: no legal tokens from here on
	// steps counts the candidates that were tried, for the test of linearity.
	steps int
	// known remembers answers of splits by pair: a long run of few characters asks for the same ones again and again. An
	// entry is the pair above the two low bits, 2 if it is set, and 1 if the boundary stays.
	known [1 << knownBits]uint64
}

const knownBits = 10

// ctxInterval is how many bytes are counted between two pauses.
const ctxInterval = 64 << 10

// pause lets others have the processor and reports the context's error. The runtime takes a processor from nobody who has
// had it for less than 10 ms, which a small call should not have to wait for.
func pause(ctx context.Context) error {
	runtime.Gosched()
	return ended(ctx)
}

// ended reports the context's error.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("count tokens: %w", err)
	}
	return nil
}

// keepScratch is the largest scratch space, in entries, that a merger keeps for its next piece.
const keepScratch = 64 << 10

// count returns the number of tokens of piece. first is the longest token at its start.
func (m *merger) count(ctx context.Context, piece string, first uint32) (int, error) {
	m.reset(len(piece))
	candidate, at, check := first, 0, ctxInterval
	for at < len(piece) {
		if at >= check {
			if err := pause(ctx); err != nil {
				return 0, err
			}
			check = at + ctxInterval
		}
		if m.lay(&at, candidate) {
			if at < len(piece) {
				candidate, _ = m.words.trie.longest(piece[at:])
			}
			continue
		}
		// Nothing fits here: take the last token back and try shorter ones in its place.
		m.dead[at>>6] |= 1 << (at & 63)
		candidate = m.laid[len(m.laid)-1]
		m.laid = m.laid[:len(m.laid)-1]
		at -= m.words.tokens[candidate].length()
	}
	return len(m.laid), nil
}

// lay puts the longest possible token at *at, candidate or a prefix of it, and moves *at behind it.
func (m *merger) lay(at *int, candidate uint32) bool {
	for candidate != none {
		m.steps++
		t := m.words.tokens[candidate]
		end := *at + t.length()
		if m.dead[end>>6]&(1<<(end&63)) == 0 && (len(m.laid) == 0 || m.splits(m.laid[len(m.laid)-1], candidate)) {
			m.laid = append(m.laid, candidate)
			*at = end
			return true
		}
		candidate = t.shorter()
	}
	return false
}

func (m *merger) reset(length int) {
	if cap(m.laid) > keepScratch {
		m.laid = nil
	}
	m.laid = m.laid[:0]
	words := length>>6 + 1
	if cap(m.dead) < words || cap(m.dead) > keepScratch {
		m.dead = make([]uint64, max(words, 64))
	}
	m.dead = m.dead[:words]
	clear(m.dead)
}

// registerLength is the longest piece, in bytes, whose dead places fit one word.
const registerLength = 63

// countShort is count for pieces of up to registerLength bytes. It is the same walk with its state on the stack. candidate
// is the longest token at the start of the piece; its length comes along, so that the walk need not wait for the table
// of tokens.
func (m *merger) countShort(piece string, candidate uint32, length int) int {
	var laid [registerLength + 1]uint32
	v, dead, n, at, steps := m.words, uint64(0), 0, 0, 0
	for at < len(piece) {
		placed := false
		for candidate != none {
			steps++
			if end := at + length; dead>>(end&63)&1 == 0 && (n == 0 || v.splits(laid[(n-1)&63], candidate)) {
				laid[n&63], n, at, placed = candidate, n+1, end, true
				break
			}
			if candidate = v.tokens[candidate].shorter(); candidate != none {
				length = v.tokens[candidate].length()
			}
		}
		if placed {
			if at < len(piece) {
				candidate, length = v.trie.longest(piece[at:])
			}
			continue
		}
		dead |= 1 << (at & 63)
		n--
		candidate = laid[n&63]
		length = v.tokens[candidate].length()
		at -= length
	}
	m.steps += steps
	return n
}

// splits is the vocabulary's splits, remembered.
func (m *merger) splits(a, b uint32) bool {
	key := uint64(a)<<idBits | uint64(b)
	entry := &m.known[pairHash(key)>>(64-knownBits)]
	if *entry&^1 != key<<2|2 {
		*entry = key<<2 | 2
		if m.words.splits(a, b) {
			*entry |= 1
		}
	}
	return *entry&1 != 0
}

// splits reports whether byte pair encoding of the bytes of a followed by those of b leaves the boundary between them.
// It takes the merges inside a and b back, the latest first, and looks whether a merge across the boundary would have
// come before.
func (v *vocabulary) splits(a, b uint32) bool {
	before := uint32(none)
	for {
		if across, ok := v.pairs.merged(a, b); ok && across < before {
			return false
		}
		if a > b {
			if a < byteTokens {
				return true
			}
			// Among merges of equal id the left one comes first: one across the boundary would come after this one.
			before = a
			a = v.tokens[a].right()
		} else {
			if b < byteTokens {
				return true
			}
			before = b + 1
			b = v.tokens[b].left()
		}
	}
}
