package tokens

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/elbowroom/elbowroom/conversation"
)

// DefaultRememberedCounts is how many counts of messages, system prompts and tool lists a Counter remembers unless told
// otherwise: those of the longest conversations a few times over. They take 13 MB, 200 bytes each, and up to half a
// kilobyte more for each that carries warnings.
const DefaultRememberedCounts = 1 << 16

const (
	memoShards = 16
	// memoLeast is the size in bytes from which a piece is remembered. A smaller one is counted in about the time it takes
	// to find it again.
	memoLeast = 48
	// memoWarnings is the size in bytes of the most that a remembered count carries in warnings, whose details may name what
	// the caller wrote. A count with more is not remembered, so an entry has a largest size.
	memoWarnings = 512
	warningBytes = 40 // of a warning without its detail
)

// memo remembers what pieces of requests cost. The key is a keyed hash of 128 bits over what is known of the model and all of a
// piece that its cost can depend on; the hash's keys are drawn anew by every process, so nobody can make two pieces that
// share a key. When a shard is full, what was not asked for lately goes (the clock rule). It is safe for concurrent use;
// a nil memo remembers nothing.
type memo struct {
	seeds  [2]maphash.Seed
	shards [memoShards]memoShard
}

type memoKey [2]uint64

type memoShard struct {
	mu    sync.Mutex
	at    map[memoKey]int32 // index in slots
	slots []memoSlot
	limit int // of slots
	hand  int
}

type memoSlot struct {
	key  memoKey
	used bool
	cost Cost
}

