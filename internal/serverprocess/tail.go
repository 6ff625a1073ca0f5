package serverprocess

import "sync"

// tailBytes is how much of an output is kept.
const tailBytes = 256 << 10

// tail is a writer that keeps the end of what is written, and tells that more came.
type tail struct {
	mu      sync.Mutex
	text    []byte
	changed chan struct{}
}

func newTail() *tail { return &tail{changed: make(chan struct{}, 1)} }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 2*tailBytes {
		t.text = append(t.text[:0], t.text[len(t.text)-tailBytes:]...)
	}
	select {
	case t.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
