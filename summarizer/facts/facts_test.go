package facts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTermsByShape(t *testing.T) {
	names := [ClassCount]string{"gram", "word", "name", "caps", "kebab", "number", "symbol", "mixed", "pair", "path", "address"}
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
		Terms(in, func(start, end int, c Class) { got = append(got, names[c]+":"+in[start:end]) })
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("Terms(%q): -want +got\n%s", in, diff)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for in, want := range map[string]int{
		"x\nexit status 1": 1, "Exit code: 0\n...": 0, `{"exit_code": 127}`: 127, "<returncode>2</returncode>": 2, "Command failed with exit code 3": 3,
		"exited with code 4": 4, "return code -9": -9, "the exit is on the left": -1000, "no code": -1000,
	} {
		got, ok := ExitCode(in)
		if !ok {
			got = -1000
		}
		if got != want {
			t.Errorf("exitCode(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestCodeIsNoProse(t *testing.T) {
	for in, want := range map[string]bool{
		"self.assertIn(external_file_path, coder.abs_read_only_fnames)": true,
		"return nil, err;": true, "if (a) {": true, "foo_bar=baz_qux": true, "1234 5678 90 12": true,
		"Never touch the `legacy_folder`, please.": false, "don't use confirm(), just prompt()": false, "必须使用蓝色主题。": false, "Use port 48213 for the relay.": false,
	} {
		if got := CodeLike(in); got != want {
			t.Errorf("codeLike(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestReasoningTagsAreCut(t *testing.T) {
	for in, want := range map[string]string{
		"<think>x</think>answer":                           "answer",
		"a <thinking>x</thinking>b <think>y":               "a b ",
		"x</think>answer":                                  "answer",
		"if a < b then <b>bold</b>":                        "if a < b then <b>bold</b>",
		"<REASONING_SCRATCHPAD>z</REASONING_SCRATCHPAD>ok": "ok",
	} {
		if got := WithoutReasoning(in); got != want {
			t.Errorf("withoutReasoning(%q) = %q, want %q", in, got, want)
		}
	}
}
