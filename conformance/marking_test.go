package conformance

import (
	"strings"
	"testing"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

func mark(section pb.Section, index int32, ttl pb.CacheTtl) *pb.Breakpoint {
	return &pb.Breakpoint{Section: section, MessageIndex: index, Ttl: ttl}
}

const (
	inMessages = pb.Section_SECTION_MESSAGES
	inSystem   = pb.Section_SECTION_SYSTEM
	fiveMin    = pb.CacheTtl_CACHE_TTL_5M
)

const unmarkedBody = `{"model":"claude","system":"You help.","tools":[{"name":"look","input_schema":{"cache_control":{"type":"object"}}}],"messages":[` +
	`{"role":"user","content":"hi"},` +
	`{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"text","text":"ho"},{"type":"tool_use","id":"t","name":"look","input":{"b":1.0,"a":2}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}]}]}]}`

const markedBody = `{"model":"claude","system":[{"type":"text","text":"You help.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"look","input_schema":{"cache_control":{"type":"object"}}}],"messages":[` +
	`{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]},` +
	`{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"text","text":"ho"},{"type":"tool_use","id":"t","name":"look","input":{"b":1.0,"a":2},"cache_control":{"type":"ephemeral"}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"r"}],"cache_control":{"type":"ephemeral"}}]}]}`

func fourMarks() []*pb.Breakpoint {
	return []*pb.Breakpoint{mark(inSystem, 0, fiveMin), mark(inMessages, 0, fiveMin), mark(inMessages, 1, fiveMin), mark(inMessages, 2, fiveMin)}
}

func checkMarking(t *testing.T, d Dialect, in, out string, reported []*pb.Breakpoint) []Violation {
	t.Helper()
	a, err := Read(d, []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Read(d, []byte(out))
	if err != nil {
		t.Fatal(err)
	}
	return (&Marking{Input: a, Output: b, Breakpoints: reported}).Check()
}

func TestMarkingAcceptsLegalMarks(t *testing.T) {
	if got := checkMarking(t, Anthropic, unmarkedBody, markedBody, fourMarks()); len(got) > 0 {
		t.Error(got)
	}
	in := `[{"role":"system","content":"s"},{"role":"tool","tool_call_id":"c","content":"r"}]`
	out := `[{"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}]}]`
	if got := checkMarking(t, OpenAI, in, out, []*pb.Breakpoint{mark(inSystem, 0, fiveMin), mark(inMessages, 1, fiveMin)}); len(got) > 0 {
		t.Error(got)
	}
}

func TestMarkingFindsEveryBrokenPromise(t *testing.T) {
	const ephemeral = `"cache_control":{"type":"ephemeral"}`
	tests := []struct {
		name, old, with string
	}{
		{"a fifth mark", `{"type":"text","text":"ho"}`, `{"type":"text","text":"ho",` + ephemeral + `}`},
		{"a mark on a tool beside four", `"name":"look","input_schema"`, `"name":"look",` + ephemeral + `,"input_schema"`},
		{"a fifth mark in OpenAI's spelling", `{"type":"text","text":"ho"}`, `{"type":"text","text":"ho","prompt_cache_breakpoint":{"mode":"explicit"}}`},
		{"an automatic mark beside four", `{"model":"claude",`, `{"model":"claude",` + ephemeral + `,`},
		{"a mark on thinking", `"signature":"s"}`, `"signature":"s",` + ephemeral + `}`},
		{"a mark inside a tool result", `{"type":"text","text":"r"}`, `{"type":"text","text":"r",` + ephemeral + `}`},
		{"a mark on a message", `{"role":"user","content":[{"type":"tool`, `{"role":"user",` + ephemeral + `,"content":[{"type":"tool`},
		{"one hour after five minutes", `"content":[{"type":"text","text":"r"}],` + ephemeral, `"content":[{"type":"text","text":"r"}],"cache_control":{"type":"ephemeral","ttl":"1h"}`},
		{"a mark not reported", `"a":2},` + ephemeral, `"a":2}`},
		{"a text changed", `"text":"hi"`, `"text":"hi "`},
		{"keys of arguments re-ordered", `{"b":1.0,"a":2}`, `{"a":2,"b":1.0}`},
		{"a number spelled anew", `{"b":1.0,"a":2}`, `{"b":1,"a":2}`},
		{"keys of a block re-ordered", `"tool_use_id":"t","content":[{"type":"text","text":"r"}]`, `"content":[{"type":"text","text":"r"}],"tool_use_id":"t"`},
		{"a schema's own property lost", `{"cache_control":{"type":"object"}}`, `{}`},
		{"a field of the body changed", `"model":"claude"`, `"model":"Claude"`},
		{"white space between messages", `]},{"role":"assistant"`, `]}, {"role":"assistant"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(markedBody, test.old) {
				t.Fatalf("%q is not in the body", test.old)
			}
			out := strings.Replace(markedBody, test.old, test.with, 1)
			got := checkMarking(t, Anthropic, unmarkedBody, out, fourMarks())
			if len(got) == 0 || got[0].Rule != RuleMarks {
				t.Errorf("want a violation of %s, got %v", RuleMarks, got)
			}
		})
	}
	t.Run("a mark on a blank text", func(t *testing.T) {
		in, out := `[{"role":"user","content":[{"type":"text","text":" "}]}]`, `[{"role":"user","content":[{"type":"text","text":" ",`+ephemeral+`}]}]`
		if got := checkMarking(t, Anthropic, in, out, []*pb.Breakpoint{mark(inMessages, 0, fiveMin)}); len(got) == 0 {
			t.Error("no violation")
		}
	})
	t.Run("a tool message marked at its top", func(t *testing.T) {
		in, out := `[{"role":"tool","tool_call_id":"c","content":"r"}]`, `[{"role":"tool","tool_call_id":"c","content":"r",`+ephemeral+`}]`
		if got := checkMarking(t, OpenAI, in, out, []*pb.Breakpoint{mark(inMessages, 0, fiveMin)}); len(got) == 0 {
			t.Error("no violation")
		}
	})
}

func TestSameUnmarkedReadsAListOfOneTextAsItsString(t *testing.T) {
	a, b := mustRead(t, Anthropic, unmarkedBody), mustRead(t, Anthropic, markedBody)
	if why := SameUnmarked(a, b); why != "" {
		t.Error(why)
	}
	other := mustRead(t, Anthropic, strings.Replace(markedBody, `"ho"`, `"oh"`, 1))
	if SameUnmarked(a, other) == "" {
		t.Error("another text counts as the same")
	}
}

func mustRead(t *testing.T, d Dialect, raw string) *Transcript {
	t.Helper()
	out, err := Read(d, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func native(format pb.Format, json string) *pb.Conversation {
	return &pb.Conversation{Native: &pb.NativeRequest{Format: format, Body: &pb.NativeRequest_Json{Json: json}}}
}

func keep(section pb.Section, start, end int32) *pb.Edit {
	return &pb.Edit{Section: section, Op: &pb.Edit_Keep{Keep: &pb.KeepEdit{Start: start, End: end}}}
}

func TestEditsFindsEveryBrokenProgram(t *testing.T) {
	in := `{"system":"s","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"user","content":"é"}]}`
	out := `{"system":"s!","messages":[{"role":"user","content":"a"},{"role":"user","content":"new"},{"role":"user","content":"é"}]}`
	legal := func() *Edits {
		at := int64(strings.Index(in, `{"role":"user","content":"b"}`))
		return &Edits{
			Input: native(pb.Format_FORMAT_ANTHROPIC_MESSAGES, in), Full: native(pb.Format_FORMAT_ANTHROPIC_MESSAGES, out),
			Before: mustRead(t, Anthropic, in), After: mustRead(t, Anthropic, out),
			Splices: []*pb.Splice{{Offset: 10, Length: 3, Text: `"s!"`}, {Offset: at, Length: 29, Text: `{"role":"user","content":"new"}`}},
			Edits: []*pb.Edit{
				{Section: inSystem, Op: &pb.Edit_Replace{Replace: &pb.ReplaceEdit{Index: 0, Element: &pb.ReplaceEdit_Json{Json: `"s!"`}}}},
				keep(inMessages, 0, 1),
				{Section: inMessages, Op: &pb.Edit_Insert{Insert: &pb.InsertEdit{Element: &pb.InsertEdit_Json{Json: `{"role":"user","content":"new"}`}}}},
				{Section: inMessages, Op: &pb.Edit_Drop{Drop: &pb.DropEdit{Start: 1, End: 2}}},
				keep(inMessages, 2, 3),
			},
		}
	}
	if got := legal().Check(); len(got) > 0 {
		t.Fatal(got)
	}
	tests := []struct {
		name string
		with func(*Edits)
	}{
		{"an element covered twice", func(e *Edits) { e.Edits[1] = keep(inMessages, 0, 2) }},
		{"an element not covered", func(e *Edits) { e.Edits = e.Edits[:4] }},
		{"another element inserted", func(e *Edits) {
			e.Edits[2].GetInsert().Element = &pb.InsertEdit_Json{Json: `{"role":"user","content":"old"}`}
		}},
		{"the system prompt left out", func(e *Edits) { e.Edits = e.Edits[1:] }},
		{"a splice one byte off", func(e *Edits) { e.Splices[1].Offset-- }},
		{"splices in the wrong order", func(e *Edits) { e.Splices[0], e.Splices[1] = e.Splices[1], e.Splices[0] }},
		{"a splice behind the end", func(e *Edits) { e.Splices[1].Length = 1000 }},
		{"a conversation beside them", func(e *Edits) { e.Carried = e.Full }},
		{"edits where nothing changed", func(e *Edits) { e.Full = e.Input }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := legal()
			test.with(e)
			if len(e.Check()) == 0 {
				t.Error("no violation")
			}
		})
	}
}
