package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

func TestEveryFormComesBackInItsForm(t *testing.T) {
	f := start(t, nil)
	for name, do := range calls {
		for form, c := range forms() {
			t.Run(name+" "+form, func(t *testing.T) {
				got := do(t, f, c, elbowroomv1.View_VIEW_FULL)
				if got.GetEdits() != nil || got.GetSplices() != nil {
					t.Error("VIEW_FULL has edits")
				}
				out := got.GetConversation()
				if (c.GetNative() == nil) != (out.GetNative() == nil) {
					t.Fatalf("a %s request got %v", form, out)
				}
				if c.GetNative() == nil {
					return
				}
				if c.GetNative().GetFormat() != out.GetNative().GetFormat() {
					t.Errorf("format %v, want %v", out.GetNative().GetFormat(), c.GetNative().GetFormat())
				}
				_, inBytes := c.GetNative().GetBody().(*elbowroomv1.NativeRequest_JsonBytes)
				_, outBytes := out.GetNative().GetBody().(*elbowroomv1.NativeRequest_JsonBytes)
				if inBytes != outBytes {
					t.Errorf("json_bytes in: %v, out: %v", inBytes, outBytes)
				}
				if !json.Valid([]byte(nativeText(out))) {
					t.Error("the result is not valid JSON")
				}
			})
		}
	}
}

// Both ways to follow the edits give exactly the full view.
func TestEditsGiveTheFullView(t *testing.T) {
	f := start(t, nil)
	for name, do := range calls {
		for form, c := range forms() {
			t.Run(name+" "+form, func(t *testing.T) {
				full := do(t, f, c, elbowroomv1.View_VIEW_FULL).GetConversation()
				got := do(t, f, c, elbowroomv1.View_VIEW_EDITS)
				if got.GetConversation() != nil {
					t.Error("VIEW_EDITS has a conversation")
				}
				if len(got.GetEdits()) == 0 {
					t.Fatal("no edits")
				}
				if c.GetNative() == nil {
					if diff := cmp.Diff(full, followTyped(t, c, got.GetEdits()), protocmp.Transform()); diff != "" {
						t.Errorf("following the edits (-full +edits):\n%s", diff)
					}
					return
				}
				if spliced := splice(t, nativeText(c), got.GetSplices()); spliced != nativeText(full) {
					t.Errorf("the splices give\n%s\nwant\n%s", spliced, nativeText(full))
				}
				alone := do(t, f, c, elbowroomv1.View_VIEW_SPLICES)
				if len(alone.GetEdits()) > 0 || alone.GetConversation() != nil || splice(t, nativeText(c), alone.GetSplices()) != nativeText(full) {
					t.Errorf("VIEW_SPLICES gives %v", alone)
				}
				want, followed := sections(t, nativeText(full)), followNative(t, nativeText(c), got.GetEdits())
				if diff := cmp.Diff(want, followed); diff != "" {
					t.Errorf("following the edits (-full +edits):\n%s", diff)
				}
			})
		}
	}
}

// splice applies splices as a client would, in bytes.
func splice(t *testing.T, src string, splices []*elbowroomv1.Splice) string {
	t.Helper()
	var sb strings.Builder
	at := int64(0)
	for _, sp := range splices {
		if sp.GetOffset() < at || sp.GetOffset()+sp.GetLength() > int64(len(src)) {
			t.Fatalf("splice at %d of %d bytes after byte %d", sp.GetOffset(), sp.GetLength(), at)
		}
		sb.WriteString(src[at:sp.GetOffset()] + sp.GetText())
		at = sp.GetOffset() + sp.GetLength()
	}
	return sb.String() + src[at:]
}

