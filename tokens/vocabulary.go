package tokens

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
)

// vocabulary is the set of tokens of one encoding, arranged for counting: a trie that finds the longest token at a
// place, and for every token how it came to be. A token's id is also its merge priority: lower ids merge first.
type vocabulary struct {
	trie   trie
	tokens []token
	pairs  pairTable
	seams  seams
	common *wordCache // what every worker starts with: the commonTokens
}

// token is one vocabulary entry in one word, so that a look at it costs one load:
//
//	bits  0..17 left: the two tokens that merge into this one, the token itself if it is a single byte
//	bits 18..35 right
//	bits 36..53 the longest other token that is a prefix of this one; none if there is none
//	bits 54..61 length in bytes
type token uint64

func newToken(left, right, shorter uint32, length int) token {
	return token(left) | token(right)<<idBits | token(shorter)<<(2*idBits) | token(length)<<(3*idBits) //nolint:gosec // below 256
}

func (t token) left() uint32    { return uint32(t & none) }                 //nolint:gosec // 18 bits
func (t token) right() uint32   { return uint32(t >> idBits & none) }       //nolint:gosec // 18 bits
func (t token) shorter() uint32 { return uint32(t >> (2 * idBits) & none) } //nolint:gosec // 18 bits
func (t token) length() int     { return int(t >> (3 * idBits)) }           //nolint:gosec // 8 bits

const (
	// byteTokens is the number of single-byte tokens. They are the first ids of every vocabulary read here, and the
	// only ones that are not the merge of two others.
	byteTokens = 256
	// idBits is the width of a token id in packed table entries.
	idBits = 18
	none   = 1<<idBits - 1
	// commonTokens is how many tokens a worker knows before it has seen any text: the first ones, for a vocabulary is
	// built from the most frequent pairs on. More of them would leave no room in the caches.
	commonTokens = 1 << 16
)

// readVocabulary parses a file written by internal/tools/ranks, where the layout is described.
func readVocabulary(file []byte) (*vocabulary, error) {
	const header = 9
	if len(file) < header || string(file[:5]) != "ELBR\x02" {
		return nil, errors.New("tokens: not a rank file of version 2")
	}
	count := int(binary.LittleEndian.Uint32(file[5:header]))
	if count < byteTokens || count > none {
		return nil, fmt.Errorf("tokens: rank file of %d tokens, want %d to %d", count, byteTokens, none)
	}
	v := &vocabulary{tokens: make([]token, count), common: new(wordCache)}
	sorted := sortedTexts{ids: make([]uint32, 0, count), ends: make([]uint32, 1, count+1)}
	var prefixes [256]uint32 // prefixes[n]: the token of the first n bytes of the current text, plus one; 0: none
	rest := file[header:]
	for range count {
		if len(rest) < 2 || len(rest) < int(rest[1])+9 {
			return nil, errors.New("tokens: rank file is cut off")
		}
		shared, added := int(rest[0]), int(rest[1])
		length := shared + added
		text := sorted.append(shared, rest[2:2+added])
		number := rest[2+added:]
		id, leftLength := uint32(number[0])|uint32(number[1])<<8|uint32(number[2])<<16, int(number[3])
		right := uint32(number[4]) | uint32(number[5])<<8 | uint32(number[6])<<16
		rest = number[7:]
		if text == nil || added == 0 || length >= len(prefixes) || int(id) >= count || int(right) >= count || leftLength >= length {
			return nil, fmt.Errorf("tokens: rank file: bad entry %d", len(sorted.ids))
		}
		clear(prefixes[shared+1 : length])
		left, shorter := id, uint32(none)
		if leftLength == 0 {
			right = id
		}
		for n := length - 1; n > 0; n-- {
			if prefixes[n] != 0 {
				shorter = prefixes[n] - 1
				break
			}
		}
		if leftLength > 0 {
			if prefixes[leftLength] == 0 {
				return nil, fmt.Errorf("tokens: rank file: left half of token %d is no token", id)
			}
			left = prefixes[leftLength] - 1
		}
		prefixes[length] = id + 1
		v.tokens[id] = newToken(left, right, shorter, length)
		sorted.ids = append(sorted.ids, id)
	}
	// The trie takes as long to build as all the rest.
	var group sync.WaitGroup
	group.Go(func() { v.trie = newTrie(sorted) })
	err := v.joinHalves()
	for i := range sorted.ids {
		text := sorted.text(i)
		v.seams.add(text)
		if sorted.ids[i] < commonTokens {
			v.common.add(string(text))
		}
	}
	group.Wait()
	return v, err
}

