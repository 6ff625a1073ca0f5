package extractive

import (
	"fmt"
	"hash/maphash"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

func TestARareNameThatComesBackIsWorthMoreThanOneThatDoesNot(t *testing.T) {
	x := newLexicon(maphash.MakeSeed(), 1000)
	for turn := range 40 {
		common := x.id("common_name", facts.Symbol)
		x.terms[common].seen(int32(turn), int32(turn), voiceTool)
		single := x.id(fmt.Sprintf("single_%d", turn), facts.Symbol)
		x.terms[single].seen(int32(turn), int32(turn), voiceTool)
		if turn%10 == 0 {
			again := x.id("again_name", facts.Symbol)
			x.terms[again].seen(int32(turn), int32(turn), voiceTool)
		}
	}
	w := x.weights(40)
	again, single, common := w[x.id("again_name", facts.Symbol)], w[x.id("single_3", facts.Symbol)], w[x.id("common_name", facts.Symbol)]
	if !(again > single && again > common) {
		t.Errorf("again %.2f, single %.2f, common %.2f", again, single, common)
	}
}

func TestTheLexiconGrows(t *testing.T) {
	x := newLexicon(maphash.MakeSeed(), 0)
	for i := range 5000 {
		if got := x.id(fmt.Sprintf("name_%d", i), facts.Symbol); got != int32(i) {
			t.Fatalf("id %d, want %d", got, i)
		}
	}
	if got := x.id("name_17", facts.Symbol); got != 17 {
		t.Errorf("id %d, want 17", got)
	}
}

func TestQueriesMatchWordsOfNames(t *testing.T) {
	q := newQuery("Which database schemas do we use for 外卖?")
	for text, want := range map[string]bool{
		"schema": true, "Schema": true, "db_schema": true, "DatabaseURL": true, "the": false, "data": false, "外卖": true, "卖家": false,
	} {
		if got := q.match(text) >= 0; got != want {
			t.Errorf("match(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestTidyMakesOneCleanLine(t *testing.T) {
	for in, want := range map[string]string{
		"  a\t b\n c ":                            "a b c",
		"\x1b[31mred\x1b[0m text":                 "red text",
		"bad\xffbyte":                             "bad\uFFFDbyte",
		"nul\x00 bel\x07":                         "nul bel",
		"right\u202eto left":                      "rightto left",
		"family 👨‍👩‍👧 stays":                      "family 👨‍👩‍👧 stays",
		"x " + strings.Repeat("QUJD", 100) + " y": "x [encoded data] y",
		"a\u2028b":                                "a b",
	} {
		got := tidy(in)
		if got != want {
			t.Errorf("tidy(%q) = %q, want %q", in, got, want)
		}
		if again := tidy(got); again != got {
			t.Errorf("tidy is not idempotent: %q, then %q", got, again)
		}
	}
}

func TestClipMiddleKeepsBothEnds(t *testing.T) {
	s := "go test ./alpha/... && " + strings.Repeat("step and ", 60) + "./beta.sh"
	got := clipMiddle(s, 120)
	if !strings.HasPrefix(got, "go test ./alpha/...") || !strings.HasSuffix(got, "./beta.sh") || len(got) > 130 {
		t.Errorf("clipMiddle gives %q", got)
	}
}

func TestListMarkers(t *testing.T) {
	for in, want := range map[string]string{
		"- a b": "a b", "* a b": "a b", "12. a b": "a b", "3) a b": "a b", "a) b c": "b c", "1、一二": "一二", "・一二": "一二", "• x y": "x y",
		"3.5 is a number": "", "-flag": "", "1.2.3": "", "plain": "", "--": "",
	} {
		n, body := listMarker(in)
		if (n > 0) != (want != "") || n > 0 && body != want {
			t.Errorf("listMarker(%q) = %d %q, want %q", in, n, body, want)
		}
	}
}
