package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// vocabulary is one of ctok's vocabularies: every piece costs one token.
type vocabulary struct {
	foldQuotes bool // curly quotes count as straight ones
	capsMin    int  // a word of at least so many capitals is marked and counted in lower case; 0: never
	pieces     [][]byte
}

// The markers of ctok's stream, as bytes that no UTF-8 text contains.
const (
	markWord  = 0xf8 // ⟨bow⟩, a word begins
	markEnd   = 0xf9 // ⟨eow⟩, a word ends
	markShift = 0xfa // ⟨shift⟩, the word began with a capital
	markCaps  = 0xfb // ⟨caps⟩, the word was all capitals
)

// The groups of the file that are treated apart. All others hold pieces.
const (
	groupBytes        = "bytes_fallback" // parts of characters, in hexadecimal
	groupContractions = "contractions"   // written without the ⟨eow⟩ that follows them in the stream
)

// longestPiece is the longest piece the reader has room for, in bytes.
const longestPiece = 128

func parse(published []byte) (*vocabulary, error) {
	var file struct {
		Meta struct {
			FoldQuotes bool `json:"fold_quotes"`
			AllcapsMin int  `json:"allcaps_min"`
		} `json:"meta"`
		Tokens map[string]map[string]json.RawMessage `json:"tokens"`
	}
	if err := json.Unmarshal(published, &file); err != nil {
		return nil, fmt.Errorf("parse the vocabulary: %w", err)
	}
	if file.Meta.AllcapsMin < 0 || file.Meta.AllcapsMin > 255 {
		return nil, fmt.Errorf("allcaps_min is %d", file.Meta.AllcapsMin)
	}
	v := &vocabulary{foldQuotes: file.Meta.FoldQuotes, capsMin: file.Meta.AllcapsMin}
	for group, entries := range file.Tokens { // any order: the pieces are sorted below
		for written := range entries {
			piece, err := read(group, written)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", group, written, err)
			}
			v.pieces = append(v.pieces, piece)
			if group == groupContractions {
				v.pieces = append(v.pieces, append(slices.Clone(piece), markEnd))
			}
		}
	}
	slices.SortFunc(v.pieces, bytes.Compare)
	v.pieces = slices.CompactFunc(v.pieces, bytes.Equal)
	if len(v.pieces) == 0 {
		return nil, errors.New("no pieces")
	}
	return v, nil
}

func read(group, written string) ([]byte, error) {
	piece, err := unescape(written)
	if group == groupBytes {
		piece, err = hex.DecodeString(written)
	}
	if err != nil {
		return nil, err
	}
	if len(piece) == 0 || len(piece) > longestPiece || slices.Contains(piece, 0) {
		return nil, fmt.Errorf("want 1 to %d bytes, none of them 0", longestPiece)
	}
	return piece, nil
}

// unescape reads ctok's notation: named markers and single bytes stand in ⟨ ⟩, everything else for itself.
func unescape(written string) ([]byte, error) {
	var piece []byte
	for written != "" {
		before, after, found := strings.Cut(written, "⟨")
		piece = append(piece, before...)
		if !found {
			break
		}
		name, rest, closed := strings.Cut(after, "⟩")
		if !closed {
			return nil, errors.New("⟨ without ⟩")
		}
		mark, err := marker(name)
		if err != nil {
			return nil, err
		}
		piece, written = append(piece, mark), rest
	}
	return piece, nil
}

func marker(name string) (byte, error) {
	switch name {
	case "bow":
		return markWord, nil
	case "eow":
		return markEnd, nil
	case "shift":
		return markShift, nil
	case "caps":
		return markCaps, nil
	}
	digits, isByte := strings.CutPrefix(name, "0x")
	value, err := hex.DecodeString(digits)
	if !isByte || err != nil || len(value) != 1 {
		return 0, fmt.Errorf("unknown marker %q", name)
	}
	return value[0], nil
}

