package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// token is one entry of a vocabulary. Rank is both its id and its merge priority (lower merges first).
type token struct {
	text []byte
	rank int
	// left is the length in bytes of the left one of the two tokens that merge into this one, right the rank of the
	// right one; both are 0 for single bytes.
	left, right int
}

// parse reads a .tiktoken file: one line a token, base64 text, a space, the rank.
func parse(published []byte) ([]token, error) {
	var out []token
	for number, line := range bytes.Split(published, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		encoded, rank, found := bytes.Cut(line, []byte(" "))
		if !found {
			return nil, fmt.Errorf("line %d: no rank", number+1)
		}
		text, err := base64.StdEncoding.DecodeString(string(encoded))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
		n, err := strconv.Atoi(string(rank))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
		if len(text) == 0 || len(text) > math.MaxUint8 {
			return nil, fmt.Errorf("line %d: token of %d bytes, want 1 to %d", number+1, len(text), math.MaxUint8)
		}
		out = append(out, token{text: text, rank: n})
	}
	slices.SortFunc(out, func(a, b token) int { return cmp.Compare(a.rank, b.rank) })
	for i, t := range out {
		if t.rank != i {
			return nil, fmt.Errorf("rank %d is missing: ranks must count up from 0", i)
		}
		if (len(t.text) == 1) != (i < 256) {
			return nil, fmt.Errorf("rank %d: the first 256 ranks must be the single bytes", i)
		}
	}
	if err := findHalves(out); err != nil {
		return nil, err
	}
	return out, nil
}

// findHalves sets the left length of every token by merging its bytes with the tokens of lower rank, as the tokenizer
// itself would. The state before the last merge is the same wherever the token appears in a text, so the two halves
// are unique. A token that no sequence of merges produces is an error: the reader relies on there being none.
func findHalves(vocabulary []token) error {
	ranks := make(map[string]int, len(vocabulary))
	for _, t := range vocabulary {
		ranks[string(t.text)] = t.rank
	}
	for i, t := range vocabulary {
		if len(t.text) < 2 {
			continue
		}
		bounds := merge(t.text, ranks, t.rank)
		if len(bounds) != 3 {
			return fmt.Errorf("rank %d (%q) is not a merge of two tokens of lower rank", t.rank, t.text)
		}
		vocabulary[i].left, vocabulary[i].right = bounds[1], ranks[string(t.text[bounds[1]:])]
	}
	return nil
}

// merge applies all merges of rank below limit, lowest rank first and leftmost first among equals, and returns the
// boundaries of the remaining tokens, 0 and len(text) included.
func merge(text []byte, ranks map[string]int, limit int) []int {
	bounds := make([]int, len(text)+1)
	for i := range bounds {
		bounds[i] = i
	}
	for {
		best, at := limit, -1
		for i := 0; i+2 < len(bounds); i++ {
			if rank, ok := ranks[string(text[bounds[i]:bounds[i+2]])]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return bounds
		}
		bounds = slices.Delete(bounds, at+1, at+2)
	}
}

// encode writes the compact file. The layout, in this order:
//
//	"ELBR", version byte 2, number of tokens (uint32)
//	per token, sorted by text:
//	  length of the prefix shared with the previous text (byte), length of the rest (byte), the rest,
//	  rank (3 bytes), length of the left half (byte, 0 for a single byte), rank of the right half (3 bytes)
//
// All numbers are little-endian. The sorted order lets the reader build its trie in one pass.
func encode(vocabulary []token) []byte {
	sorted := slices.Clone(vocabulary)
	slices.SortFunc(sorted, func(a, b token) int { return bytes.Compare(a.text, b.text) })
	out := append([]byte("ELBR"), 2)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(sorted))) //nolint:gosec // at most a few hundred thousand
	var previous []byte
	for _, t := range sorted {
		shared := 0
		for shared < len(previous) && shared < len(t.text) && previous[shared] == t.text[shared] {
			shared++
		}
		rest := t.text[shared:]
		out = append(out, byte(shared), byte(len(rest)))
		out = append(out, rest...)
		out = append(out, byte(t.rank), byte(t.rank>>8), byte(t.rank>>16), byte(t.left), byte(t.right), byte(t.right>>8), byte(t.right>>16))
		previous = t.text
	}
	return out
}
