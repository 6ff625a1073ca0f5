package tokens

import (
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// A seam is safe only if no token reaches across it, so every token is looked at: also those that begin or end inside
// a character, for every character they could begin or end.
func TestNoTokenReachesAcrossASeam(t *testing.T) {
	for _, name := range []string{O200kBase, CL100kBase} {
		e := newEncoding(t, name)
		count(t, e, "load")
		single, held := singleBytes(e.words), 0
		for id := range e.words.tokens {
			token := tokenText(e.words, single, uint32(id))
			for _, whole := range completions(token) {
				// Where the token's own bytes lie in the completed text.
				from := strings.Index(whole, token)
				for at := from + 1; at < from+len(token); at++ {
					if at < 3 || at+3 > len(whole) || whole[at-3]&0xf0 != 0xe0 || whole[at]&0xf0 != 0xe0 {
						continue
					}
					held++
					if next := e.words.seams.next(whole, at-3, len(whole)); next == at {
						t.Fatalf("%s: cut %q | %q inside token %q", name, whole[:at], whole[at:], token)
					}
				}
			}
		}
		full := 0
		for _, word := range e.words.seams.held {
			full += bits.OnesCount64(word)
		}
		t.Logf("%s: %d places looked at, %d of %d bits set", name, held, full, 64*len(e.words.seams.held))
		if held < 1000 {
			t.Errorf("%s: only %d places looked at", name, held)
		}
		if full > 64*len(e.words.seams.held)/4 {
			t.Errorf("%s: %d bits set: too many pairs share a bit with another", name, full)
		}
	}
}

// completions returns the valid texts that a token can be part of, with at most one character of three bytes added in
// front and behind: all such if it begins and ends with whole characters or with all but one byte of one, else a sample.
func completions(token string) []string {
	front, back := []string{""}, []string{""}
	if !utf8.RuneStart(token[0]) {
		front = nil
		for lead := byte(0xe1); lead <= 0xef; lead++ {
			if len(token) > 1 && !utf8.RuneStart(token[1]) {
				front = append(front, string([]byte{lead}))
			} else {
				front = append(front, string([]byte{lead, 0x80}), string([]byte{lead, 0x9f}))
			}
		}
	}
	if r, size := utf8.DecodeLastRuneInString(token); r == utf8.RuneError && size == 1 {
		back = nil
		for last := byte(0x80); last <= 0xbf; last++ {
			back = append(back, string([]byte{last}), string([]byte{0x90, last}))
		}
	}
	var out []string
	for _, f := range front {
		for _, b := range back {
			if whole := f + token + b; utf8.ValidString(whole) {
				out = append(out, whole)
			}
		}
	}
	return out
}

func TestPiecesCutAtSeamsCountAsOne(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 0))
	common := []rune("的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长のはをにがでと本日私人カタナひらり가나다라을는이한국어，。！ー々")
	for _, name := range []string{O200kBase, CL100kBase} {
		e := newEncoding(t, name)
		count(t, e, "load")
		w := newWorker(e.words, e.split)
		cut := 0
		for range 20_000 {
			var b strings.Builder
			for range 2 + r.IntN(24) {
				if r.IntN(8) == 0 {
					b.WriteRune(0x3041 + r.Int32N(0x9fff-0x3041))
				} else {
					b.WriteRune(common[r.IntN(len(common))])
				}
			}
			piece := b.String()
			whole, err := w.bytePairs(t.Context(), piece)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for at := 0; at < len(piece); {
				next := e.words.seams.next(piece, at, len(piece))
				if next < len(piece) {
					cut++
				}
				n, err := w.bytePairs(t.Context(), piece[at:next])
				if err != nil {
					t.Fatal(err)
				}
				sum += n
				at = next
			}
			if sum != whole {
				t.Fatalf("%s: %q has %d tokens, its parts %d", name, piece, whole, sum)
			}
		}
		t.Logf("%s: %d cuts", name, cut)
		if cut < 50_000 {
			t.Errorf("%s: only %d cuts", name, cut)
		}
	}
}
