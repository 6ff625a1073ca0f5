package tokens

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
)

// Sizes of lines that are remembered, in bytes: a shorter one is counted in the time it takes to find it again, and a
// longer one rarely comes back as it was.
const (
	lineLeast = 16
	lineMost  = 4 << 10
	// linesMost is how many lines are remembered.
	linesMost = 1 << 13
)

// lines remembers what lines of text cost. A line behind a line break is counted by itself: of what stands around it, only
// single spaces at its ends matter. The keys are keyed hashes of 128 bits. It is safe for concurrent use; nil remembers
// nothing.
type lines struct {
	seeds [2]maphash.Seed
	mu    sync.Mutex
	costs map[[2]uint64]int
}

// WithLines returns a Counter like c that also remembers the lines it counts, for Claude, some thousand of them: for one
// piece of work that counts longer and longer texts. The counts are those of c.
func (c *Counter) WithLines() *Counter {
	out := *c
	out.lines3, out.lines47 = newLines(), newLines()
	return &out
}

func newLines() *lines {
	return &lines{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, costs: make(map[[2]uint64]int)}
}

func (l *lines) key(text string, spaceBefore, spaceAfter bool) [2]uint64 {
	const before, after = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93 // large and odd
	key := [2]uint64{maphash.String(l.seeds[0], text), maphash.String(l.seeds[1], text)}
	if spaceBefore {
		key[0] += before
	}
	if spaceAfter {
		key[0] += after
	}
	return key
}

func (l *lines) get(key [2]uint64) (int, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, found := l.costs[key]
	return n, found
}

func (l *lines) put(key [2]uint64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.costs) < linesMost {
		l.costs[key] = n
	}
}

// line counts the line that begins at a place behind a line break, up to the blanks at its end, and returns where it
// ended: the place itself where it is not worth remembering.
//
// No run reaches over blanks. At the beginning of the line none of what the runs before it left in s is looked at any
// more, and what its own leave is of no use behind the next line break: see blank and add.
func (w *claudeWorker) line(ctx context.Context, s *scan, at int) (int, error) {
	end := len(s.text)
	if n := strings.IndexByte(s.text[at:], '\n'); n >= 0 {
		end = at + n
	}
	body := strings.TrimRight(s.text[at:end], " \t"+wideSpace)
	if len(body) < lineLeast || len(body) > lineMost || end == len(s.text) && at+len(body) < end {
		return at, nil
	}
	end = at + len(body)
	key := w.lines.key(body, s.text[at-1] == ' ', s.spaceAfter(end))
	if n, found := w.lines.get(key); found {
		s.total += n
		s.ended, s.seam, s.fused, s.quote, s.closed, s.closedBefore = false, false, false, false, false, false
		return end, nil
	}
	before := s.total
	for at < end {
		var err error
		if at, err = w.step(ctx, s, at); err != nil {
			return at, err
		}
	}
	w.lines.put(key, s.total-before)
	return end, nil
}
