package extractive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTermsByShape(t *testing.T) {
	names := [classCount]string{"gram", "word", "name", "caps", "kebab", "number", "symbol", "mixed", "pair", "path", "address"}
	tests := map[string]string{
		"the quick fox":                          "word:the word:quick word:fox",
		"read src/a/b_test.go:120, please":       "word:read path:src/a/b_test.go symbol:b_test.go number:120 pair:src/a/b_test.go:120 word:please",
		"/etc/hosts and ~/x.yml and ./a.sh":      "path:/etc/hosts word:hosts word:and path:~/x.yml symbol:x.yml word:and path:./a.sh",
		"see https://a.example/p/q.html?x=1.":    "word:see address:https://a.example/p/q.html?x=1 symbol:q.html",
		"ann@mail.example wrote":                 "address:ann@mail.example word:wrote",
		"HAT028 from MCO at 12.5 or 7":           "mixed:HAT028 word:from caps:MCO number:12.5",
		"2024-05-21 v1.2.3 48213 3f786850e3":     "number:2024-05-21 mixed:v1.2.3 number:48213 mixed:3f786850e3",
		"getUserName snake_case kebab-case Omar": "symbol:getUserName symbol:snake_case kebab:kebab-case name:Omar",
		"PORT=48213 a.b.c":                       "caps:PORT number:48213 pair:PORT=48213 symbol:a.b.c",
		"файл Настройки café":                    "word:файл word:Настройки word:café",
		"端口号 48213":                              "gram:端口 gram:口号 number:48213",
		"foo::bar a->b ... -- //":                "word:foo word:bar",
		"":                                       "",
	}
	for in, want := range tests {
		var got []string
		terms(in, func(start, end int, c class) { got = append(got, names[c]+":"+in[start:end]) })
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("terms(%q): -want +got\n%s", in, diff)
		}
	}
}

func TestARareNameThatComesBackIsWorthMoreThanOneThatDoesNot(t *testing.T) {
	x := newLexicon(newQuery(""), 1000)
	for turn := range 40 {
		common := x.id("common_name", classSymbol)
		x.terms[common].seen(int32(turn), int32(turn), voiceTool)
		single := x.id(fmt.Sprintf("single_%d", turn), classSymbol)
		x.terms[single].seen(int32(turn), int32(turn), voiceTool)
		if turn%10 == 0 {
			again := x.id("again_name", classSymbol)
			x.terms[again].seen(int32(turn), int32(turn), voiceTool)
		}
	}
	w := x.weights(40)
	again, single, common := w[x.id("again_name", classSymbol)], w[x.id("single_3", classSymbol)], w[x.id("common_name", classSymbol)]
	if !(again > single && again > common) {
		t.Errorf("again %.2f, single %.2f, common %.2f", again, single, common)
	}
}

func TestTheLexiconGrows(t *testing.T) {
	x := newLexicon(newQuery(""), 0)
	for i := range 5000 {
		if got := x.id(fmt.Sprintf("name_%d", i), classSymbol); got != int32(i) {
			t.Fatalf("id %d, want %d", got, i)
		}
	}
	if got := x.id("name_17", classSymbol); got != 17 {
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

func TestExitCodes(t *testing.T) {
	for in, want := range map[string]int{
		"x\nexit status 1": 1, "Exit code: 0\n...": 0, `{"exit_code": 127}`: 127, "<returncode>2</returncode>": 2, "Command failed with exit code 3": 3,
		"exited with code 4": 4, "return code -9": -9, "the exit is on the left": -1000, "no code": -1000,
	} {
		got, ok := exitCode(in)
		if !ok {
			got = -1000
		}
		if got != want {
			t.Errorf("exitCode(%q) = %d, want %d", in, got, want)
		}
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

func TestCodeIsNoProse(t *testing.T) {
	for in, want := range map[string]bool{
		"self.assertIn(external_file_path, coder.abs_read_only_fnames)": true,
		"return nil, err;": true, "if (a) {": true, "foo_bar=baz_qux": true, "1234 5678 90 12": true,
		"Never touch the `legacy_folder`, please.": false, "don't use confirm(), just prompt()": false, "必须使用蓝色主题。": false, "Use port 48213 for the relay.": false,
	} {
		if got := codeLike(in); got != want {
			t.Errorf("codeLike(%q) = %v, want %v", in, got, want)
		}
	}
}
