package tokens

import "testing"

// known returns the count that a worker remembers of a piece of at most shortLength bytes, 0 if it remembers none.
func known(w *worker, piece string) int {
	low, high := pieceKey(piece, 0, len(piece))
	if len(piece) > tinyLength {
		return w.short.get(low, high)
	}
	key := tinyKeyOf(piece)
	for _, e := range w.tiny.set(key) {
		if (e^key)<<(64-countShift) == 0 {
			return int(e >> countShift) //nolint:gosec // 1 to 7
		}
	}
	return 0
}

func TestAWorkerThatSawNoTextKnowsTheCommonTokensOnly(t *testing.T) {
	for _, name := range []string{O200kBase, CL100kBase} {
		e := newEncoding(t, name)
		count(t, e, "load")
		w, bytes := newWorker(e.words, e.split), singleBytes(e.words)
		kept, common := 0, 0
		for id := range e.words.tokens {
			piece := tokenText(e.words, bytes, uint32(id))
			if len(piece) > shortLength {
				continue
			}
			n := known(w, piece)
			if id >= commonTokens && n != 0 || n > 1 {
				t.Fatalf("%s: %d tokens remembered for token %d %q", name, n, id, piece)
			}
			if id < commonTokens {
				kept, common = kept+n, common+1
			}
		}
		if kept < common*8/10 {
			t.Errorf("%s: only %d of %d common tokens are remembered", name, kept, common)
		}
	}
}

func TestWhatAWorkerLearnsStaysItsOwn(t *testing.T) {
	e := newEncoding(t, O200kBase)
	count(t, e, "load")
	first := newWorker(e.words, e.split)
	for _, piece := range []string{" zqxv", " zqxvjkwz"} {
		if n := known(first, piece); n != 0 {
			t.Fatalf("%q is remembered before it was counted", piece)
		}
		if _, err := first.count(t.Context(), piece); err != nil {
			t.Fatal(err)
		}
		if n := known(first, piece); n < 2 {
			t.Errorf("%q: remembered as %d tokens", piece, n)
		}
		if n := known(newWorker(e.words, e.split), piece); n != 0 {
			t.Errorf("%q is remembered by a worker that never met it", piece)
		}
	}
}
