package hostile

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSetsAreTheSameForTheSameSeed(t *testing.T) {
	if diff := cmp.Diff(Sets(7), Sets(7)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(Mixed(7, 100), Mixed(8, 100)) || cmp.Equal(Alphabets(7, 100), Alphabets(8, 100)) {
		t.Error("another seed gave the same texts")
	}
}

func TestSetsHoldEnoughValidTexts(t *testing.T) {
	total := 0
	for _, set := range Sets(20261130) {
		for i, text := range set.Texts {
			if text == "" || !utf8.ValidString(text) {
				t.Fatalf("%s: text %d (%q) is empty or not valid UTF-8", set.Name, i, text)
			}
		}
		total += len(set.Texts)
	}
	if total < 30_919 {
		t.Errorf("%d texts, want at least 30,919", total)
	}
}

func TestInvalidTextsAreInvalid(t *testing.T) {
	for _, text := range Invalid(1, 500) {
		if utf8.ValidString(text) {
			t.Fatalf("%q is valid", text)
		}
	}
}

func TestEveryCharacterIsHeld(t *testing.T) {
	seen := make([]bool, utf8.MaxRune+1)
	for _, text := range EveryCharacter() {
		for _, c := range text {
			seen[c] = true
		}
	}
	for c := range rune(utf8.MaxRune + 1) {
		if utf8.ValidRune(c) && !seen[c] {
			t.Fatalf("U+%04X is in no text", c)
		}
	}
}
