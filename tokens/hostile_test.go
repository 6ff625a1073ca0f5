package tokens

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// hostileRun is a text that makes a careless tokenizer quadratic: one long piece, or many that share long runs.
type hostileRun struct {
	name string
	unit string // repeated up to the length; empty: made by random
	// random makes n bytes or a few more.
	random func(r *rand.Rand, n int) string
}

func (h hostileRun) text(n int) string {
	if h.random != nil {
		return h.random(rand.New(rand.NewPCG(17, 0)), n)
	}
	return strings.Repeat(h.unit, n/len(h.unit)+1)
}

func hostileRuns() []hostileRun {
	return []hostileRun{
		{name: "a letter", unit: "a"},
		{name: "a capital", unit: "Q"},
		{name: "ab", unit: "ab"},
		{name: "spaces", unit: " "},
		{name: "newlines", unit: "\n"},
		{name: "40 spaces and LF", unit: strings.Repeat(" ", 40) + "\n"},
		{name: "tabs", unit: "\t"},
		{name: "no-break spaces", unit: "\u00a0"},
		{name: "underscores", unit: "_"},
		{name: "carets", unit: "^"},
		{name: "slashes", unit: "/"},
		{name: "apostrophes", unit: "'"},
		{name: "contractions", unit: "'s'S'll'RE"},
		{name: "typographic apostrophes", unit: "'’'ʼ"},
		{name: "digits", unit: "1234567890"},
		{name: "Arabic digits", unit: "٣"},
		{name: "one ideograph", unit: "漢"},
		{name: "ideographs", unit: "漢字仮名交じり文"},
		{name: "kana", unit: "ー"},
		{name: "umlauts", unit: "é"},
		{name: "combining marks", unit: "\u0301"},
		{name: "letters with marks", unit: "e\u0301\u0323"},
		{name: "emoji ZWJ chains", unit: "👩\u200d👩\u200d👧\u200d"},
		{name: "mixed case", unit: "aA"},
		{name: "base64", random: func(r *rand.Rand, n int) string {
			raw := make([]byte, n*3/4)
			for i := range raw {
				raw[i] = byte(r.Uint32()) //nolint:gosec // the low byte is meant
			}
			return base64.StdEncoding.EncodeToString(raw)
		}},
		{name: "random lower-case letters", random: func(r *rand.Rand, n int) string {
			return randomOf(r, n, []rune("abcdefghijklmnopqrstuvwxyz"))
		}},
		{name: "random capitals", random: func(r *rand.Rand, n int) string {
			return randomOf(r, n, []rune("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		}},
		{name: "random ideographs", random: func(r *rand.Rand, n int) string {
			var b strings.Builder
			for b.Len() < n {
				b.WriteRune(0x4e00 + r.Int32N(0x5200))
			}
			return b.String()
		}},
		{name: "random signs", random: func(r *rand.Rand, n int) string {
			return randomOf(r, n, []rune("!\"#$%&()*+,-.:;<=>?@[]^_`{|}~"))
		}},
		{name: "random accents", random: func(r *rand.Rand, n int) string {
			return randomOf(r, n, []rune("àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ"))
		}},
	}
}

func randomOf(r *rand.Rand, n int, alphabet []rune) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// The steps of the merger are what could grow faster than the text: everything else visits a byte a bounded number of
// times.
func TestWorkGrowsLinearlyOnHostileRuns(t *testing.T) {
	const short, long = 40_000, 400_000
	for _, name := range []string{O200kBase, CL100kBase} {
		e := newEncoding(t, name)
		count(t, e, "load")
		for _, run := range hostileRuns() {
			tenth, whole := mergeSteps(t, e, run.text(short)), mergeSteps(t, e, run.text(long))
			// A short run can be lucky: up to a step for every ten bytes is no growth worth a word.
			if limit := 12*tenth + long/10; whole > limit {
				t.Errorf("%s: %s: 10x the text took %d steps, the tenth %d", name, run.name, whole, tenth)
			}
			if whole > 16*long {
				t.Errorf("%s: %s: %d steps for %d bytes", name, run.name, whole, long)
			}
		}
	}
}

func TestHostileRunsCountTheSameWithFreshAndUsedCaches(t *testing.T) {
	for _, name := range []string{O200kBase, CL100kBase} {
		used := newEncoding(t, name)
		for _, run := range slices.Backward(hostileRuns()) {
			text := run.text(20_000)
			first := count(t, newEncodingLike(t, used), text)
			if again := count(t, used, text); again != first {
				t.Errorf("%s: %s: %d with a used cache, %d with a fresh one", name, run.name, again, first)
			}
		}
	}
}

// newEncodingLike shares the vocabulary of e and has fresh workers.
func newEncodingLike(t testing.TB, e *Encoding) *Encoding {
	t.Helper()
	count(t, e, "load")
	fresh := &Encoding{name: e.name, words: e.words, split: e.split, idle: make(chan *worker, cap(e.idle)), helpers: make(chan struct{}, cap(e.helpers))}
	fresh.load.Do(func() {})
	return fresh
}

// BenchmarkHostileText says how fast hostile runs are counted on one processor with fresh caches. The figures for 200 KB and 2 MB
// of the same run must not lie far apart.
func BenchmarkHostileText(b *testing.B) {
	e := newEncodingOn(b, O200kBase, 1)
	for _, run := range hostileRuns() {
		for _, n := range []int{200_000, 2_000_000} {
			text := run.text(n)
			b.Run(fmt.Sprintf("%s/%dKB", strings.ReplaceAll(run.name, " ", "_"), n/1000), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					b.StopTimer()
					fresh := newEncodingLike(b, e)
					count(b, fresh, "worker")
					b.StartTimer()
					count(b, fresh, text)
				}
			})
		}
	}
}
