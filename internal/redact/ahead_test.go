package redact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// Texts that depend on each other: a secret that is named in one stands bare in others, also behind escapes, and a
// placeholder of the caller takes a number.
func dependent() []string {
	return []string{
		"nothing here", "the log says Zx81hQ77LmPq0a once", `DB_PASSWORD=Zx81hQ77LmPq0a`, "later Zx81hQ77LmPq0a again",
		`{"out":"Zx81hQ77LmPq0a\u0021"}`, "kept: [SECRET:password#7]", `API_TOKEN="a9Bc8dE7fG6hI5jK"`, "a9Bc8dE7fG6hI5jK", "nothing here", "",
		strings.Repeat("plain words and main.go:12 ", 200),
	}
}

func TestTextsLookedAtAheadComeOutTheSame(t *testing.T) {
	texts := dependent()
	for _, f := range testdata.Conversations(t) {
		texts = append(texts, strings.SplitAfter(f.JSON, `"role"`)...)
	}
	known := memo.New(1 << 20)
	for _, tt := range []struct {
		name  string
		known *memo.Memo
	}{{"nothing remembered", nil}, {"remembered from here on", known}, {"remembered", known}} {
		plain, ahead := New(), New()
		ahead.Ahead(texts, tt.known)
		for range 2 {
			for _, text := range texts {
				if want, got := plain.Text(text), ahead.Text(text); got != want {
					t.Fatalf("%s: %.200q\n%s", tt.name, text, cmp.Diff(want, got))
				}
			}
		}
		if diff := cmp.Diff(plain.Counts(), ahead.Counts()); diff != "" || len(plain.Counts()) == 0 {
			t.Errorf("%s: counts: %s", tt.name, diff)
		}
	}
	if known.Bytes() == 0 {
		t.Error("nothing was remembered")
	}
}
