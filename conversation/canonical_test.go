package conversation

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

func TestJSONIsSpelledOneWay(t *testing.T) {
	for _, spellings := range [][]string{
		{`{"a":1,"b":[true,null,"x y"]}`, `{ "a" : 1,` + "\n\t" + `"b": [ true, null, "x y" ] }`, `{"\u0061":1.0,"b":[true,null,"x\u0020y"]}`},
		{`"é/\n"`, `"\u00e9\/\u000A"`},
		{`{"a":100}`, `{"a":1e2}`, `{"a":100.0}`, `{"a":1.00E+2}`, `{"a":1000e-1}`},
		{`-0.25`, `-25e-2`, `-0.250`, `-2.5E-1`},
		{`0`, `0.0`, `0e5`},
		{`-0`, `-0.00`},
		{`1e22`, `10000000000000000000000`, `10e21`},
		{`12345678901234567890.5`, `123456789012345678905e-1`},
		{`1e-30`, `0.000000000000000000000000000001`},
		{`1e99999999999`},
		{`[]`, ` [ ] `},
	} {
		for _, s := range spellings {
			if got := Canonical(s); got != spellings[0] {
				t.Errorf("%s is spelled %s, want %s", s, got, spellings[0])
			}
		}
	}
}

func TestWhatDiffersIsSpelledDifferently(t *testing.T) {
	seen := make(map[string]string)
	for _, s := range []string{
		`{"a":1,"b":2}`, `{"b":2,"a":1}`, `{"a":"1","b":2}`, `{"a":1,"b":-2}`, `{"a":1,"b":20}`, `{"a":1,"b":[2]}`, `{"a":1,"b":"2 "}`,
		`12345678901234567890`, `12345678901234567891`, `1`, `-1`, `0`, `-0`, `0.1`, `0.01`, `10`, `1e21`, `1e22`,
		`1 2`, `12`, `{"a": 1`, `{"a":1`, ``, ` `, // none of them JSON, all of them texts of somebody
	} {
		got := Canonical(s)
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s are both spelled %s", s, other, got)
		}
		seen[got] = s
	}
}

func TestCanonicalTextIsNotCopied(t *testing.T) {
	text := `{"path":"a/b.go","text":"` + strings.Repeat(`line \"one\"\n`, 200) + `","line":12,"share":0.5}`
	if n := testing.AllocsPerRun(10, func() { appendCanonical(nil, text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"a" : [1.50, -0.0, 1E2, 1e-7], "\u00e9":"\ud83d\ude00\/"}`, `1e400`, `0.00000000000000000000000000000000001`, `"\ud800"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Canonical(s)
		if Canonical(got) != got {
			t.Fatalf("%q becomes %q, and that becomes %q", s, got, Canonical(got))
		}
		if !json.Valid([]byte(s)) {
			return
		}
		if !json.Valid([]byte(got)) {
			t.Fatalf("%q becomes %q, which is no JSON", s, got)
		}
		want, ok := new(big.Rat).SetString(strings.TrimSpace(s))
		if !ok || len(s) > 40 || strings.ContainsAny(s, "eE") && len(got) > 40 {
			return
		}
		if have, ok := new(big.Rat).SetString(got); !ok || have.Cmp(want) != 0 {
			t.Fatalf("%q becomes %q, another number", s, got)
		}
	})
}
