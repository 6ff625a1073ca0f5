package redact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEscapesAreUndoneLevelByLevel(t *testing.T) {
	tests := map[string][]string{ // the levels of each text
		"plain \\n \\\" \\t text":      nil,
		`a\u0041\x42\/c`:               {`aAB/c`},
		`\\\\u0041\\/`:                 {`A/`},
		`\u5bc6\u7801`:                 {"密码"},
		`\ud83d \u12 \u \x9 \xff`:      nil,
		`a%41%3Ab`:                     {"aA:b"},
		"50% of %s, %zz %":             nil,
		"%253A":                        {"%3A", ":"},
		"&quot;&#34;&#x22;&apos;&lt;b": {`"""'<b`},
		"&#xZZ; &; &#; &nbsp; a&b;":    nil,
		"&#55296; &#99999999;":         nil,
		`\u0026amp;quot;`:              {"&amp;quot;", "&quot;", `"`},
	}
	for text, want := range tests {
		var got []string
		for v := (&view{src: text}).undone(); v != nil; v = v.undone() {
			got = append(got, v.src)
			if at := v.at(len(v.src)); at != len(text) {
				t.Errorf("%q: the end is at %d", v.src, at)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: -want +got\n%s", text, diff)
		}
	}
}

func TestAViewKnowsThePlacesOfItsText(t *testing.T) {
	const text = `x%2541y\u0042z&amp;lt;end`
	v := (&view{src: text}).undone().undone()
	for shown, want := range map[string]string{"x": "x", "A": "%2541", "y": "y", "B": `\u0042`, "z": "z", "<": "&amp;lt;", "end": "end"} {
		at := strings.Index(v.src, shown)
		if at < 0 {
			t.Fatalf("%q is not in %q", shown, v.src)
		}
		if got := text[v.at(at):v.at(at+len(shown))]; got != want {
			t.Errorf("%q stands for %q, want %q", shown, got, want)
		}
	}
}

func TestOnlyWhatIsNearAnEscapeIsLookedAtAgain(t *testing.T) {
	far := strings.Repeat("x ", 2*nearEscape)
	v := (&view{src: far + "%41" + far + "%42" + strings.Repeat("y", 9)}).undone()
	first, second := len(far)+1, 2*len(far)+2
	want := [][2]int{{first - nearEscape, first + nearEscape}, {second - nearEscape, len(v.src)}}
	// A stretch begins where a token does.
	for i := range want {
		for isWord(v.src[want[i][0]-1]) {
			want[i][0]++
		}
	}
	if diff := cmp.Diff(want, v.stretches()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
