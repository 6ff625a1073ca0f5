package hostile

import (
	"strings"
)

// Joints returns every string of one to five characters over those that the white-space alternatives of the split
// patterns fight over: 3,905 strings.
func Joints() []string {
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

// Alphabets returns n random strings of 1 to 24 characters, sometimes some hundreds, each over one small alphabet. The
// alphabets bring together characters that one alternative of a pattern takes and its neighbour does not.
func Alphabets(seed uint64, n int) []string {
	alphabets := [][]string{
		strings.Split("'sSſ/1é漢\u0301 ", ""),
		strings.Split("'’sSſtTrReEvVlLdDmM x", ""),
		strings.Split("AbǅʰªΑβДж漢カ\u0301\u093e'l ", ""),
		strings.Split(" \u0085\u00a0\u3000\ufeff\u200b\u180e\u2028\u2029\n\r\tx.", ""),
		strings.Split("09½٣Ⅷ一a ._", ""),
		strings.Split("!/\n\r _#x\\\"{}[]:,<|>", ""),
		strings.Split("дДéÉاกह한ღაաa ", ""),
		strings.Split("\u0301\u0308\u20dd\u093e\u200d\ufe0faA1 /", ""),
		strings.Split("abcdefghijklmnopqrstuvwxyz", ""),
		strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", ""),
		strings.Split("的一是不了人我在有他这中大来上国个到说们", ""),
		strings.Split("🚢👩\u200d🌊⚓\ufe0f🏴1\u20e3", ""),
		strings.Split("aeiou lnrst.", ""),
		strings.Split("\u007f\u0000\u001b\u00ad\u200e\u2060a \n", ""),
	}
	r := source(seed, alphabetStream)
	out := make([]string, n)
	for i := range out {
		alphabet := pick(r, alphabets)
		length := 1 + r.IntN(24)
		if r.IntN(40) == 0 {
			length = 100 + r.IntN(400)
		}
		var b strings.Builder
		for range length {
			b.WriteString(pick(r, alphabet))
		}
		out[i] = b.String()
	}
	return out
}
