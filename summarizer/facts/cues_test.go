package facts

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// everyHead spares no word the search.
func everyHead() *heads {
	var h heads
	for i := range h {
		h[i] = ^uint32(0)
	}
	return &h
}

// sameCues fails where the search for cues misses what a search of every word finds.
func sameCues(t *testing.T, l *Lookout, every *heads, s string) {
	t.Helper()
	want := l.scan(s, every)
	if got := l.Scan(s); got != want {
		t.Errorf("Scan(%q) = %b, every word searched gives %b", s, got, want)
	}
	for cue := range l.heads {
		if got := l.Has(s, cue); got != (want&cue != 0) {
			t.Errorf("Has(%q, %b) = %v, every word searched gives %b", s, cue, got, want)
		}
	}
}

func TestEveryCueWordIsFoundHoweverItIsWritten(t *testing.T) {
	l, every := NewLookout(), everyHead()
	for _, group := range cueWords {
		for w := range strings.SplitSeq(group.words, "|") {
			if !l.Has(w, group.cue) || !l.Has("x, "+w+".", group.cue) {
				t.Errorf("%q is not found as %b", w, group.cue)
			}
			_, first := utf8.DecodeRuneInString(w)
			for _, s := range []string{
				strings.ToUpper(w), strings.ToTitle(w[:first]) + w[first:], strings.ReplaceAll(w, "'", "’"), w[:first] + "\u0301" + w[first:], w + "'x", "l'" + w, w + "’x", w[:first],
				strings.ReplaceAll(strings.ReplaceAll(w, "i", "İ"), "k", "\u212A"), w[:first] + "'" + w[first:], "_" + w, w + "_", w[:len(w)-1],
			} {
				sameCues(t, l, every, s)
				sameCues(t, l, every, "Ж "+s+" é")
			}
		}
	}
}

func TestCuesOfRealConversations(t *testing.T) {
	l, every := NewLookout(), everyHead()
	for _, f := range testdata.Conversations(t) {
		for text := f.JSON[:min(len(f.JSON), 200<<10)]; text != ""; text = text[min(len(text), 1000):] {
			sameCues(t, l, every, text)
		}
	}
}

func FuzzCues(f *testing.F) {
	l, every := NewLookout(), everyHead()
	for _, s := range []string{"I'll", "i", "N'utilise", "n’y", "NE\u0301", "mİssing", "\u212Aeep", "d\xffcid\xc3", "never\x00", "'n'", "e-mail", "i  will", "不要 n'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { sameCues(t, l, every, s) })
}
