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
)

func tile(t testing.TB, v *tiling, text string, frameBow bool) int {
	t.Helper()
	n, err := v.count(t.Context(), text, frameBow, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTilingEqualsTheGoldenCountsOfCtok(t *testing.T) {
	file, err := os.ReadFile("testdata/golden_claude.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text string `json:"text"`
		V3   int    `json:"v3"`
		V47  int    `json:"v4.7"`
		V48  int    `json:"v4.8"`
	}
	if err := json.Unmarshal(file, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 3000 {
		t.Fatalf("only %d golden cases", len(cases))
	}
	v3, v47 := newTilings()
	for _, c := range cases {
		for _, x := range []struct {
			name     string
			tiling   *tiling
			frameBow bool
			want     int
		}{{"3", v3, true, c.V3}, {"4.7", v47, true, c.V47}, {"4.8", v47, false, c.V48}} {
			if got := tile(t, x.tiling, c.Text, x.frameBow); got != x.want {
				t.Errorf("Claude %s: %+q costs %d, want %d", x.name, c.Text, got, x.want)
			}
		}
	}
}

// What the tiling knows of a text are its runs, so no piece may span two of them but where the runs are joined.
func TestPiecesDoNotCrossRuns(t *testing.T) {
	glyphs := newGlyphTable()
	for _, name := range []string{"claude-v3", "claude-v4.7"} {
		set := readPieceFile(t, name)
		w := &claudeWorker{tiler: tiler{pieces: set}, glyphs: glyphs}
		pieces := 0
		set.each(func(piece []byte) {
			pieces++
			text := strings.TrimSuffix(string(piece), "\xf9")
			for len(text) > 0 && text[0] >= 0xf8 {
				text = text[1:]
			}
			if !utf8.ValidString(text) {
				if len(text) > 3 || text[0] < 0xe0 || text[0] >= 0xf8 {
					t.Errorf("%s: %q is neither text nor the beginning of a character", name, piece)
				}
				return
			}
			last, at := -1, 0
			for at < len(text) {
				g, size := w.glyph(text, at)
				kind := int(g & runKind)
				if last >= 0 && kind != last && g&glyphSelector == 0 && !joined(text, at) {
					t.Errorf("%s: %q goes from one run to another at %d", name, piece, at)
				}
				last = kind
				at += size
			}
		})
		if pieces < 15_000 {
			t.Errorf("%s: %d pieces", name, pieces)
		}
	}
}

// joined reports whether the runs that meet at a place are counted as one.
func joined(text string, at int) bool {
	_, size := utf8.DecodeLastRuneInString(text[:at])
	return joinsPunctuation(text[at-size:at]) || text[:at] == "'" && isContraction(text[at:])
}

func readPieceFile(t testing.TB, name string) *pieceSet {
	t.Helper()
	file, err := pieceFiles.ReadFile("pieces/" + name + ".pieces")
	if err != nil {
		t.Fatal(err)
	}
	set, err := readPieces(file)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// each calls f with every piece.
func (p *pieceSet) each(f func(piece []byte)) {
	var walk func(slot uint32, prefix []byte)
	walk = func(slot uint32, prefix []byte) {
		if slot&slotEnds != 0 {
			f(prefix)
		}
		for c := uint32(1); c < 256 && slot&slotBase != 0; c++ {
			if next := p.slots[slot&slotBase+c]; next>>slotLabelShift == c {
				walk(next, append(prefix[:len(prefix):len(prefix)], byte(c)))
			}
		}
	}
	walk(p.slots[0], nil)
}

func TestReadPiecesRefusesBrokenFiles(t *testing.T) {
	whole, err := pieceFiles.ReadFile("pieces/claude-v4.7.pieces")
	if err != nil {
		t.Fatal(err)
	}
	far := append([]byte(nil), whole...)
	far[16], far[17], far[18] = 0xff, 0xff, 0x3f
	for name, file := range map[string][]byte{
		"empty": nil, "header only": whole[:12], "cut off": whole[:len(whole)-1], "another version": append([]byte("ELBP\x02"), whole[5:]...), "slot out of range": far,
	} {
		if _, err := readPieces(file); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The costs of runs of one character come from a table and a rule beyond it; the tiler knows neither.
func TestRepeatCostsEqualTheTiling(t *testing.T) {
	for _, name := range []string{"claude-v3", "claude-v4.7"} {
		set := readPieceFile(t, name)
		w := &tiler{pieces: set}
		for c, costs := range map[byte]*repeatCosts{' ': &set.spaces, '\t': &set.tabs, '\n': &set.newlines} {
			for _, n := range []int{1, 2, 3, 15, 16, 17, 31, 33, 34, 63, 127, 128, 129, 160, 191, 255, 1000, 16_511, 16_512, 16_513, 20_000} {
				want, err := w.cost(t.Context(), []byte(strings.Repeat(string(c), n)))
				if err != nil {
					t.Fatal(err)
				}
				if got := costs.of(n); got != want {
					t.Errorf("%s: %d of %q cost %d, want %d", name, n, c, got, want)
				}
			}
		}
	}
}

func TestTilingStopsWhenTheContextIsDone(t *testing.T) {
	v3, _ := newTilings()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{"tide " + strings.Repeat("tide table ", 20_000), strings.Repeat("a", 200_000), strings.Repeat("-", 200_000)} {
		if _, err := v3.count(ctx, text, true, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%.20q...: error %v, want %v", text, err, context.Canceled)
		}
		// What was left of the broken count must not show in the next one.
		if got := tile(t, v3, "The tide table says: don't.", true); got != 8 {
			t.Errorf("after %.20q...: %d, want 8", text, got)
		}
	}
}

func TestTilingDoesNotAllocateOnNormalText(t *testing.T) {
	v3, _ := newTilings()
	text := strings.Repeat("The tide table for pier 12345 says: don't, 漢字仮名 and naïve.\n\tif err != nil {\n", 200)
	tile(t, v3, text, true)
	if n := testing.AllocsPerRun(20, func() { tile(t, v3, text, true) }); n > 0 {
		t.Errorf("%.0f allocations a text of %d bytes", n, len(text))
	}
}

func TestTilingIsSafeForConcurrentUse(t *testing.T) {
	v3, v47 := newTilings()
	const text = "The tide table for pier 12345 says: don't, 漢字仮名 and NAÏVE."
	want3, want47 := tile(t, v3, text, true), tile(t, v47, text, true)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				a, err3 := v3.count(t.Context(), text, true, nil)
				b, err47 := v47.count(t.Context(), text, true, nil)
				if a != want3 || b != want47 || err3 != nil || err47 != nil {
					t.Errorf("%d and %d, %v, %v; want %d and %d", a, b, err3, err47, want3, want47)
				}
			}
		})
	}
	group.Wait()
}

// A line that follows a blank one counts the same wherever it stands: nothing but the frame's share reaches across.
func FuzzTilingAddsUpAtBlankLines(f *testing.F) {
	f.Add("The tide table", "says: don't.")
	f.Add("' s\u0301 \u0bcd,", "²}-. ⚖️ İstanbul ẞ")
	f.Add("\x00\xff\ue000", "\u0e4d\u0e32 가\u11a8 '\u24d0't")
	v3, v47 := newTilings()
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, v := range []*tiling{v3, v47} {
			n := tile(t, v, a, false)
			if n < 0 || n > 4*len(a)+4 {
				t.Fatalf("%q costs %d", a, n)
			}
			// Letters on both sides keep the parts from running into the line breaks between them.
			a, b := "x"+a+"x", "x"+b
			whole := tile(t, v, a+"\n\n"+b, false)
			if parts := tile(t, v, a, false) + 1 + tile(t, v, b, false); whole != parts {
				t.Errorf("%q and %q cost %d together and %d apart", a, b, whole, parts)
			}
		}
	})
}
