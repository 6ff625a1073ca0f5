package tokens

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// newOracle returns an independent implementation: regular expressions and plain merging. Its merge is quadratic, so
// pieces stay below some 2 KB.
func newOracle(t testing.TB, name string) *tiktoken.Tiktoken {
	t.Helper()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	oracle, err := tiktoken.GetEncoding(name)
	if err != nil {
		t.Fatal(err)
	}
	return oracle
}

func TestCountsEqualTheOracleOnHostileStrings(t *testing.T) {
	n := 31_000
	if testing.Short() {
		n = 3_000
	}
	texts := append(joints(), hostile{seed: 20261130}.strings(n)...)
	for _, name := range []string{O200kBase, CL100kBase} {
		t.Run(name, func(t *testing.T) {
			e, oracle := newEncoding(t, name), newOracle(t, name)
			differences := 0
			for _, text := range texts {
				if got, want := count(t, e, text), len(oracle.EncodeOrdinary(text)); got != want {
					if differences++; differences <= 10 {
						t.Errorf("Count(%q) = %d, oracle says %d", text, got, want)
					}
				}
			}
			t.Logf("%d strings, %d differences", len(texts), differences)
		})
	}
}

func FuzzCountMatchesOracle(f *testing.F) {
	for _, text := range append(joints()[:200], hostile{seed: 1}.strings(200)...) {
		f.Add(text)
	}
	encodings := map[string]*Encoding{O200kBase: newEncoding(f, O200kBase), CL100kBase: newEncoding(f, CL100kBase)}
	oracles := map[string]*tiktoken.Tiktoken{O200kBase: newOracle(f, O200kBase), CL100kBase: newOracle(f, CL100kBase)}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 600 {
			t.Skip("the oracle is quadratic")
		}
		for _, name := range []string{O200kBase, CL100kBase} {
			if got, want := count(t, encodings[name], text), len(oracles[name].EncodeOrdinary(validText(text))); got != want {
				t.Errorf("%s: Count(%q) = %d, oracle says %d", name, text, got, want)
			}
		}
	})
}

// joints returns every string of one to five characters over those that the white-space alternatives fight over.
func joints() []string {
	var out []string
	last := []string{""}
	for range 5 {
		var longer []string
		for _, prefix := range last {
			for _, c := range []string{" ", "\n", "\t", "\r", "a"} {
				longer = append(longer, prefix+c)
			}
		}
		out = append(out, longer...)
		last = longer
	}
	return out
}

// hostile makes random texts that sit at the joints of the split patterns or consist of one long piece.
type hostile struct{ seed uint64 }

func (h hostile) source() *rand.Rand { return rand.New(rand.NewPCG(h.seed, 0)) }

func (h hostile) strings(n int) []string {
	r := h.source()
	alphabets := [][]string{
		strings.Split("'sSſ/1é漢\u0301 tTrReEvVlLdDmM", ""),
		strings.Split("AbǅʰªΑβДж漢カ\u0301\u093e'l ", ""),
		strings.Split(" \u0085\u00a0\u3000\ufeff\u200b\u180e\u2028\n\r\tx.", ""),
		strings.Split("09½٣Ⅷ一a ._", ""),
		strings.Split("!/\n\r _#x\\\"{}[]:,<|>", ""),
		strings.Split("дДéÉاกह한ღაաa ", ""),
		strings.Split("abcdefghijklmnopqrstuvwxyz", ""),
		strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", ""),
		strings.Split("的一是不了人我在有他这中大来上国个到说们", ""),
		strings.Split("🚢👩\u200d🌊⚓\ufe0f🏴1\u20e3", ""),
		strings.Split("aeiou lnrst.", ""),
	}
	words := []string{
		"the", "The", "THE", "don't", "I'LL", "camelCase", "HTTPServer", "x", "\n\n", "  ", "\t", "function", "é", "naïve",
		"漢字", "ひらがな", "Привет", "سلام", "12345", "3.14", "->", "();\n", "</div>", "<|endoftext|>", "\\n", "\"key\": ", "…",
		"_", "__init__", "0x7f", "\u007f", "\x00", "\u00ad", "tide's", "'", "''s", "a'b", "\r\n", "\n \n",
	}
	out := make([]string, 0, n)
	for len(out) < n {
		var b strings.Builder
		switch r.IntN(8) {
		case 0: // words
			for range 1 + r.IntN(12) {
				b.WriteString(words[r.IntN(len(words))])
				if r.IntN(2) == 0 {
					b.WriteByte(' ')
				}
			}
		case 1: // any characters
			for range 1 + r.IntN(16) {
				b.WriteRune(anyRune(r))
			}
		case 2: // a run, sometimes a long one
			alphabet := alphabets[r.IntN(len(alphabets))]
			times := 1 + r.IntN(80)
			if r.IntN(20) == 0 {
				times = 100 + r.IntN(500)
			}
			b.WriteString(words[r.IntN(len(words))])
			b.WriteString(strings.Repeat(alphabet[r.IntN(len(alphabet))], times))
			b.WriteString(words[r.IntN(len(words))])
		default:
			alphabet := alphabets[r.IntN(len(alphabets))]
			length := 1 + r.IntN(24)
			if r.IntN(30) == 0 {
				length = 100 + r.IntN(400)
			}
			for range length {
				b.WriteString(alphabet[r.IntN(len(alphabet))])
			}
		}
		out = append(out, b.String())
	}
	return out
}

func anyRune(r *rand.Rand) rune {
	limit := []int32{0x80, 0x250, 0x3000, 0x20000, 0x110000}[r.IntN(5)]
	if c := r.Int32N(limit); c < 0xd800 || c > 0xdfff {
		return c
	}
	return ' '
}