// newMemo returns a memo of at most n entries, rounded up to a multiple of the shards; nil if n is not positive.
func newMemo(n int) *memo {
	if n <= 0 {
		return nil
	}
	m := &memo{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	for i := range m.shards {
		m.shards[i].limit = (n + memoShards - 1) / memoShards
	}
	return m
}

// get returns what is remembered. The cost is the caller's to change.
func (m *memo) get(key memoKey) (Cost, bool) {
	s := &m.shards[key[0]%memoShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := s.at[key]
	if !found {
		return Cost{}, false
	}
	slot := &s.slots[at]
	slot.used = true
	cost := slot.cost
	cost.Warnings = slices.Clone(cost.Warnings)
	return cost, true
}

// put remembers a cost, of which it keeps a copy.
func (m *memo) put(key memoKey, cost Cost) {
	size := 0
	for _, w := range cost.Warnings {
		size += warningBytes + len(w.Detail)
	}
	if size > memoWarnings {
		return
	}
	cost.Warnings = slices.Clone(cost.Warnings)
	s := &m.shards[key[0]%memoShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.at[key]; found {
		return
	}
	if s.at == nil {
		s.at = make(map[memoKey]int32)
	}
	if len(s.slots) < s.limit {
		s.at[key] = int32(len(s.slots)) //nolint:gosec // below the limit
		s.slots = append(s.slots, memoSlot{key: key, cost: cost})
		return
	}
	for s.slots[s.hand].used {
		s.slots[s.hand].used = false
		s.hand = (s.hand + 1) % len(s.slots)
	}
	delete(s.at, s.slots[s.hand].key)
	s.slots[s.hand] = memoSlot{key: key, cost: cost}
	s.at[key] = int32(s.hand) //nolint:gosec // below the limit
	s.hand = (s.hand + 1) % len(s.slots)
}

// memoSection keeps apart the pieces that are counted by different rules.
type memoSection int

const (
	memoMessage memoSection = iota
	memoSystem
	memoTools
)

// memoRules stands for all that a cost depends on beside the piece: what is known about the model.
type memoRules [2]uint64

// ofModel leaves out what models of one row may differ in and counting does not look at.
func (m *memo) ofModel(model Model) memoRules {
	model.Name, model.Date, model.Source, model.Note, model.Thinking = "", "", "", "", ""
	model.ContextWindow, model.MaxOutput, model.CacheMinimum = 0, 0, 0
	return memoRules{maphash.Comparable(m.seeds[0], model), maphash.Comparable(m.seeds[1], model)}
}

// ofMessage is the key of a message or a system prompt. Marks and positions are left out: they cost nothing and change
// from request to request while the content stays.
func (m *memo) ofMessage(rules memoRules, section memoSection, message *conversation.Message) memoKey {
	var d digest
	d.begin(m, rules, section)
	d.number(int(message.Role))
	d.number(int(message.Shape))
	d.text(message.RawRole)
	d.text(message.Name)
	d.blocks(message.Blocks)
	return d.sum()
}

// ofTools is the key of a list of tool definitions.
func (m *memo) ofTools(rules memoRules, tools []conversation.Tool) memoKey {
	var d digest
	d.begin(m, rules, memoTools)
	d.number(len(tools))
	for i := range tools {
		t := &tools[i]
		d.flag(t.Deferred)
		d.text(t.Name)
		d.text(t.Description)
		d.text(t.Schema)
		d.text(t.Type)
		d.text(t.Raw)
	}
	return d.sum()
}

// digest gathers what a cost depends on. Every text is preceded by its length and every list by the number of its
// elements, so no two pieces look alike. Small things are put together first: hashing is fast on long runs only.
type digest struct {
	hashes [2]maphash.Hash
	small  [512]byte
	n      int // bytes of small in use
}

func (d *digest) begin(m *memo, rules memoRules, section memoSection) {
	d.hashes[0].SetSeed(m.seeds[0])
	d.hashes[1].SetSeed(m.seeds[1])
	binary.LittleEndian.PutUint64(d.small[:], rules[0])
	binary.LittleEndian.PutUint64(d.small[8:], rules[1])
	d.n = 16
	d.number(int(section))
}

func (d *digest) sum() memoKey {
	d.flush()
	return memoKey{d.hashes[0].Sum64(), d.hashes[1].Sum64()}
}

func (d *digest) flush() {
	for i := range d.hashes {
		_, _ = d.hashes[i].Write(d.small[:d.n]) // never fails
	}
	d.n = 0
}

func (d *digest) number(n int) {
	if len(d.small)-d.n < binary.MaxVarintLen64 {
		d.flush()
	}
	d.n += binary.PutUvarint(d.small[d.n:], uint64(n)) //nolint:gosec // distinct for distinct numbers, which is enough
}

func (d *digest) flag(set bool) {
	if set {
		d.number(1)
	} else {
		d.number(0)
	}
}

func (d *digest) text(s string) {
	d.number(len(s))
	if len(s) > len(d.small)-d.n {
		d.flush()
	}
	if len(s) <= len(d.small)/2 {
		d.n += copy(d.small[d.n:], s)
		return
	}
	for i := range d.hashes {
		_, _ = d.hashes[i].WriteString(s) // never fails
	}
}

func (d *digest) blocks(blocks []conversation.Block) {
	d.number(len(blocks))
	for i := range blocks {
		b := &blocks[i]
		d.number(int(b.Kind))
		d.number(int(b.Site))
		d.number(int(b.InputShape))
		d.number(int(b.ResultShape))
		d.flag(b.Programmatic)
		d.flag(b.IsError)
		d.flag(b.Signed)
		d.text(b.Type)
		d.text(b.Text)
		d.text(b.ID)
		d.text(b.AltID)
		d.text(b.Name)
		d.text(b.Input)
		d.text(b.Raw)
		d.blocks(b.Result)
		d.flag(b.Media != nil)
		if b.Media != nil {
			d.media(b.Media)
		}
	}
}

// media adds a media block. Of an image only the first bytes are read to count it; the rest says no more than its length.
func (d *digest) media(m *conversation.Media) {
	data, raw := m.Data, m.Bytes
	if kindOf(m) == conversation.MediaImage && !isText(m) { // of a picture only the header is read
		data, raw = data[:min(len(data), jpegHeaderBytes/3*4)], raw[:min(len(raw), jpegHeaderBytes)]
	}
	d.number(int(m.Kind))
	d.number(m.Width)
	d.number(m.Height)
	d.text(m.MIMEType)
	d.text(m.URI)
	d.text(m.Detail)
	d.text(m.Filename)
	d.number(len(m.Data))
	d.text(data)
	d.number(len(m.Bytes))
	d.number(len(raw))
	d.flush()
	for i := range d.hashes {
		_, _ = d.hashes[i].Write(raw) // never fails
	}
}

// weight is about how many bytes there are to count in a piece, of media those that are read.
func weight(blocks []conversation.Block) int {
	n := 0
	for i := range blocks {
		b := &blocks[i]
		n += len(b.Text) + len(b.Name) + len(b.Input) + len(b.Raw) + weight(b.Result)
		if b.Media != nil {
			n += headerBytes + min(len(b.Media.Data)+len(b.Media.Bytes), jpegHeaderBytes)
		}
	}
	return n
}
