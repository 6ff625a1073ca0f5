package extractive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// Texts that are JSON almost to the end: what was cut of them as records is taken back.
func almostJSON() []string {
	var out []string
	for _, end := range []string{`}`, ``, `]}`, `, "x"`, ` {"late": 1}`} {
		out = append(out, `{"job_1": {"error": "ENOENT", "path": "pkg/file1.go:17"}, "rows": [`+strings.Repeat(`{"id": 1001, "kind": "retry_later"}, `, 12)+`{"id": 7}]`+end)
	}
	return out
}

// What is remembered of a text comes out as if the text had been cut again, whichever texts stand before it.
func TestRememberedTextsAreCutAsIfAnew(t *testing.T) {
	script := func() *script {
		out := &script{}
		add := func(text string) {
			out.passages = append(out.passages, passage{text: text, turn: len(out.passages) / 2, voice: voice(len(out.passages) % 5), call: -1})
			out.bytes += len(text)
		}
		for _, text := range almostJSON() {
			for range 6 { // every voice, and beside itself
				add(text)
			}
		}
		// A term of a unit that was taken back, and the same one in a unit of the next text that has that unit's number.
		for k := range 24 {
			add(`{"rows": [` + strings.Repeat(`{"id": 1001, "kind": "retry_later", "where": "pkg/file1.go"}, `, 14) + fmt.Sprintf(`{"w": "caf\u00e9%d"}] 5}`, k))
			add(strings.Repeat("nothing of the kind\n", k) + fmt.Sprintf("café%d\n", k) + strings.Repeat("nothing of the kind\n", 24-k))
		}
		for _, f := range testdata.Conversations(t) {
			for _, text := range strings.SplitAfter(f.JSON, `"role"`) {
				add(text)
				add(strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(text))
			}
		}
		return out
	}
	q := newQuery("why did job_1 fail")
	plain := script()
	wantLex, wantUnits, wantRefs := cut(plain, q, nil, nil)
	known := memo.New(256 << 20)
	for _, name := range []string{"remembered from here on", "remembered"} {
		s := script()
		lex, units, refs := cut(s, q, known, nil)
		all := cmp.AllowUnexported(term{}, unit{}, passage{}, ending{})
		for what, diff := range map[string]func() string{
			"terms":    func() string { return cmp.Diff(wantLex.terms, lex.terms, all, cmpopts.IgnoreFields(term{}, "hash")) },
			"units":    func() string { return cmp.Diff(wantUnits, units, all) },
			"refs":     func() string { return cmp.Diff(wantRefs, refs) },
			"passages": func() string { return cmp.Diff(plain.passages, s.passages, all) },
		} {
			if d := diff(); d != "" {
				t.Fatalf("%s: %s: %.2000s", name, what, d)
			}
		}
	}
	if known.Bytes() < int64(plain.bytes)/4 {
		t.Errorf("%d bytes are remembered of %d", known.Bytes(), plain.bytes)
	}
}

// A text of which units were taken back is remembered like any other.
func TestTextsThatAreNearlyRecordsAreRemembered(t *testing.T) {
	known := memo.New(1 << 20)
	for _, text := range almostJSON() {
		s := &script{passages: []passage{{text: text, voice: voiceTool, call: -1}}, bytes: len(text)}
		_, units, _ := cut(s, nil, known, nil)
		found, ok := known.Get(known.Key(memo.Cut+memo.Kind(voiceTool), text))
		if !ok {
			t.Errorf("nothing is remembered of %.40q", text)
			continue
		}
		if got := len(found.(*cutting).units); got != len(units) {
			t.Errorf("%d units are remembered of %d of %.40q", got, len(units), text)
		}
	}
}

// Passing over terms that cannot match must not pass over one that can.
func TestTermsThatMatchAreNotPassedOver(t *testing.T) {
	s := &script{}
	for i, f := range testdata.Conversations(t) {
		s.passages = append(s.passages, passage{text: f.JSON, turn: i, voice: voiceTool, call: -1})
		s.bytes += len(f.JSON)
	}
	lex, _, _ := cut(s, nil, nil, nil)
	for _, request := range []string{
		"Why does TestParseSchemas fail in pkg/file.go? See --dry-run, _private, os.path and İstanbul.", "tests", "修复错误 エラー", "é É ÉCOLE fußnote",
	} {
		q := newQuery(request)
		found := 0
		for i := range lex.terms {
			want, got := q.find(lex.terms[i].text), q.match(lex.terms[i].text)
			if want != got {
				t.Errorf("%q and %q: %d, want %d", request, lex.terms[i].text, got, want)
			}
			if want >= 0 {
				found++
			}
		}
		if found == 0 && request[0] < 0x80 {
			t.Errorf("%q: nothing matches", request)
		}
	}
}
