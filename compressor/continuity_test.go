package compressor

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"

	"github.com/elbowroom/elbowroom/store"
)

// simultaneous is a store whose first n reads of the index wait for each other, as those of
// servers do that end their compressions at one time.
type simultaneous struct {
	store.Store
	mu    sync.Mutex
	left  int
	ready chan struct{}
}

func (s *simultaneous) Get(ctx context.Context, key string) ([]byte, bool, error) {
	value, found, err := s.Store.Get(ctx, key)
	s.mu.Lock()
	wait := s.left > 0
	if s.left--; s.left == 0 {
		close(s.ready)
	}
	s.mu.Unlock()
	if wait {
		<-s.ready
	}
	return value, found, err
}

// branch is the chain of a conversation of n messages that shares its first 32 with all
// others.
func branch(name string, n int) chain {
	links := make(chain, 0, n+1)
	for i := range n + 1 {
		if i > 32 {
			links = append(links, sha256.Sum256(fmt.Append(nil, name, i)))
		} else {
			links = append(links, sha256.Sum256(fmt.Append(nil, i)))
		}
	}
	return links
}

// givenSummary takes the compressions that fit a caller who gives this summary.
func givenSummary(text string) func(*compressed, int) bool {
	return func(found *compressed, _ int) bool { return found.fits(text) }
}

func TestCompressionsThatEndAtOneTimeAreAllFoundAgain(t *testing.T) {
	const branches = 20
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	shared := &simultaneous{Store: memory, left: branches, ready: make(chan struct{})}
	servers := []*continuity{{store: shared}, {store: shared}}
	name := func(i int) string { return fmt.Sprint("branch ", i, " ") }
	var group sync.WaitGroup
	for i := range branches {
		group.Go(func() {
			servers[i%2].put(t.Context(), branch(name(i), 40+i%5), compressed{Body: name(i)})
		})
	}
	group.Wait()
	for i := range branches {
		found, _, ok := servers[(i+1)%2].find(t.Context(), branch(name(i), 60), givenSummary(""))
		if !ok || found.Body != name(i) || found.Length != 40+i%5 {
			t.Errorf("%s: found %v, %q, %d messages", name(i), ok, found.Body, found.Length)
		}
	}
}

func TestAPlaceOfTheIndexNamesTheNewestCompressions(t *testing.T) {
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := &continuity{store: memory}
	at := indexKey(branch("", 40), 32)
	if err := memory.Set(t.Context(), at, []byte("something else"), 0); err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return fmt.Sprint("branch ", i, " ") }
	order := []int{0, 1, 0}
	for i := 2; i <= continuityIndexed; i++ { // with these there is one more than there is room for
		order = append(order, i)
	}
	for _, i := range order {
		c.put(t.Context(), branch(name(i), 40), compressed{Body: name(i)})
	}
	if list := c.index(t.Context(), branch("", 40), 32); len(list) != continuityIndexed {
		t.Errorf("%d lines", len(list))
	}
	for i, want := range map[int]bool{0: true, 1: false, 2: true, continuityIndexed: true} {
		if _, _, ok := c.find(t.Context(), branch(name(i), 50), givenSummary(name(i))); ok != want {
			t.Errorf("%s: found %v", name(i), ok)
		}
	}
}
