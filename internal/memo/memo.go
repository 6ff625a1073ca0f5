// Package memo remembers what pure functions made of texts. An agent sends its
// whole conversation with every turn, and all but the newest message was there the
// turn before: what depends on one text alone need not be worked out again.
//
// A memo is bounded in bytes and holds no text to compare with. It finds an entry by
// a keyed hash of 128 bits whose keys every process draws anew, so nobody can make two
// texts that share an entry, nor tell from outside what is in it other than by how
// long an answer takes.
package memo

import (
	"hash/maphash"
	"math/bits"
	"sync"
)

// DefaultBytes is the size of a memo unless told otherwise, in bytes: what is made of
// some thirty conversations of 200,000 tokens.
const DefaultBytes = 64 << 20

// Least is the size in bytes from which a text is worth being remembered. A smaller one
// is read in about the time it takes to find it again.
const Least = 128

const (
	shards = 16
	// overhead is what an entry takes besides its value, in bytes.
	overhead = 160
)

// Kind keeps apart what different functions made of the same text.
type Kind uint64

// The kinds of entries. Every function that remembers has one of its own, or a range.
const (
	// Clean: whether a text is free of secrets (package redact).
	Clean Kind = iota + 1
	// Names: what may be a name in a text (package fidelity), with the flag of a tool's.
	Names
	ToolNames
	// Seen: that a message was read ahead (package compressor).
	Seen
	// Cut is the first of the kinds of texts cut into units (package extractive), one
	// for each voice.
	Cut Kind = 64
)

// Key finds an entry.
type Key [2]uint64

// Memo remembers values by key. What was not asked for longest goes first. It is safe for
// concurrent use; a nil Memo remembers nothing.
type Memo struct {
	*table
	owner Key // of all keys made here
}

// table is what the memos of all owners share: room, but no entry.
type table struct {
	seeds  [2]maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu          sync.Mutex
	at          map[Key]*entry
	used, limit int
	// newest is the entry asked for last, newest.next the one asked for longest ago: a ring.
	newest *entry
}

type entry struct {
	key        Key
	value      any
	bytes      int
	prev, next *entry // prev was asked for before, next after
}

// New returns a memo of at most so many bytes, nil if there are none.
func New(bytes int64) *Memo {
	if bytes <= 0 {
		return nil
	}
	m := &Memo{table: &table{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}}
	for i := range m.shards {
		m.shards[i].limit = int(bytes / shards)
	}
	return m
}

// For returns the memo of one owner, in the same room. What one owner's texts left
// behind nobody else finds, so that nobody can tell by how long an answer takes which
// texts another sends.
func (m *Memo) For(owner string) *Memo {
	if m == nil || owner == "" {
		return m
	}
	return &Memo{table: m.table, owner: Key{maphash.String(m.seeds[0], owner), maphash.String(m.seeds[1], owner)}}
}

// Seed is the seed for hashes that are part of what is remembered; a new one each time
// for a nil Memo.
func (m *Memo) Seed() maphash.Seed {
	if m == nil {
		return maphash.MakeSeed()
	}
	return m.seeds[0]
}

// Key is the key of a text.
func (m *Memo) Key(kind Kind, text string) Key {
	if m == nil {
		return Key{}
	}
	return Key{maphash.String(m.seeds[0], text), maphash.String(m.seeds[1], text)}.of(kind).Join(m.owner)
}

// Join is the key of what stands behind several keys, in their order.
func (k Key) Join(other Key) Key {
	const odd = 0x9e3779b97f4a7c15
	return Key{bits.RotateLeft64(k[0], 23)*odd ^ other[0], bits.RotateLeft64(k[1], 41)*odd ^ other[1]}
}

func (k Key) of(kind Kind) Key {
	const odd = 0x9e3779b97f4a7c15
	return Key{k[0] + uint64(kind)*odd, k[1]}
}

// Get returns what is remembered. It must not be changed.
func (m *Memo) Get(key Key) (any, bool) {
	if m == nil {
		return nil, false
	}
	s := &m.shards[key[1]%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	e, found := s.at[key]
	if !found {
		return nil, false
	}
	s.unlink(e)
	s.link(e)
	return e.value, true
}

// Put remembers a value, of which bytes are kept in memory because of it. A value that
// would take half of its share of the memo is not remembered.
func (m *Memo) Put(key Key, value any, bytes int) {
	if m == nil {
		return
	}
	s := &m.shards[key[1]%shards]
	if bytes += overhead; bytes > s.limit/2 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.at[key]; found {
		return
	}
	for s.used+bytes > s.limit {
		oldest := s.newest.next
		s.unlink(oldest)
		delete(s.at, oldest.key)
		s.used -= oldest.bytes
	}
	if s.at == nil {
		s.at = make(map[Key]*entry)
	}
	e := &entry{key: key, value: value, bytes: bytes}
	s.at[key] = e
	s.used += bytes
	s.link(e)
}

// Bytes is how much is remembered.
func (m *Memo) Bytes() int64 {
	if m == nil {
		return 0
	}
	n := int64(0)
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		n += int64(s.used)
		s.mu.Unlock()
	}
	return n
}

func (s *shard) link(e *entry) {
	if s.newest == nil {
		e.prev, e.next = e, e
	} else {
		e.prev, e.next = s.newest, s.newest.next
		e.prev.next, e.next.prev = e, e
	}
	s.newest = e
}

func (s *shard) unlink(e *entry) {
	if e.next == e {
		s.newest = nil
		return
	}
	e.prev.next, e.next.prev = e.next, e.prev
	if s.newest == e {
		s.newest = e.prev
	}
}