// encode writes the compact file. The layout, in this order:
//
//	"ELBP", version byte 1, flags (byte; bit 0: fold quotes), capsMin (byte), a zero byte
//	number of pieces (uint32), number of slots (uint32), the slots (uint32 each)
//
// All numbers are little-endian. The slots are a double array: the child of a node for byte c is the slot at that node's
// base + c, if that slot's label is c. No two nodes share a base and none has base 0, so the label alone decides. A slot is
//
//	bits 0..21  base; 0 for a node without children
//	bit  22     set if a piece ends here
//	bits 24..31 label: the byte that leads here, never 0
//
// The root is slot 0.
func (v *vocabulary) encode() []byte {
	slots := place(v.pieces)
	flags := byte(0)
	if v.foldQuotes {
		flags = 1
	}
	out := append([]byte("ELBP"), 1, flags, byte(v.capsMin), 0)        //nolint:gosec // checked in parse
	out = binary.LittleEndian.AppendUint32(out, uint32(len(v.pieces))) //nolint:gosec // some ten thousand
	out = binary.LittleEndian.AppendUint32(out, uint32(len(slots)))    //nolint:gosec // some hundred thousand
	for _, slot := range slots {
		out = binary.LittleEndian.AppendUint32(out, slot)
	}
	return out
}

const (
	pieceEnds  = 1 << 22
	labelShift = 24
)

// branch is a node still to be placed: the pieces [from, to) share their first depth bytes and start here.
type branch struct{ slot, from, to, depth int }

// place builds the double array of sorted pieces, each node where its children first fit, from the root down.
func place(pieces [][]byte) []uint32 {
	a := array{slots: []uint32{0}, taken: []bool{true}, next: []int{1}}
	queue := []branch{{to: len(pieces)}}
	for i := 0; i < len(queue); i++ { // the queue grows while it is read
		n := queue[i]
		if len(pieces[n.from]) == n.depth {
			a.slots[n.slot] |= pieceEnds
			n.from++
		}
		if n.from == n.to {
			continue
		}
		var children []branch
		var labels []byte
		for p := n.from; p < n.to; p++ {
			c := pieces[p][n.depth]
			if k := len(labels); k == 0 || labels[k-1] != c {
				labels = append(labels, c)
				children = append(children, branch{from: p, depth: n.depth + 1})
			}
			children[len(children)-1].to = p + 1
		}
		base := a.find(labels)
		a.taken[base] = true
		a.slots[n.slot] |= uint32(base) //nolint:gosec // below 1<<22
		for k, child := range children {
			child.slot = base + int(labels[k])
			a.slots[child.slot] = uint32(labels[k]) << labelShift
			a.next[child.slot] = child.slot + 1
			queue = append(queue, child)
		}
	}
	for len(a.slots) > 1 && a.slots[len(a.slots)-1] == 0 {
		a.slots = a.slots[:len(a.slots)-1]
	}
	return a.slots
}

// array is a double array being filled.
type array struct {
	slots []uint32
	taken []bool // bases in use
	next  []int  // next[i]: i if slot i is free, else where to look for a free one after it
}

// find returns the first free base that puts every label on a free slot.
func (a *array) find(labels []byte) int {
	first := int(labels[0])
	for gap := a.free(first + 1); ; gap = a.free(gap + 1) {
		base := gap - first
		a.grow(base + 256)
		if !a.taken[base] && fits(a.slots, base, labels) {
			return base
		}
	}
}

// free returns the first free slot from i on.
func (a *array) free(i int) int {
	a.grow(i + 1)
	end := i
	for a.next[end] != end {
		end = a.next[end]
		a.grow(end + 1)
	}
	for a.next[i] != end && i != end { // the next search along here is short
		i, a.next[i] = a.next[i], end
	}
	return end
}

func (a *array) grow(size int) {
	for i := len(a.slots); i < size; i++ {
		a.slots, a.taken, a.next = append(a.slots, 0), append(a.taken, false), append(a.next, i)
	}
}

func fits(slots []uint32, base int, labels []byte) bool {
	for _, c := range labels {
		if slots[base+int(c)] != 0 {
			return false
		}
	}
	return true
}
