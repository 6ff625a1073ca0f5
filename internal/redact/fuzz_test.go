package redact

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/internal/testutil/planted"
)

// FuzzText: a second pass changes nothing, valid text stays valid, and the text
// grows by no more than one placeholder for what it takes at least to make one.
func FuzzText(f *testing.F) {
	f.Add(`{"password": "hunter2"} https://a:b@c ?code=12345678a -----BEGIN PRIVATE ` + `KEY-----`)
	f.Add("A_TOKEN=abc\u200b123def456 Bearer eyJhbGciOiJIUzI1NiJ9.a.b")
	for _, unit := range hostile() {
		f.Add(strings.Repeat(unit, 3))
	}
	for i, p := range planted.ByName() {
		if i%5 == 0 {
			f.Add(p.In(p.Make(planted.NewMaker(uint64(i)))))
		}
	}
	for i, p := range planted.ByForm() {
		if i%10 == 0 {
			f.Add(p.Make(planted.NewMaker(uint64(i))))
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := New()
		got := r.Text(s)
		if again := New().Text(got); again != got {
			t.Errorf("Text is not idempotent: %q, then %q", got, again)
		}
		if again, found := r.Again(got); again != got || found != 0 {
			t.Errorf("%q becomes %q on the second pass of the same request", got, again)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q is no longer valid UTF-8", got)
		}
		if len(got) > 16*len(s)+64 {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
		if r.work > 1200*len(s)+1000 {
			t.Errorf("%d bytes looked at for %d", r.work, len(s))
		}
	})
}

// FuzzPlanted puts a secret between two texts: nothing of it may be left, whatever
// stands around it.
func FuzzPlanted(f *testing.F) {
	f.Add("before ", " after", uint64(1))
	f.Add(`{"a":"`, `"}`, uint64(2))
	f.Add("[SECRET:token#1", "]", uint64(3))
	f.Add(`password="`, `"`, uint64(4))
	forms := planted.ByForm()
	f.Fuzz(func(t *testing.T, before, after string, seed uint64) {
		// A letter or digit beside a key makes it another word.
		if n := len(before); n > 0 && isWord(before[n-1]) {
			before += " "
		}
		if after != "" && (isBase64(after[0]) || after[0] == '.' || after[0] == '/' || hiddenLen(after) > 0) {
			after = " " + after
		}
		m := planted.NewMaker(seed)
		p := forms[m.IntN(len(forms))]
		if p.Kind == KindCardNumber || p.Kind == KindPasswordHash { // depend on what stands beside them
			return
		}
		secret := p.Make(m)
		got := New().Text(before + secret + after)
		if left := planted.Survivor(secret, strings.NewReplacer(before, "", after, "").Replace(got)); left != "" && !strings.Contains(before+after, left) {
			t.Errorf("%s: %q of %q is left in %q", p.Name, left, secret, got)
		}
	})
}
