package tokens

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// vocabulary is the set of tokens of one encoding, arranged for counting: a trie that finds the longest token at a
// place, and for every token how it came to be. A token's id is also its merge priority: lower ids merge first.
type vocabulary struct {
	trie   trie
	tokens []token
	pairs  pairTable
}

// token is one vocabulary entry.
type token struct {
	left, right uint32 // the two tokens that merge into this one; the token itself if it is a single byte
	shorter     uint32 // the longest other token that is a prefix of this one; none if there is none
	length      uint32 // bytes
}

const (
	// byteTokens is the number of single-byte tokens. They are the first ids of every vocabulary read here, and the
	// only ones that are not the merge of two others.
	byteTokens = 256
	// idBits is the width of a token id in packed table entries.
	idBits = 18
	none   = 1<<idBits - 1
)

// readVocabulary parses a file written by internal/tools/ranks, where the layout is described.
func readVocabulary(file []byte) (*vocabulary, error) {
	const header = 9
	if len(file) < header || string(file[:5]) != "ELBR\x01" {
		return nil, errors.New("tokens: not a rank file of version 1")
	}
	count := int(binary.LittleEndian.Uint32(file[5:header]))
	if count < byteTokens || count > none {
		return nil, fmt.Errorf("tokens: rank file of %d tokens, want %d to %d", count, byteTokens, none)
	}
	v := &vocabulary{tokens: make([]token, count)}
	sorted := sortedTexts{ids: make([]uint32, 0, count), ends: make([]uint32, 1, count+1)}
	var prefixes [256]uint32 // prefixes[n]: the token of the first n bytes of the current text, plus one; 0: none
	rest := file[header:]
	for range count {
		if len(rest) < 2 || len(rest) < int(rest[1])+6 {
			return nil, errors.New("tokens: rank file is cut off")
		}
		shared, added := int(rest[0]), int(rest[1])
		length := shared + added
		text := sorted.append(shared, rest[2:2+added])
		number := rest[2+added:]
		id, leftLength := uint32(number[0])|uint32(number[1])<<8|uint32(number[2])<<16, int(number[3])
		rest = number[4:]
		if text == nil || added == 0 || length >= len(prefixes) || int(id) >= count || leftLength >= length {
			return nil, fmt.Errorf("tokens: rank file: bad entry %d", len(sorted.ids))
		}
		clear(prefixes[shared+1 : length])
		t := token{left: id, right: id, shorter: none, length: uint32(length)} //nolint:gosec // below 256
		for n := length - 1; n > 0; n-- {
			if prefixes[n] != 0 {
				t.shorter = prefixes[n] - 1
				break
			}
		}
		if leftLength > 0 {
			if prefixes[leftLength] == 0 {
				return nil, fmt.Errorf("tokens: rank file: left half of token %d is no token", id)
			}
			t.left = prefixes[leftLength] - 1
		}
		prefixes[length] = id + 1
		v.tokens[id] = t
		sorted.ids = append(sorted.ids, id)
	}
	v.trie = newTrie(sorted)
	return v, v.joinHalves(sorted)
}

// joinHalves finds the right half of every token and fills the pair table.
func (v *vocabulary) joinHalves(sorted sortedTexts) error {
	v.pairs = newPairTable(len(v.tokens))
	for i, id := range sorted.ids {
		t := &v.tokens[id]
		if t.length == 1 {
			if id >= byteTokens {
				return fmt.Errorf("tokens: rank file: single byte at rank %d", id)
			}
			continue
		}
		if t.left == id {
			return fmt.Errorf("tokens: rank file: token %d has no halves", id)
		}
		text := sorted.text(i)
		right := text[v.tokens[t.left].length:]
		at, length := v.trie.longest(string(right))
		if length != len(right) {
			return fmt.Errorf("tokens: rank file: right half of token %d is no token", id)
		}
		t.right = at
		v.pairs.add(t.left, t.right, id)
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

// pairTable maps two adjacent tokens to the token they merge into: an open hash of packed entries, at most half full.
type pairTable struct {
	entries []uint64 // left, right and merged id, idBits each; 0 is empty (no merge has id 0)
	shift   uint8
}

func newPairTable(pairs int) pairTable {
	bits := uint8(1)
	for 1<<bits < 2*pairs {
		bits++
	}
	return pairTable{entries: make([]uint64, 1<<bits), shift: 64 - bits}
}

func (p *pairTable) slot(key uint64) uint64 { return (key * 0x9e3779b97f4a7c15) >> p.shift }

func (p *pairTable) add(left, right, merged uint32) {
	key := uint64(left)<<idBits | uint64(right)
	mask := uint64(len(p.entries) - 1)
	at := p.slot(key)
	for p.entries[at] != 0 {
		at = (at + 1) & mask
	}
	p.entries[at] = key<<idBits | uint64(merged)
}

// merged returns the token that left and right merge into.
func (p *pairTable) merged(left, right uint32) (id uint32, ok bool) {
	key := uint64(left)<<idBits | uint64(right)
	mask := uint64(len(p.entries) - 1)
	for at := p.slot(key); ; at = (at + 1) & mask {
		entry := p.entries[at]
		if entry == 0 {
			return 0, false
		}
		if entry>>idBits == key {
			return uint32(entry & none), true
		}
	}
}
