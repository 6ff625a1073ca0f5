package conversation

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said returns what messages say and not where it stands: a copy without spans.
func said(messages ...Message) []Message {
	if len(messages) == 0 {
		return nil
	}
	out := slices.Clone(messages)
	for i := range out {
		m := &out[i]
		m.Span, m.Content = Span{}, Span{}
		m.Mark, m.Strays, m.Blocks = saidMark(m.Mark), saidMarks(m.Strays), saidBlocks(m.Blocks)
	}
	return out
}

func saidBlocks(blocks []Block) []Block {
	if len(blocks) == 0 {
		return nil
	}
	out := slices.Clone(blocks)
	for i := range out {
		b := &out[i]
		b.Span, b.TextSpan, b.InputSpan, b.ResultSpan = Span{}, Span{}, Span{}, Span{}
		b.Mark, b.Result = saidMark(b.Mark), saidBlocks(b.Result)
	}
	return out
}

func saidMark(m *Mark) *Mark {
	if m == nil {
		return nil
	}
	return &Mark{TTL: m.TTL, Wire: m.Wire}
}

func saidMarks(marks []*Mark) []*Mark {
	var out []*Mark
	for _, m := range marks {
		out = append(out, saidMark(m))
	}
	return out
}

// saidRequest returns what a request says beside its messages.
func saidRequest(c *Conversation) (system []Message, tools []Tool, rest [5]any) {
	if c.System != nil {
		system = said(*c.System)
	}
	for _, t := range c.Tools {
		t.Span, t.Mark, t.Strays = Span{}, saidMark(t.Mark), saidMarks(t.Strays)
		tools = append(tools, t)
	}
	return system, tools, [5]any{c.Format, c.Bare, c.Model, saidMark(c.AutoMark), c.ThinkingOn}
}

// checkSame compares two readings of one thing.
func checkSame(t testing.TB, what string, want, got any) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("%s (-want +got):\n%s", what, cmp.Diff(want, got))
	}
}

// checkRewrite checks everything that must hold of any rewrite.
func checkRewrite(t testing.TB, r *Rewrite) {
	t.Helper()
	splices := r.Splices()
	checkSplices(t, r.c.Source, splices)
	out := r.Render()
	in, got := decode(t, r.c.Format, r.c.Source), decode(t, r.c.Format, out)
	checkMembers(t, in, got)

	applied := r.Apply()
	checkKept(t, r, applied, in, got)
	checkProgram(t, r, in, got)

	again, err := Parse(r.c.Format, out, Limits{})
	if err != nil {
		t.Fatalf("the output does not parse: %v\n%s", err, clip(out, 4000))
	}
	checkSpans(t, again)
	wantSystem, wantTools, wantRest := saidRequest(applied.Conversation)
	gotSystem, gotTools, gotRest := saidRequest(again)
	checkSame(t, "system of Apply and of the output", wantSystem, gotSystem)
	checkSame(t, "tools of Apply and of the output", wantTools, gotTools)
	checkSame(t, "request of Apply and of the output", wantRest, gotRest)
	if len(applied.Conversation.Messages) != len(again.Messages) {
		t.Fatalf("Apply has %d messages, the output %d", len(applied.Conversation.Messages), len(again.Messages))
	}
	for i := range again.Messages {
		// Most messages were kept; their bytes have been compared already.
		if from := applied.From[i]; from >= 0 && r.Message(from) == nil {
			continue
		}
		want, have := said(applied.Conversation.Messages[i]), said(again.Messages[i])
		if !reflect.DeepEqual(want, have) {
			t.Fatalf("message %d: Apply is not what parsing the output gives (-applied +parsed):\n%s\nfrom %s\nto   %s",
				i, cmp.Diff(want, have), source(r, applied.From[i]), clip(string(got.messages[i]), 1000))
		}
	}
}

func source(r *Rewrite, i int) string {
	if i < 0 {
		return "(new)"
	}
	return clip(r.c.Raw(r.c.Messages[i].Span), 1000)
}

// checkSplices checks that splices ascend, do not touch, and lie in the source.
func checkSplices(t testing.TB, src string, splices []Splice) {
	t.Helper()
	end := -1
	for _, sp := range splices {
		if sp.Offset <= end || sp.Length < 0 || sp.Offset+sp.Length > len(src) {
			t.Fatalf("splices are not ascending, apart and in range of %d bytes: %+v", len(src), splices)
		}
		if src[sp.Offset:sp.Offset+sp.Length] == sp.Text {
			t.Fatalf("a splice that changes nothing: %+v", sp)
		}
		end = sp.Offset + sp.Length
	}
}

