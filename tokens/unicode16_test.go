package tokens

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

// The numbers are those of the regular expressions inside Python tiktoken 0.14.0, asked with an encoding whose pattern
// is one class. They change with the version of Unicode, and then counts of rare characters change.
func TestCharacterClassesAreAsLargeAsTiktokens(t *testing.T) {
	const titlecase, modifiers, others = 31, 404, 136_477 // Lt, Lm, Lo
	table := newRuneTable()
	got := make(map[string]int)
	for c := range rune(unicode.MaxRune + 1) {
		if !utf8.ValidRune(c) {
			continue
		}
		properties, _ := table.at(string(c), 0)
		for name, in := range map[string]bool{
			"Lu, Lt, Lm, Lo, M": properties&upperSet != 0,
			"Ll, Lm, Lo, M":     properties&lowerSet != 0,
			"L":                 properties&letter != 0,
			"N":                 properties&number != 0,
			"white space":       properties&space != 0,
		} {
			if in {
				got[name]++
			}
		}
	}
	for name, want := range map[string]int{
		"Lu, Lt, Lm, Lo, M": 1_858 + titlecase + modifiers + others + 2_501,
		"Ll, Lm, Lo, M":     2_258 + modifiers + others + 2_501,
		"L":                 141_028,
		"N":                 1_911,
		"white space":       25,
	} {
		if got[name] != want {
			t.Errorf("%s: %d characters, want %d", name, got[name], want)
		}
	}
}
