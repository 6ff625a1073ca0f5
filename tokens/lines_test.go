package tokens

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// A counter that remembers lines counts as one that does not, whatever lines it met before.
func TestRememberedLinesAreCountedAsIfAnew(t *testing.T) {
	var texts []string
	for _, f := range testdata.Conversations(t) {
		text := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(f.JSON[:min(len(f.JSON), 256<<10)])
		texts = append(texts, text, "\n"+text[len(text)/2:], strings.ReplaceAll(text[:len(text)/4], "\n", " \n \n"))
	}
	// Short lines of what is counted in its own way, with every kind of blank around them, that come again and again.
	random := rand.New(rand.NewPCG(7, 11))
	parts := strings.Split("don't|'tis|it's|'|''|\"|Caps|ALLCAPS|über|e\u0301|\u0301|漢字|：|x²|² ;|12345|٣٤|🙂|🙂\ufe0f|…|--|a.b/c|_|ⅷ|\u0BCD!|'s", "|")
	blanks := strings.Split(" | |  |\t|\n|\n|\n|\n\n| \n|\n |\n  | \n \n|\t\n\t|\u3000|\u3000\n|", "|")
	for range 400 {
		var sb strings.Builder
		for range 200 {
			sb.WriteString(parts[random.IntN(len(parts))])
			sb.WriteString(blanks[random.IntN(len(blanks))])
		}
		texts = append(texts, sb.String())
	}
	for _, line := range []string{"---", "'tis", "🙂", "²", "٣", "$_,^", ",=+%", ".]'+]"} {
		line += " the same line of text " + line
		texts = append(texts, "x\n"+line+"\n "+line+"\n\t"+line+" \n"+line+"  \n"+line)
	}
	registry, err := NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	plain := NewCounter()
	var knowing *Counter
	remembered := 0
	for _, name := range []string{"claude-sonnet-4-5", "claude-opus-4-8", "claude-opus-5-5", "gpt-4o"} {
		model := registry.Lookup(name)
		for i, text := range texts {
			if i%10 == 0 { // there is room for more lines
				knowing = plain.WithLines()
			}
			want, err := plain.CountText(t.Context(), text, model)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got, err := knowing.CountText(t.Context(), text, model)
				if err != nil || got.Tokens != want.Tokens {
					t.Fatalf("%s: %d tokens, want %d, error %v\n%.300q", name, got.Tokens, want.Tokens, err, text)
				}
			}
		}
		remembered += len(knowing.lines3.costs) + len(knowing.lines47.costs)
	}
	if remembered == 0 {
		t.Error("no line was remembered")
	}
	if plain.lines3 != nil {
		t.Error("the counter it was made of remembers lines")
	}
}

func TestLinesRememberedAreBounded(t *testing.T) {
	known := NewCounter().WithLines().lines3
	for i := range 2 * linesMost {
		known.put([2]uint64{uint64(i), 0}, 1) //nolint:gosec // a small number
	}
	if len(known.costs) != linesMost {
		t.Errorf("%d lines", len(known.costs))
	}
}
