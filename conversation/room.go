package conversation

// Room is memory for the messages and blocks of a conversation, to be used for one after
// the other: a program that reads many would else leave megabytes of them behind. The
// zero value has none yet. It is for one reading at a time.
type Room struct {
	messages []Message
	slabs    [][]Block
	used     int // slabs that hold blocks
}

// What a [Room] keeps when it is cleared: enough for a few megabytes of short messages.
const (
	keptMessages = 16 << 10
	keptSlabs    = 128
)

// The number of blocks in the first slab, and in those that follow when there are many.
const (
	firstSlab = 8
	lastSlab  = 128
)

// Clear ends the use of a conversation that was read into the room: its messages and
// blocks must not be looked at any more. Texts, marks and media stay, they are not in the
// room.
func (r *Room) Clear() {
	for i := range r.slabs[:r.used] {
		clear(r.slabs[i])
	}
	clear(r.messages)
	r.used, r.messages = 0, r.messages[:0]
	if len(r.slabs) > keptSlabs {
		clear(r.slabs[keptSlabs:])
		r.slabs = r.slabs[:keptSlabs]
	}
	if cap(r.messages) > keptMessages {
		r.messages = nil
	}
}

// slab returns zero blocks that nobody uses.
func (r *Room) slab() []Block {
	if r.used == len(r.slabs) {
		r.slabs = append(r.slabs, make([]Block, min(firstSlab<<min(r.used, 8), lastSlab)))
	}
	r.used++
	return r.slabs[r.used-1]
}

// list is a list of blocks that is being read. Each is written where it stays: behind the
// lists that were read before at the same depth of nesting.
type list struct {
	in     *Room
	blocks []Block // those of the list, and zero ones
	n      int     // those of the list
}

// push adds a block, which is zero.
func (l *list) push() *Block {
	if l.n == len(l.blocks) {
		l.grow()
	}
	l.n++
	return &l.blocks[l.n-1]
}

// grow moves the list to where there is more room.
func (l *list) grow() {
	short := l.blocks
	if l.n < lastSlab/2 {
		l.blocks = l.in.slab()
	}
	if len(l.blocks) <= 2*l.n {
		l.blocks = make([]Block, 2*l.n) // lists can be very long
	}
	copy(l.blocks, short)
}

// take hands the blocks of the list over, nil for none. The next list begins.
func (l *list) take() []Block {
	if l.n == 0 {
		return nil
	}
	taken := l.blocks[:l.n:l.n]
	l.blocks, l.n = l.blocks[l.n:], 0
	return taken
}
