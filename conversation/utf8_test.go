package conversation

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestValidUTF8SaysWhatTheLibrarySays(t *testing.T) {
	check := func(s string) {
		t.Helper()
		if got, want := ValidUTF8(s), utf8.ValidString(s); got != want {
			t.Fatalf("ValidUTF8(%q) = %t, want %t", s, got, want)
		}
	}
	pieces := []string{"é", "漢", "😀", "\x7f", "\x80", "\xff", "\xc3", "\xe6\xbc", "\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", strings.Repeat("\x80", 300)}
	for n := range 300 {
		for _, piece := range pieces {
			check(strings.Repeat("a", n) + piece)
			check(strings.Repeat("a", n) + piece + strings.Repeat("b", 200))
			check(strings.Repeat("漢", n/3) + piece + strings.Repeat("é", 40))
		}
	}
	// Every lead with every byte behind it, at every place of the 64 that are looked at together.
	for lead := 0x80; lead < 0x100; lead++ {
		for next := range 0x100 {
			for _, behind := range []string{"", "\x80", "\x80\x80", "\xbf\xbf\xbf"} {
				check("é" + strings.Repeat("a", (lead*7+next)%64) + string([]byte{byte(lead), byte(next)}) + behind + strings.Repeat("b", 70))
			}
		}
	}
	for r := range rune(utf8.MaxRune + 1) {
		if r%61 == 0 {
			check("é" + strings.Repeat("a", int(r)%67) + string(r) + strings.Repeat("b", 70))
		}
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		var sb strings.Builder
		for range r.IntN(6) {
			sb.WriteString(strings.Repeat("a", r.IntN(150)))
			if r.IntN(20) == 0 {
				sb.WriteString(pieces[r.IntN(len(pieces))])
			} else {
				sb.WriteString(pieces[r.IntN(3)])
			}
		}
		check(sb.String())
	}
}
