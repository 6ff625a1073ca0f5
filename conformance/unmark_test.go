package conformance

import (
	"testing"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// TestUnmarkGivesBackWhatWasThere marks every recorded conversation and takes the marks
// off again.
func TestUnmarkGivesBackWhatWasThere(t *testing.T) {
	w := dial(t)
	for _, s := range subjects(t) {
		if s.dialect == Typed {
			continue
		}
		bare, err := Read(s.dialect, Unmark(s.in, nil))
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		for _, strategy := range markingStrategies {
			resp := w.mark(t, &pb.ApplyCacheControlRequest{
				Conversation: native(formatOf(s.dialect), string(bare.raw)), Model: "claude-sonnet-4-5", Strategy: strategy,
			})
			marked := read(t, s.dialect, resp.GetConversation(), bare)
			if len(resp.GetBreakpoints()) == 0 {
				t.Errorf("%s: nothing was marked", s.name)
			}
			if got := Unmark(marked, bare); string(got) != string(bare.raw) {
				t.Errorf("%s, %v: %s", s.name, strategy, firstDifference(got, bare.raw))
			}
		}
	}
}

func TestUnmarkTakesMarksOffAnywhere(t *testing.T) {
	for name, x := range map[string]struct {
		in, like, want string
	}{
		"first, middle and last key": {
			in:   `{"messages":[{"role":"user","content":[{"cache_control":{}, "type":"text","text":"a"},{"type":"text","cache_control":{},"text":"b"},{"type":"text","text":"c" , "cache_control":{} }]}]}`,
			want: `{"messages":[{"role":"user","content":[{ "type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":"c" }]}]}`,
		},
		"of the body, tools and system": {
			in:   `{"cache_control":{},"system":[{"type":"text","text":"s","cache_control":{}}],"tools":[{"name":"t","cache_control":{}}],"messages":[]}`,
			like: `{"system":"s","messages":[]}`,
			want: `{"system":"s","tools":[{"name":"t"}],"messages":[]}`,
		},
		"a list that was one": {
			in:   `[{"role":"user","content":[{"type":"text","text":"a","cache_control":{}}]},{"role":"user","content":[{"type":"text","text":"b","cache_control":{}}]}]`,
			like: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":"b"}]`,
			want: `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":"b"}]`,
		},
		"nothing else in the block": {
			in:   `[{"role":"user","content":[{"cache_control":{}}]}]`,
			want: `[{"role":"user","content":[{}]}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := Read(Anthropic, []byte(x.in))
			if err != nil {
				t.Fatal(err)
			}
			var like *Transcript
			if x.like != "" {
				if like, err = Read(Anthropic, []byte(x.like)); err != nil {
					t.Fatal(err)
				}
			}
			if got := Unmark(in, like); string(got) != x.want {
				t.Errorf("got  %s\nwant %s", got, x.want)
			}
		})
	}
}
