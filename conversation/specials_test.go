package conversation

import (
	"math/rand/v2"
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
