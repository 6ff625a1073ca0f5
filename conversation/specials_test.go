package conversation

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// classes says the same as classify, a byte at a time.
func classes(src *[64]byte) (slashes, stops, legal uint64) {
	for i, c := range src {
		bit := uint64(1) << i
		if c == '\\' {
			slashes |= bit
		}
		if c == '"' || c < ' ' {
			stops |= bit
		}
		switch c {
		case '"', '\\', 'n', 'r', 't':
			legal |= bit
		}
	}
	return slashes, stops, legal
}

func TestClassifyFindsEveryByteWhereverItStands(t *testing.T) {
	check := func(src *[64]byte) {
		t.Helper()
		slashes, stops, legal := classes(src)
		for name, got := range map[string][3]uint64{
			"classify":        triple(classify(src)),
			"classifyPlainly": triple(classifyPlainly(src)),
		} {
			if got != [3]uint64{slashes, stops, legal} {
				t.Fatalf("%s(%q) = %x, want %x %x %x", name, src[:], got, slashes, stops, legal)
			}
		}
	}
	for at := range 64 {
		for c := range 256 {
			var src [64]byte
			for i := range src {
				src[i] = 'a'
			}
			src[at] = byte(c)
			check(&src)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var src [64]byte
		for i := range src {
			if src[i] = byte(r.Uint32()); r.IntN(3) == 0 {
				src[i] = "\\\"nrt\x00\x1f \x7f\x80\xa2\xdc"[r.IntN(12)]
			}
		}
		check(&src)
	}
}

func triple(a, b, c uint64) [3]uint64 { return [3]uint64{a, b, c} }

func TestEscapedByFollowsRunsOfBackslashes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		slashes := r.Uint64() | r.Uint64() | r.Uint64()
		carry := r.Uint64() & 1
		want, open := uint64(0), carry == 1
		for i := range 64 {
			switch {
			case open:
				want |= 1 << i
				open = false
			case slashes>>i&1 == 1:
				open = true
			}
		}
		got, next := escapedBy(slashes, carry)
		if got != want || next == 1 != open {
			t.Fatalf("escapedBy(%064b, %d) = %064b, %d, want %064b, %t", slashes, carry, got, next, want, open)
		}
	}
}

// passed says the same as pass, a byte at a time.
func passed(src string) (at int, slashed bool) {
	end := len(src) &^ 63
	for at < end {
		switch {
		case src[at] == '"' || src[at] < ' ':
			return at, slashed
		case src[at] != '\\':
			at++
		case at+1 == end: // what follows is not looked at
			return at, true
		case !isCommonEscape(src[at+1]):
			return at, slashed
		default:
			at, slashed = at+2, true
		}
	}
	return at, slashed
}

func TestPassEndsWhereAStringDoes(t *testing.T) {
	check := func(src string) {
		t.Helper()
		at, slashed := passed(src)
		for name, pass := range map[string]func(string) (int, bool){"pass": pass, "passBlocks": passBlocks} {
			got, gotSlashed := pass(src)
			// Whether the very backslash on which it ends counts is all the same: the string has one.
			if got != at || gotSlashed != slashed && !(got < len(src) && src[got] == '\\') {
				t.Fatalf("%s(%q) = %d, %t, want %d, %t", name, src, got, gotSlashed, at, slashed)
			}
		}
	}
	for n := range 300 {
		for _, end := range []string{"", `"`, "\x00", "\x1f", `\`, `\q`, `\u`, `\"`, `\\"`, "\x7f", "\x80", "\xff", "é"} {
			for _, behind := range []string{"", strings.Repeat("b", 100), strings.Repeat(`\\`, 50)} {
				check(strings.Repeat("a", n) + end + behind)
				check(strings.Repeat(`\n`, n/2) + end + behind)
				check(strings.Repeat(`\`, n) + end + behind)
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	const often = `\\\\\\"nrt`
	for range 50_000 {
		src := make([]byte, r.IntN(400))
		plain := 1 + r.IntN(200)
		for i := range src {
			if src[i] = 'a' + byte(r.IntN(26)); r.IntN(plain) == 0 {
				src[i] = often[r.IntN(len(often))]
			} else if r.IntN(1000) == 0 {
				src[i] = byte(r.Uint32())
			}
		}
		check(string(src))
	}
}