// checkMembers checks that the request keeps all of its members, in order, and
// their bytes outside the three sections.
func checkMembers(t testing.TB, in, out request) {
	t.Helper()
	rest := func(r request) (keys []string, values []string) {
		for _, m := range r.members {
			switch m.key {
			case "cache_control":
			case "tools", "functions", "system", "messages":
				keys = append(keys, m.key)
			default:
				keys = append(keys, m.key)
				values = append(values, string(m.value))
			}
		}
		return keys, values
	}
	inKeys, inValues := rest(in)
	outKeys, outValues := rest(out)
	if !slices.Equal(inKeys, outKeys) || !slices.Equal(inValues, outValues) {
		t.Fatalf("members of the request changed: %q %q\nto %q %q", inKeys, inValues, outKeys, outValues)
	}
}

// checkKept checks that messages nobody edited leave byte for byte and in order,
// and that edited ones keep every member that no edit is about.
func checkKept(t testing.TB, r *Rewrite, applied *Applied, in, out request) {
	t.Helper()
	if len(applied.From) != len(out.messages) {
		t.Fatalf("the output has %d messages, want %d", len(out.messages), len(applied.From))
	}
	last := -1
	for i, from := range applied.From {
		if from < 0 {
			continue
		}
		if from <= last {
			t.Fatalf("message %d comes after message %d", from, last)
		}
		last = from
		if r.Message(from) == nil || !r.Changed(from) {
			if !bytes.Equal(in.messages[from], out.messages[i]) {
				t.Fatalf("message %d was kept and changed from\n%s\nto\n%s", from, in.messages[from], out.messages[i])
			}
			continue
		}
		checkForeign(t, in.messages[from], out.messages[i])
	}
	for i := range r.c.Messages {
		if kept := slices.Contains(applied.From, i); kept == r.Dropped(i) {
			t.Fatalf("message %d: kept %v, dropped %v", i, kept, r.Dropped(i))
		}
	}
}

// checkForeign compares the members of an edited message that no edit is about.
func checkForeign(t testing.TB, before, after json.RawMessage) {
	t.Helper()
	foreign := func(raw json.RawMessage) (out []string) {
		members, err := object(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members {
			switch m.key {
			case "content", "cache_control", "tool_calls", "function_call", "refusal", "reasoning", "reasoning_content":
			default:
				out = append(out, m.key+":"+string(m.value))
			}
		}
		return out
	}
	if a, b := foreign(before), foreign(after); !slices.Equal(a, b) {
		t.Fatalf("members of a message changed from\n%q\nto\n%q", a, b)
	}
}

// mark is the value of the cache_control of the request as a whole: none or one.
func (r *request) mark() []json.RawMessage {
	for _, m := range r.members {
		if m.key == "cache_control" && string(m.value) != "null" {
			return []json.RawMessage{m.value}
		}
	}
	return nil
}

// checkProgram follows the edit program over the input's elements and compares
// what comes out with the output's.
func checkProgram(t testing.TB, r *Rewrite, in, out request) {
	t.Helper()
	input := map[Section][]json.RawMessage{SectionTools: in.tools, SectionSystem: in.system, SectionMessages: in.messages, SectionBody: in.mark()}
	made := map[Section][]json.RawMessage{}
	next := map[Section]int{}
	section := SectionTools
	for _, op := range r.Program() {
		if op.Section < section {
			t.Fatalf("section %d after section %d", op.Section, section)
		}
		section = op.Section
		if op.Start != next[section] || op.End < op.Start {
			t.Fatalf("op %+v, want it to begin at %d", op, next[section])
		}
		next[section] = op.End
		switch op.Kind {
		case OpKeep:
			made[section] = append(made[section], input[section][op.Start:op.End]...)
		case OpReplace:
			if op.End != op.Start+1 || op.JSON == string(input[section][op.Start]) {
				t.Fatalf("op %+v replaces not one element, or by itself", op)
			}
			made[section] = append(made[section], json.RawMessage(op.JSON))
		case OpInsert:
			if op.End != op.Start {
				t.Fatalf("insert %+v passes an element", op)
			}
			made[section] = append(made[section], json.RawMessage(op.JSON))
		case OpDrop:
			if op.End == op.Start || op.JSON != "" {
				t.Fatalf("odd drop %+v", op)
			}
		}
	}
	want := map[Section][]json.RawMessage{SectionTools: out.tools, SectionSystem: out.system, SectionMessages: out.messages, SectionBody: out.mark()}
	if r.c.System != nil && r.c.System.Shape != ShapeList {
		// A system string that becomes a list is still one element: the whole value.
		for _, m := range out.members {
			if m.key == "system" {
				want[SectionSystem] = []json.RawMessage{m.value}
			}
		}
	}
	for _, s := range []Section{SectionTools, SectionSystem, SectionMessages, SectionBody} {
		if next[s] != len(input[s]) {
			t.Fatalf("section %d: the program covers %d of %d elements", s, next[s], len(input[s]))
		}
		if !slices.EqualFunc(made[s], want[s], func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Fatalf("section %d: the program makes\n%s\nwant\n%s", s, made[s], want[s])
		}
	}
}