// sections lists the elements of the three arrays of a body as raw JSON, read by
// a parser that is not the service's. A system string is one element, and so is a
// cache_control of the body.
func sections(t *testing.T, body string) map[elbowroomv1.Section][]string {
	t.Helper()
	var in struct {
		Mark     json.RawMessage   `json:"cache_control"`
		System   json.RawMessage   `json:"system"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatal(err)
	}
	out := map[elbowroomv1.Section][]string{}
	for _, m := range in.Messages {
		out[elbowroomv1.Section_SECTION_MESSAGES] = append(out[elbowroomv1.Section_SECTION_MESSAGES], string(m))
	}
	for _, m := range in.Tools {
		out[elbowroomv1.Section_SECTION_TOOLS] = append(out[elbowroomv1.Section_SECTION_TOOLS], string(m))
	}
	if in.System != nil {
		out[elbowroomv1.Section_SECTION_SYSTEM] = []string{string(in.System)}
	}
	if len(in.Mark) > 0 && string(in.Mark) != "null" {
		out[elbowroomv1.Section_SECTION_BODY] = []string{string(in.Mark)}
	}
	return out
}

// passed checks that a program names the elements of each section once and in
// order.
type passed struct {
	t  *testing.T
	at map[elbowroomv1.Section]int32
}

func (p passed) over(s elbowroomv1.Section, start, end int32) {
	p.t.Helper()
	if start != p.at[s] || end <= start {
		p.t.Fatalf("%v: an edit of %d to %d where the next element is %d", s, start, end, p.at[s])
	}
	p.at[s] = end
}

func followNative(t *testing.T, body string, edits []*elbowroomv1.Edit) map[elbowroomv1.Section][]string {
	t.Helper()
	in, out := sections(t, body), map[elbowroomv1.Section][]string{}
	p := passed{t, map[elbowroomv1.Section]int32{}}
	for _, e := range edits {
		s := e.GetSection()
		switch op := e.GetOp().(type) {
		case *elbowroomv1.Edit_Keep:
			p.over(s, op.Keep.GetStart(), op.Keep.GetEnd())
			out[s] = append(out[s], in[s][op.Keep.GetStart():op.Keep.GetEnd()]...)
		case *elbowroomv1.Edit_Drop:
			p.over(s, op.Drop.GetStart(), op.Drop.GetEnd())
		case *elbowroomv1.Edit_Replace:
			p.over(s, op.Replace.GetIndex(), op.Replace.GetIndex()+1)
			out[s] = append(out[s], op.Replace.GetJson())
		case *elbowroomv1.Edit_Insert:
			out[s] = append(out[s], op.Insert.GetJson())
		}
	}
	for s, elements := range in {
		if int(p.at[s]) != len(elements) {
			t.Fatalf("%v: the program ends at element %d of %d", s, p.at[s], len(elements))
		}
	}
	return out
}

func followTyped(t *testing.T, in *elbowroomv1.Conversation, edits []*elbowroomv1.Edit) *elbowroomv1.Conversation {
	t.Helper()
	out := &elbowroomv1.Conversation{}
	p := passed{t, map[elbowroomv1.Section]int32{}}
	for _, e := range edits {
		s := e.GetSection()
		tools := s == elbowroomv1.Section_SECTION_TOOLS
		switch op := e.GetOp().(type) {
		case *elbowroomv1.Edit_Keep:
			p.over(s, op.Keep.GetStart(), op.Keep.GetEnd())
			if tools {
				out.Tools = append(out.Tools, in.GetTools()[op.Keep.GetStart():op.Keep.GetEnd()]...)
			} else {
				out.Messages = append(out.Messages, in.GetMessages()[op.Keep.GetStart():op.Keep.GetEnd()]...)
			}
		case *elbowroomv1.Edit_Drop:
			p.over(s, op.Drop.GetStart(), op.Drop.GetEnd())
		case *elbowroomv1.Edit_Replace:
			p.over(s, op.Replace.GetIndex(), op.Replace.GetIndex()+1)
			if tools {
				out.Tools = append(out.Tools, op.Replace.GetTool())
			} else {
				out.Messages = append(out.Messages, op.Replace.GetMessage())
			}
		case *elbowroomv1.Edit_Insert:
			out.Messages = append(out.Messages, op.Insert.GetMessage())
		}
	}
	return out
}

// The cache_control of the request as a whole is set, changed and removed by an edit too.
func TestEditsOfTheBodyLeadToTheFullView(t *testing.T) {
	f := start(t, nil)
	const short, long = `{"type":"ephemeral"}`, `{"type":"ephemeral","ttl":"1h"}`
	body := func(mark string) string {
		if mark != "" {
			mark = `"cache_control": ` + mark + `,`
		}
		return `{` + mark + `"model":"claude-opus-5","system":"Be brief.","messages":[{"role":"user","content":"hi"}]}`
	}
	for _, tt := range []struct {
		name, in string
		strategy elbowroomv1.Strategy
		want     []string
	}{
		{"set", body(""), elbowroomv1.Strategy_STRATEGY_AUTO_PLUS_SYSTEM, []string{short}},
		{"set over null", body("null"), elbowroomv1.Strategy_STRATEGY_AUTO_PLUS_SYSTEM, []string{short}},
		{"changed", body(long), elbowroomv1.Strategy_STRATEGY_AUTO_PLUS_SYSTEM, []string{short}},
		{"kept", body(short), elbowroomv1.Strategy_STRATEGY_AUTO_PLUS_SYSTEM, []string{short}},
		{"removed", body(short), elbowroomv1.Strategy_STRATEGY_NONE, nil},
		{"removed beside other marks", body(short), elbowroomv1.Strategy_STRATEGY_SYSTEM_AND_3, nil},
	} {
		call := func(view elbowroomv1.View) *elbowroomv1.ApplyCacheControlResponse {
			resp, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: anthropic(tt.in), Strategy: tt.strategy, View: view})
			if err != nil {
				t.Fatal(err)
			}
			return resp
		}
		got := followNative(t, tt.in, call(elbowroomv1.View_VIEW_EDITS).GetEdits())
		want := sections(t, nativeText(call(elbowroomv1.View_VIEW_FULL).GetConversation()))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: following the edits (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.want, got[elbowroomv1.Section_SECTION_BODY]); diff != "" {
			t.Errorf("%s: the body (-want +got):\n%s", tt.name, diff)
		}
	}
}
