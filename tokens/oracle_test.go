package tokens

import (
	"slices"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/elbowroom/elbowroom/internal/testutil/hostile"
)

// longestForOracle bounds the texts that the oracle is asked for, in bytes: its merging is quadratic in a piece.
const longestForOracle = 2 << 10

// newOracle returns an independent implementation: regular expressions and plain merging.
func newOracle(t testing.TB, name string) *tiktoken.Tiktoken {
	t.Helper()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	oracle, err := tiktoken.GetEncoding(name)
	if err != nil {
		t.Fatal(err)
	}
	return oracle
}

// oracleKnows says whether the oracle can be asked: it is slow on long texts, it takes the classes of characters from Go's
// tables, which end at Unicode 15, and the long s after an apostrophe is no s to it. `make test-oracles` asks implementations
// that know all of them.
func oracleKnows(text string) bool {
	if len(text) > longestForOracle || strings.Contains(text, "'\u017f") {
		return false
	}
	later := unicode16()
	for _, c := range text {
		if c >= later[0].first && slices.ContainsFunc(later, func(r addedRunes) bool { return r.first <= c && c <= r.last }) {
			return false
		}
	}
	return true
}

// The counts are those of both tiktoken packages.
func TestTheLongSEndsAContraction(t *testing.T) {
	for text, want := range map[string]int{" I'\u017f": 2, "we'\u017f": 3, " we'\u017f x": 4} {
		if got := count(t, newEncoding(t, O200kBase), text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestCountsEqualTheOracleOnHostileTexts(t *testing.T) {
	const seed = 20261130
	for _, set := range []hostile.Set{
		{Name: "mixed", Texts: hostile.Mixed(seed, 8_000)},
		{Name: "joints", Texts: hostile.Joints()},
		{Name: "alphabets", Texts: hostile.Alphabets(seed, 20_000)},
	} {
		texts := slices.DeleteFunc(set.Texts, func(text string) bool { return !oracleKnows(text) })
		if testing.Short() {
			texts = texts[:len(texts)/10]
		}
		for _, name := range []string{O200kBase, CL100kBase} {
			t.Run(name+"/"+set.Name, func(t *testing.T) {
				e, oracle := newEncoding(t, name), newOracle(t, name)
				differences := 0
				for _, text := range texts {
					if got, want := count(t, e, text), len(oracle.EncodeOrdinary(text)); got != want {
						if differences++; differences <= 10 {
							t.Errorf("Count(%q) = %d, oracle says %d", text, got, want)
						}
					}
				}
				t.Logf("%d texts, %d differences", len(texts), differences)
			})
		}
	}
}

func FuzzCountAgainstOracle(f *testing.F) {
	for _, text := range slices.Concat(hostile.Joints()[:200], hostile.Mixed(1, 300), hostile.Alphabets(1, 100), hostile.Invalid(1, 50)) {
		f.Add(text)
	}
	encodings := map[string]*Encoding{O200kBase: newEncoding(f, O200kBase), CL100kBase: newEncoding(f, CL100kBase)}
	oracles := map[string]*tiktoken.Tiktoken{O200kBase: newOracle(f, O200kBase), CL100kBase: newOracle(f, CL100kBase)}
	f.Fuzz(func(t *testing.T, text string) {
		if !oracleKnows(text) {
			t.Skip("the oracle cannot be asked")
		}
		for _, name := range []string{O200kBase, CL100kBase} {
			if got, want := count(t, encodings[name], text), len(oracles[name].EncodeOrdinary(validText(text))); got != want {
				t.Errorf("%s: Count(%q) = %d, oracle says %d", name, text, got, want)
			}
		}
	})
}
