package tokens

// trie finds the longest token at the start of a text. It is a double array: the child of a node for byte c is at
// index base(node)+c, and it is that node's child only if its label says c. No two nodes share a base, so the label
// alone decides. A slot is one uint64, so a step is one load, and what lies below a node is stored close together:
//
//	bits 0..19  base
//	bits 20..27 label: the byte that leads here
//	bit  28     set if the slot is used
//	bit  29     set if a token ends here
//	bits 32..49 the id of that token
type trie struct {
	slots []uint64
}

const (
	baseMask    = 1<<20 - 1
	labelShift  = 20
	labelMask   = 0x1ff
	slotUsed    = 1 << 28
	slotToken   = 1 << 29
	slotIDShift = 32
)

// longest returns the longest token that is a prefix of s and its length in bytes; length 0 if there is none.
func (t *trie) longest(s string) (id uint32, length int) {
	node := t.slots[0]
	found := uint64(0)
	for i := range len(s) {
		c := uint64(s[i])
		node = t.slots[node&baseMask+c]
		if node>>labelShift&labelMask != c|0x100 {
			break
		}
		if node&slotToken != 0 {
			found, length = node, i+1
		}
	}
	return uint32(found >> slotIDShift), length //nolint:gosec // 18 bits
}

// branch is a trie node still to be placed: the texts [from, to) share their first depth bytes and start here.
type branch struct {
	slot     uint32
	from, to int
	depth    int
}

// trieBuilder places nodes depth first, each where its children fit between those already placed. So the last nodes of
// a long token mostly share a cache line.
type trieBuilder struct {
	sorted   sortedTexts
	slots    []uint64
	baseUsed []bool
	several  int      // where the search for a node with several children starts
	lone     int      // where the search for a node with one child starts
	open     []branch // a stack of the nodes to be placed
	children []branch // children of the node at hand
	labels   []byte   // their labels, ascending
}

// crowded is how many slots a search visits before it leaves them behind for good. That keeps building linear; the gaps
// left behind by nodes with several children are filled by those with one.
const crowded = 128

func newTrie(sorted sortedTexts) trie {
	b := &trieBuilder{sorted: sorted, open: make([]branch, 0, 1024)}
	b.grow(3 * len(sorted.ids))
	// A node without children has base 0, which leads to the first 256 slots. No node with children has that base, and
	// the root, in slot 0, has no label: so nothing there matches.
	b.baseUsed[0] = true
	b.open = append(b.open, branch{to: len(sorted.ids)})
	for n := len(b.open); n > 0; n = len(b.open) {
		next := b.open[n-1]
		b.open = b.open[:n-1]
		b.place(next)
	}
	last := len(b.slots)
	for last > 0 && b.slots[last-1] == 0 {
		last--
	}
	// Any base plus any byte stays in range, so a lookup needs no check of its own.
	t := trie{slots: make([]uint64, last+256)}
	copy(t.slots, b.slots)
	return t
}

// place gives the children of a node their slots and opens these.
func (b *trieBuilder) place(n branch) {
	if len(b.sorted.text(n.from)) == n.depth {
		b.slots[n.slot] |= slotToken | uint64(b.sorted.ids[n.from])<<slotIDShift
		n.from++
	}
	if n.from == n.to {
		return
	}
	b.children, b.labels = b.children[:0], b.labels[:0]
	for i := n.from; i < n.to; i++ {
		c := b.sorted.text(i)[n.depth]
		if k := len(b.labels); k == 0 || b.labels[k-1] != c {
			b.labels = append(b.labels, c)
			b.children = append(b.children, branch{from: i, depth: n.depth + 1})
		}
		b.children[len(b.children)-1].to = i + 1
	}
	base := b.findBase()
	b.baseUsed[base] = true
	b.slots[n.slot] |= uint64(base) //nolint:gosec // not negative
	for i, child := range b.children {
		slot := base + int(b.labels[i])
		b.slots[slot] = slotUsed | uint64(b.labels[i])<<labelShift
		child.slot = uint32(slot) //nolint:gosec // fewer than 1<<24 slots
		b.open = append(b.open, child)
	}
}

// findBase returns a free base that puts every child on a gap.
func (b *trieBuilder) findBase() int {
	from := &b.lone
	if len(b.labels) > 1 {
		from = &b.several
	}
	first := int(b.labels[0])
	visited := 0
	for gap := max(*from, first); ; gap++ {
		b.grow(gap + 257)
		if visited++; visited == crowded {
			*from = gap
		}
		if b.slots[gap] != 0 {
			continue
		}
		if base := gap - first; !b.baseUsed[base] && b.fits(base) {
			if len(b.labels) == 1 {
				*from = gap + 1
			}
			return base
		}
	}
}

func (b *trieBuilder) fits(base int) bool {
	for _, label := range b.labels[1:] {
		if b.slots[base+int(label)] != 0 {
			return false
		}
	}
	return true
}

func (b *trieBuilder) grow(size int) {
	if size > len(b.slots) {
		size += size / 4
		b.slots = append(b.slots, make([]uint64, size-len(b.slots))...)
		b.baseUsed = append(b.baseUsed, make([]bool, size-len(b.baseUsed))...)
	}
}
