package llm

import (
	"strings"
	"unicode"
)

// nothing reports whether a line is a way to say "none" or holds the place of
// notes that were not written. A line without a letter or a number says nothing.
func nothing(line string) bool {
	line = strings.ToLower(strings.TrimFunc(line, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) && !unicode.IsMark(c) }))
	switch line {
	case "", "none", "n/a", "nothing", "none yet", "nothing yet", "not applicable",
		"todo", "to do", "tbd", "tba", "placeholder", "to be determined", "to be done", "to be written", "to be filled in", "lorem ipsum", "empty", "redacted",
		"keine", "keiner", "ninguno", "ninguna", "aucun", "aucune", "nenhum", "nenhuma", "nessuno", "nessuna", "нет",
		"无", "無", "暂无", "待定", "なし", "없음":
		return true
	default:
		return len(line) < maxTitle && (strings.HasPrefix(line, "insert ") && strings.HasSuffix(line, " here") || strings.HasSuffix(line, " goes here"))
	}
}

// Bounds of what is taken for the same words again and again. Notes of 8,000 words
// still have more than one new word in ten; a sentence of seven words is refused
// from its twenty-first time on, if nothing else is said.
const (
	leastWords  = 60
	wordsEach   = 20 // times that a word stands in the text on average
	longestWord = 16 // characters; longer runs are looked at in pieces of this length
)

// repeats reports whether a text says the same few words over and over. Scripts
// without spaces and words without an end are measured by pieces.
func repeats(text string) bool {
	seen := make(map[string]struct{}) // counted only
	total, start, length := 0, 0, 0
	end := func(at int) {
		if length > 0 {
			seen[text[start:at]] = struct{}{}
			total++
		}
		start, length = at, 0
	}
	for i, c := range text {
		if !unicode.IsLetter(c) && !unicode.IsNumber(c) && !unicode.IsMark(c) {
			end(i)
			continue
		}
		if length == 0 {
			start = i
		}
		if length == longestWord {
			end(i)
		}
		length++
	}
	end(len(text))
	return total >= leastWords && len(seen)*wordsEach < total
}
