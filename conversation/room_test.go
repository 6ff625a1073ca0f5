package conversation

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// checkEmpty looks into all the room that could be lent again.
func checkEmpty(t *testing.T, r *Room) {
	t.Helper()
	if r.used != 0 || len(r.messages) != 0 {
		t.Errorf("%d slabs and %d messages are in use", r.used, len(r.messages))
	}
	for i, m := range r.messages[:cap(r.messages)] {
		if !reflect.ValueOf(m).IsZero() {
			t.Errorf("message %d is left: %+v", i, m)
		}
	}
	for i, slab := range r.slabs {
		for b := range slab {
			if !reflect.ValueOf(slab[b]).IsZero() {
				t.Errorf("block %d of slab %d is left: %+v", b, i, slab[b])
			}
		}
	}
}

// What one conversation left must not be seen in the next, whether it was read to its end or not.
func TestAConversationInUsedRoomIsTheSame(t *testing.T) {
	var room Room
	for _, f := range testdata.Conversations(t) {
		samples := []sample{{f.Name, nativeFormat(f.Format), f.JSON}, {f.Name + ", cut off", nativeFormat(f.Format), f.JSON[:len(f.JSON)*2/3]}}
		for _, s := range append(samples, forms(t)...) {
			want, wantErr := Parse(s.format, s.json, Limits{})
			got, err := Reading{Room: &room}.Parse(s.format, s.json)
			if diff := cmp.Diff(wantErr, err); diff != "" {
				t.Fatalf("%s: errors differ (-want +got):\n%s", s.name, diff)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Conversation{}), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", s.name, diff)
			}
			room.Clear()
		}
		checkEmpty(t, &room)
	}
}

// Lists grow out of their room, at two depths at a time.
func TestListsOfEveryLengthStandInTheirRoom(t *testing.T) {
	var room Room
	for n := range 300 {
		inner := strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"r"},`, n%7+n/3), ",")
		var outer []string
		for i := range n {
			outer = append(outer, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"%d","content":[%s]}`, i, inner))
			if i > 40 {
				inner = ""
			}
		}
		src := `[{"role":"user","content":[` + strings.Join(outer, ",") + `]},{"role":"user","content":"last"}]`
		c, err := Reading{Room: &room}.Parse(FormatAnthropicMessages, src)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(c.Messages[0].Blocks); got != n || cap(c.Messages[0].Blocks) != n {
			t.Fatalf("%d blocks in a list of %d with room for %d", got, n, cap(c.Messages[0].Blocks))
		}
		for i := range c.Messages[0].Blocks {
			b := &c.Messages[0].Blocks[i]
			if b.ID != fmt.Sprint(i) || b.Kind != KindToolResult {
				t.Fatalf("block %d of %d: %+v", i, n, b)
			}
			for k := range b.Result {
				if b.Result[k].Text != "r" || c.Raw(b.Result[k].Span) != `{"type":"text","text":"r"}` {
					t.Fatalf("part %d of block %d of %d: %+v", k, i, n, b.Result[k])
				}
			}
		}
		room.Clear()
		checkEmpty(t, &room)
	}
}

func TestARoomKeepsAFewMegabytesOnly(t *testing.T) {
	var room Room
	src := `[` + strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"x"},`, 100_000), ",") + `]`
	if _, err := (Reading{Room: &room}).Parse(FormatAnthropicMessages, src); err != nil {
		t.Fatal(err)
	}
	room.Clear()
	if len(room.slabs) > keptSlabs || cap(room.messages) > keptMessages {
		t.Errorf("%d slabs and room for %d messages are kept", len(room.slabs), cap(room.messages))
	}
	checkEmpty(t, &room)
}
