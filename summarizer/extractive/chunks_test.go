package extractive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A script of several chunks comes out as if it had been cut in one go.
func TestChunksAreJoinedAsIfThereWereOne(t *testing.T) {
	s := func() *script {
		out := &script{}
		for i := range 600 {
			text := fmt.Sprintf("step_%d of run-%d failed with TimeoutError in pkg/file%d.go:%d\n", i, i/7, i%50, i) + strings.Repeat("some words that come back ", 40)
			if i%5 == 0 {
				text = fmt.Sprintf(`{"id": "job_%d", "error": "ENOENT", "lines": ["%s"]}`, i%20, strings.Repeat("value_x ", 60))
			}
			out.passages = append(out.passages, passage{text: text, turn: i / 3, voice: voice(i % 4), call: -1})
			out.bytes += len(text)
		}
		return out
	}
	q := newQuery("why did job_5 time out")
	many, one := s(), s()
	if n := len(chunksOf(many)); n < 3 {
		t.Fatalf("%d chunks", n)
	}
	lex, units, refs := cut(many, q, nil, nil)
	whole := []chunk{{from: 0, to: len(one.passages)}}
	wantLex, wantUnits, wantRefs := join(one, q, cutChunks(one, whole, nil, nil), nil)
	ignore := cmpopts.IgnoreFields(term{}, "hash")
	all := cmp.AllowUnexported(term{}, unit{}, passage{}, ending{})
	for name, diff := range map[string]string{
		"terms":    cmp.Diff(wantLex.terms, lex.terms, all, ignore),
		"units":    cmp.Diff(wantUnits, units, all),
		"refs":     cmp.Diff(wantRefs, refs),
		"passages": cmp.Diff(one.passages, many.passages, all),
	} {
		if diff != "" {
			t.Errorf("%s: %.2000s", name, diff)
		}
	}
	alarms := 0
	for i := range units {
		if units[i].flags&flagAlarm != 0 {
			alarms++
		}
	}
	if alarms == 0 {
		t.Error("no unit tells of an error")
	}
}
