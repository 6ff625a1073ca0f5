package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/internal/testutil/hostile"
)

func newEncoding(t testing.TB, name string) *Encoding {
	t.Helper()
	e, err := NewEncoding(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func count(t testing.TB, e *Encoding, text string) int {
	t.Helper()
	n, err := e.Count(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCountsEqualTheGoldenCountsOfTiktoken(t *testing.T) {
	file, err := os.ReadFile("testdata/golden_counts.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text   string `json:"text"`
		Times  int    `json:"times"`
		O200k  int    `json:"o200k"`
		CL100k int    `json:"cl100k"`
	}
	if err := json.Unmarshal(file, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 2000 {
		t.Fatalf("only %d golden cases", len(cases))
	}
	o200k, cl100k := newEncoding(t, O200kBase), newEncoding(t, CL100kBase)
	for _, c := range cases {
		text := strings.Repeat(c.Text, max(c.Times, 1))
		if got := count(t, o200k, text); got != c.O200k {
			t.Errorf("o200k_base: Count(%q x %d) = %d, want %d", c.Text, c.Times, got, c.O200k)
		}
		if got := count(t, cl100k, text); got != c.CL100k {
			t.Errorf("cl100k_base: Count(%q x %d) = %d, want %d", c.Text, c.Times, got, c.CL100k)
		}
	}
}

func TestControlTokensInTextAreOrdinaryText(t *testing.T) {
	if got := count(t, newEncoding(t, O200kBase), "<|endoftext|>"); got != 7 {
		t.Errorf("Count(<|endoftext|>) = %d, want 7", got)
	}
}

func TestInvalidUTF8CountsAsReplacementCharacters(t *testing.T) {
	e := newEncoding(t, O200kBase)
	for _, c := range []struct{ invalid, same string }{
		{invalid: "a\xffb", same: "a\ufffdb"},
		{invalid: "\xe6\xbc", same: "\ufffd\ufffd"},
		{invalid: "tide\xc3(", same: "tide\ufffd("},
	} {
		if got, want := count(t, e, c.invalid), count(t, e, c.same); got != want {
			t.Errorf("Count(%q) = %d, want %d as for %q", c.invalid, got, want, c.same)
		}
	}
}

func TestClassesAddUpToTheCount(t *testing.T) {
	e := newEncoding(t, O200kBase)
	for _, c := range []struct {
		text string
		want Classes
	}{
		{text: "", want: Classes{}},
		{text: "hello world", want: classes(map[Class]int{ClassLatin: 2}, 0)},
		{text: "1234567", want: classes(map[Class]int{ClassDigits: 3}, 7)},
		{text: "漢字", want: classes(map[Class]int{ClassCJK: 2}, 0)},
		{text: "!!!", want: classes(map[Class]int{ClassPunctuation: 1}, 0)},
		{text: "é", want: classes(map[Class]int{ClassDiacritic: 1}, 0)},
		{text: "тид", want: classes(map[Class]int{ClassOtherScript: 2}, 0)},
		{text: "\n\n", want: classes(map[Class]int{ClassSpace: 1}, 0)},
		{text: "a 1 漢 ! é д\n", want: classes(map[Class]int{ClassLatin: 1, ClassDigits: 1, ClassCJK: 2, ClassPunctuation: 1, ClassDiacritic: 1, ClassOtherScript: 1, ClassSpace: 2}, 1)},
	} {
		got, err := e.CountClasses(t.Context(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		if n := count(t, e, c.text); got.Total() != n {
			t.Errorf("CountClasses(%q) adds up to %d, Count says %d", c.text, got.Total(), n)
		}
		if got != c.want {
			t.Errorf("CountClasses(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}

func classes(tokens map[Class]int, digits int) Classes {
	c := Classes{Digits: digits}
	for class, n := range tokens {
		c.Tokens[class] = n
	}
	return c
}

func mergeSteps(t *testing.T, e *Encoding, text string) int {
	t.Helper()
	w := newWorker(e.words, e.split)
	if _, err := w.count(t.Context(), strings.ToValidUTF8(text, "?")); err != nil {
		t.Fatal(err)
	}
	return w.steps
}

func TestCountStopsWhenTheContextEnds(t *testing.T) {
	e := newEncoding(t, O200kBase)
	count(t, e, "load")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, text := range map[string]string{
		"many pieces": strings.Repeat("word ", 100_000),
		"one piece":   strings.Repeat("漢", 100_000),
		"short":       "hello",
	} {
		if _, err := e.Count(ctx, text); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
	// The same encoding goes on working afterwards.
	if got := count(t, e, "hello world"); got != 2 {
		t.Errorf("Count after a cancelled one = %d, want 2", got)
	}
}

// The context is looked at inside a long piece too, not only before it.
func TestCountLooksAtTheContextInsideOnePiece(t *testing.T) {
	e := newEncoding(t, O200kBase)
	ctx := &countingContext{Context: t.Context()}
	if _, err := e.Count(ctx, strings.Repeat("漢", 200_000)); err != nil {
		t.Fatal(err)
	}
	if want := 600_000 / ctxInterval; ctx.looks < want {
		t.Errorf("looked at the context %d times in one piece of 600,000 bytes, want at least %d", ctx.looks, want)
	}
}

type countingContext struct {
	context.Context
	looks int
}

func (c *countingContext) Err() error {
	c.looks++
	return c.Context.Err()
}

func TestEncodingIsSafeForConcurrentUse(t *testing.T) {
	e := newEncoding(t, CL100kBase)
	texts := hostile.Mixed(3, 200)
	want := make([]int, len(texts))
	other := newEncoding(t, CL100kBase)
	for i, text := range texts {
		want[i] = count(t, other, text)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i, text := range texts {
				if got, err := e.Count(t.Context(), text); err != nil || got != want[i] {
					t.Errorf("Count(%q) = %d, %v; want %d", text, got, err, want[i])
				}
			}
		})
	}
	group.Wait()
}

func TestCountAllocatesNothingOnceWarm(t *testing.T) {
	e := newEncoding(t, O200kBase)
	text := strings.Repeat("The harbour, 漢字 and 12345 unpronounceablewordsthatneedmerging\n", 50)
	count(t, e, text)
	if got := testing.AllocsPerRun(20, func() { count(t, e, text) }); got > 0 {
		t.Errorf("%v allocations a call, want 0", got)
	}
}

func TestNewEncodingRefusesUnknownNames(t *testing.T) {
	if _, err := NewEncoding("p50k_base"); err == nil {
		t.Error("NewEncoding(p50k_base) gave no error")
	}
}

func TestReadVocabularyRefusesDamagedFiles(t *testing.T) {
	file, err := rankFiles.ReadFile("ranks/cl100k_base.ranks")
	if err != nil {
		t.Fatal(err)
	}
	damaged := func(edit func(b []byte) []byte) []byte { return edit(append([]byte(nil), file...)) }
	for name, b := range map[string][]byte{
		"empty":       nil,
		"other magic": damaged(func(b []byte) []byte { b[0] = 'X'; return b }),
		"cut off":     damaged(func(b []byte) []byte { return b[:len(b)/2] }),
		"more tokens": damaged(func(b []byte) []byte { b[5]++; return b }),
		"fewer":       damaged(func(b []byte) []byte { b[6], b[7], b[5] = 1, 0, 0; return b }),
		"bad shared":  damaged(func(b []byte) []byte { b[9] = 200; return b }),
	} {
		if _, err := readVocabulary(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestEveryTokenOfTheVocabularyIsOneToken(t *testing.T) {
	for _, name := range []string{O200kBase, CL100kBase} {
		e := newEncoding(t, name)
		count(t, e, "load")
		bytes := singleBytes(e.words)
		for id := range e.words.tokens {
			text := tokenText(e.words, bytes, uint32(id))
			got, length := e.words.trie.longest(text)
			if int(got) != id || length != len(text) {
				t.Fatalf("%s: the trie finds token %d (%d bytes) for token %d %q", name, got, length, id, text)
			}
			if len(text) == 1 {
				continue
			}
			// Laying must reach the same two halves that the generator found by merging.
			half := e.words.tokens[id]
			if both := tokenText(e.words, bytes, half.left()) + tokenText(e.words, bytes, half.right()); both != text {
				t.Fatalf("%s: token %d %q: its halves are %q", name, id, text, both)
			}
			if e.words.splits(half.left(), half.right()) {
				t.Fatalf("%s: token %d %q: its halves do not merge", name, id, text)
			}
		}
	}
}

func tokenText(v *vocabulary, bytes map[uint32]byte, id uint32) string {
	if t := v.tokens[id]; t.length() > 1 {
		return tokenText(v, bytes, t.left()) + tokenText(v, bytes, t.right())
	}
	return string([]byte{bytes[id]})
}

func singleBytes(v *vocabulary) map[uint32]byte {
	out := make(map[uint32]byte)
	for c := range 256 {
		id, _ := v.trie.longest(string([]byte{byte(c)}))
		out[id] = byte(c)
	}
	return out
}

func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return replaceInvalid(text)
}
