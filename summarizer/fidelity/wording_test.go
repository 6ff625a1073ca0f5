package fidelity

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// tellsSlowly is what wording does, told by the words of every line.
func tellsSlowly(summary, text string) bool {
	var words []string
	eachWord(text, func(word string) {
		word = strings.ToLower(word)
		if len(words) < maxWords && (len(words) == 0 || words[len(words)-1] != word) {
			words = append(words, word)
		}
	})
	for line := range strings.SplitSeq(summary, "\n") {
		in := make(map[string]bool)
		eachWord(line, func(word string) { in[strings.ToLower(word)] = true })
		hits := 0
		for _, word := range words {
			if in[word] {
				hits++
			}
		}
		if hits > 0 && float64(hits) >= tellsShare*float64(len(words)) {
			return true
		}
	}
	return false
}

func TestStatementsAreToldByTheWordsOfOneLine(t *testing.T) {
	long := strings.Repeat("Configuration", 7)
	summary := "## Goal\n- [1] user: never change the Schema of pkg/store/table.go by hand\n" +
		"- [2] assistant: ÄNDERUNGEN an der Tabelle nur über Migrationen, " + long + "\n" +
		"- [3] bash: exit code 1, undefined: parseRows\n- [4] do not do that again"
	texts := []string{
		"Never change the schema of pkg/store/table.go by hand", "änderungen an der Tabelle nur über Migrationen " + strings.ToUpper(long),
		"never touch the migrations by hand", "parseRows exit code", "again again again", "", "- - -", "schema tabelle parseRows",
	}
	for _, f := range testdata.Conversations(t) {
		for n, line := range strings.Split(strings.ReplaceAll(f.JSON, `\n`, "\n"), "\n") {
			switch {
			case n >= 4000:
			case n%7 == 0 && n < 200:
				summary += "\n" + line[:min(len(line), 400)]
			case n%31 == 0 || n%7 == 0:
				texts = append(texts, line[:min(len(line), 300)])
			}
		}
	}
	statements := make([]statement, len(texts))
	for i := range texts {
		statements[i].text = texts[i]
	}
	w := newWording(statements)
	w.read(summary)
	told, differ := 0, 0
	for i, text := range texts {
		want := tellsSlowly(summary, text)
		if got := w.tells(i); got != want {
			// Of a word in very many lines only so many are looked at.
			if differ++; !want || i < 8 {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
		if want {
			told++
		}
	}
	if told < 4 || told == len(texts) || differ > len(texts)/50 {
		t.Errorf("%d of %d statements are told, %d seen otherwise", told, len(texts), differ)
	}
}

func TestOfAWordInManyLinesTheFirstAreLookedAt(t *testing.T) {
	var sb strings.Builder
	for i := range 3 * maxPosts {
		fmt.Fprintf(&sb, "parser number%d\n", i)
	}
	w := newWording([]statement{{text: "parser number0"}, {text: fmt.Sprintf("parser number%d", maxPosts)}})
	w.read(sb.String())
	// The first lines are remembered, and no more than so many.
	if !w.tells(0) || w.tells(1) {
		t.Error("other lines were looked at")
	}
}