// joinHalves fills the pair table.
func (v *vocabulary) joinHalves() error {
	v.pairs = newPairTable(len(v.tokens))
	for id, t := range v.tokens {
		if t.length() == 1 && id < byteTokens {
			continue
		}
		if id < byteTokens || t.length() != v.tokens[t.left()].length()+v.tokens[t.right()].length() {
			return fmt.Errorf("tokens: rank file: token %d is not its two halves", id)
		}
		v.pairs.add(t.left(), t.right(), uint32(id)) //nolint:gosec // 18 bits
	}
	return nil
}

// sortedTexts holds the texts of a vocabulary in byte order, one after the other.
type sortedTexts struct {
	ids   []uint32
	bytes []byte
	ends  []uint32 // ends[i]: end of text i-1 and start of text i
}

// append adds a text that shares its first bytes with the previous one; nil if the previous one is shorter.
func (s *sortedTexts) append(shared int, rest []byte) []byte {
	start := len(s.bytes)
	if n := len(s.ends); shared > 0 {
		previous := s.bytes[:start]
		if n > 1 {
			previous = s.bytes[s.ends[n-2]:start]
		}
		if shared > len(previous) {
			return nil
		}
		s.bytes = append(s.bytes, previous[:shared]...)
	}
	s.bytes = append(s.bytes, rest...)
	s.ends = append(s.ends, uint32(len(s.bytes))) //nolint:gosec // a few megabytes
	return s.bytes[start:]
}

func (s *sortedTexts) text(i int) []byte { return s.bytes[s.ends[i]:s.ends[i+1]] }

// pairTable maps two adjacent tokens to the token they merge into: an open hash of packed entries. Most pairs that are
// asked for do not merge, so a small bit table, which stays in the processor's cache, is asked first.
type pairTable struct {
	entries []uint64 // left, right and merged id, idBits each; 0 is empty (no merge has id 0)
	filter  []uint64 // one bit a hash value, eight hash values an entry
	shift   uint8
}

// filterBits is how many more bits of the hash the filter looks at.
const filterBits = 3

func newPairTable(pairs int) pairTable {
	bits := uint8(filterBits + 6)
	for 4<<bits < 5*pairs {
		bits++
	}
	return pairTable{entries: make([]uint64, 1<<bits), filter: make([]uint64, 1<<(bits+filterBits-6)), shift: 64 - bits}
}

func pairHash(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }

func (p *pairTable) add(left, right, merged uint32) {
	key := uint64(left)<<idBits | uint64(right)
	hash := pairHash(key)
	bit := hash >> (p.shift - filterBits)
	p.filter[bit>>6] |= 1 << (bit & 63)
	mask := uint64(len(p.entries) - 1)
	at := hash >> p.shift
	for p.entries[at] != 0 {
		at = (at + 1) & mask
	}
	p.entries[at] = key<<idBits | uint64(merged)
}

// merged returns the token that left and right merge into.
func (p *pairTable) merged(left, right uint32) (id uint32, ok bool) {
	key := uint64(left)<<idBits | uint64(right)
	hash := pairHash(key)
	bit := hash >> (p.shift - filterBits)
	if p.filter[bit>>6]&(1<<(bit&63)) == 0 {
		return 0, false
	}
	return p.find(key, hash>>p.shift)
}

func (p *pairTable) find(key, at uint64) (id uint32, ok bool) {
	mask := uint64(len(p.entries) - 1)
	for ; ; at = (at + 1) & mask {
		entry := p.entries[at]
		if entry == 0 {
			return 0, false
		}
		if entry>>idBits == key {
			return uint32(entry & none), true
		}
	}
}
