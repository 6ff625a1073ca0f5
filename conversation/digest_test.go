package conversation

import "testing"

func TestEveryCharacterIsSpelledOneWay(t *testing.T) {
	for _, spellings := range [][]string{
		{`é`, `\u00e9`, `\u00E9`},
		{`a/b`, `a\/b`},
		{`\b\f`, `\u0008\u000c`, `\u0008\u000C`},
		{`\n\t\r\"\\`, `\u000a\u0009\u000d\u0022\u005c`},
		{`C:\\new\\u0041`, `C:\u005cnew\u005cu0041`},
		{`😀`, `\ud83d\ude00`},
		{`<`, `\u003c`},
		{"\u2028", `\u2028`},
		{`\u0001`},
		{``},
	} {
		want := respell(spellings[0])
		for _, s := range spellings {
			if got := respell(s); got != want || unescape(got) != unescape(s) {
				t.Errorf("%s is spelled %s, want %s", s, got, want)
			}
		}
	}
}
