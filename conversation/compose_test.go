package conversation

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// condense decides at random what a compression decides.
func condense(c *Conversation, pick func(n int) int) *Rewrite {
	r := NewRewrite(c)
	text := func() string { return []string{"stub", "a \"b\" \\\n\u2028", "[1 line]"}[pick(3)] }
	units := Pair(c).Unit
	for i := range c.Messages {
		if pick(4) == 0 {
			r.Insert(i, NewMessage{Role: RoleUser, Text: text()})
		}
		if pick(3) == 0 {
			r.Drop(i)
			continue
		}
		for b := range c.Messages[i].Blocks {
			ref := Ref{i, b}
			switch block := c.At(ref); {
			case block.Kind == KindToolResult && pick(2) == 0:
				r.SetText(ref, text())
			case block.Kind == KindToolUse:
				switch pick(3) {
				case 0:
					r.SetInput(ref, `{"a":1}`)
				case 1:
					end := i + 1
					for end < len(units) && units[end] == units[i] {
						end++
					}
					r.AddResult(ref, end, text())
				}
			case pick(5) == 0:
				r.DropBlock(ref)
			}
		}
		if pick(6) == 0 {
			r.AppendText(i, text())
		}
	}
	if pick(2) == 0 {
		r.Insert(len(c.Messages), NewMessage{Role: RoleUser, Text: text()})
	}
	if c.System != nil && pick(3) == 0 {
		r.AppendSystemText(text())
	}
	return r
}

// compacted is JSON without the white space between its parts: where two rewrites
// take out neighbours, one of both leaves other white space.
func compacted(t *testing.T, src string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(src)); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return b.String()
}

func TestTwoRewritesJoinIntoOne(t *testing.T) {
	joins, tries := 0, 0
	for _, format := range []Format{FormatOpenAIChat, FormatAnthropicMessages} {
		for seed := range uint64(3000) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			g := generator{format: format, pick: rnd.IntN}
			c, err := Parse(format, g.request(), Limits{})
			if err != nil {
				continue
			}
			first := condense(c, rnd.IntN)
			middle, err := Parse(format, first.Render(), Limits{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			second := condense(middle, rnd.IntN)
			before := first.Render()
			joined, ok := first.Then(second)
			if first.Render() != before {
				t.Fatalf("seed %d: joining changed the first rewrite", seed)
			}
			if tries++; !ok {
				continue
			}
			joins++
			want, got := compacted(t, second.Render()), compacted(t, joined.Render())
			if got != want {
				t.Fatalf("%s, seed %d:\nsource  %s\nmiddle  %s\nwant    %s\njoined  %s", format, seed, c.Source, middle.Source, want, got)
			}
			checkReplay(t, joined)
		}
	}
	if joins < tries/3 {
		t.Errorf("only %d of %d pairs could be joined", joins, tries)
	}
}

// checkReplay stores a rewrite and makes it again.
func checkReplay(t *testing.T, r *Rewrite) {
	t.Helper()
	rec, ok := r.Record()
	if !ok {
		t.Fatal("a rewrite of that kind can be recorded")
	}
	data, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	var back Record
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	again, err := back.Replay(r.c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Render(), again.Render()); diff != "" {
		t.Fatalf("replayed (-want +got):\n%s", diff)
	}
}

func TestWhatHasNoSingleRewriteIsNotJoined(t *testing.T) {
	c, err := Parse(FormatOpenAIChat, `[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	first := NewRewrite(c)
	first.Insert(1, NewMessage{Role: RoleUser, Text: "new"})
	middle, err := Parse(FormatOpenAIChat, first.Render(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(r *Rewrite){
		"text in a new message":  func(r *Rewrite) { r.SetText(Ref{Message: 1}, "other") },
		"a breakpoint":           func(r *Rewrite) { r.MarkBlock(Ref{}, "") },
		"breakpoints taken away": func(r *Rewrite) { r.UnmarkMessage(0) },
		"the automatic mark":     func(r *Rewrite) { r.UnmarkAuto() },
	} {
		second := NewRewrite(middle)
		change(second)
		if _, ok := first.Then(second); ok {
			t.Errorf("%s: joined", name)
		}
		if _, ok := second.Record(); ok && name != "text in a new message" {
			t.Errorf("%s: recorded", name)
		}
	}
}

func TestARecordThatDoesNotFitIsRefused(t *testing.T) {
	c, err := Parse(FormatOpenAIChat, `[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	bad := "{"
	for name, rec := range map[string]Record{
		"dropped beyond the end": {Drop: [][2]int{{1, 3}}},
		"negative":               {Drop: [][2]int{{-1, 1}}},
		"changed beyond the end": {Edits: []RecordedEdit{{Message: 2}}},
		"changed and dropped":    {Drop: [][2]int{{0, 1}}, Edits: []RecordedEdit{{Message: 0}}},
		"no such block":          {Edits: []RecordedEdit{{Message: 0, Blocks: []RecordedBlock{{Block: 1}}}}},
		"arguments are no JSON":  {Edits: []RecordedEdit{{Message: 0, Blocks: []RecordedBlock{{Input: &bad}}}}},
		"new beyond the end":     {Inserts: []RecordedInsert{{Before: 3}}},
		"no system prompt":       {System: "x"},
	} {
		if _, err := rec.Replay(c); err == nil {
			t.Errorf("%s: replayed", name)
		}
	}
}

func TestAMessageSaysTheSameWhereverItStandsAndHoweverItIsMarked(t *testing.T) {
	content := func(list string) string {
		t.Helper()
		c, err := Parse(FormatAnthropicMessages, list, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		c.Messages[len(c.Messages)-1].WriteContent(&b)
		return b.String()
	}
	plain := content(`[{"role":"user","content":"hi"}]`)
	for _, same := range []string{
		`[{"role":"assistant","content":"x"}, { "content" : "hi", "role":"user" }]`,
		`[{"role":"user","content":[{"type":"text","text":"hi"}]}]`,
		`[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]`,
		`[{"role":"user","content":"\u0068i"}]`,
	} {
		if got := content(same); got != plain {
			t.Errorf("%s says %q, want %q", same, got, plain)
		}
	}
	found := content(`[{"role":"user","content":[{"type":"search_result","title":"a","content":[{"type":"text","text":"x"}]}]}]`)
	for _, same := range []string{
		`[{"role":"user","content":[{"type":"search_result","title":"a","content":[{"type":"text","text":"x"}],"cache_control":{"type":"ephemeral","ttl":"1h"}}]}]`,
		`[{"role":"user","content":[{"type":"search_result","cache_control":null,"title":"a","content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"x"}]}]}]`,
	} {
		if got := content(same); got != found {
			t.Errorf("%s says %q, want %q", same, got, found)
		}
	}
	seen := map[string]string{plain: "hi", found: "found"}
	for _, other := range []string{
		`[{"role":"assistant","content":"hi"}]`,
		`[{"role":"user","content":"hi "}]`,
		`[{"role":"user","content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]}]`,
		`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"hi"}]}]`,
		`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"hi"}]}]`,
		`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"hi","is_error":true}]}]`,
		`[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"a":1}}]}]`,
		`[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"a":2}}]}]`,
		`[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]`,
		`[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAB"}}]}]`,
		`[{"role":"user","content":[{"type":"later","x":1}]}]`,
		`[{"role":"user","content":[{"type":"later","x":2}]}]`,
		`[{"role":"user","content":[{"type":"later","x":"2"}]}]`,
		`[{"role":"user","content":[{"type":"later","x":[2]}]}]`,
		`[{"role":"user","content":[{"type":"search_result","title":"b","content":[{"type":"text","text":"x"}],"cache_control":{"type":"ephemeral"}}]}]`,
		`[{"role":"assistant","content":[{"type":"mcp_tool_result","tool_use_id":"m","content":[{"type":"text","text":"ALPHA"}]}]}]`,
		`[{"role":"assistant","content":[{"type":"mcp_tool_result","tool_use_id":"m","content":[{"type":"text","text":"BETA"}]}]}]`,
		`[{"role":"assistant","content":[{"type":"mcp_tool_result","tool_use_id":"m","is_error":true,"content":[{"type":"text","text":"BETA"}]}]}]`,
		`[{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"w","content":[{"type":"web_search_result","url":"u","title":"t"}]}]}]`,
		`[{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"w","content":[{"type":"web_search_result","url":"u","title":"s"}]}]}]`,
	} {
		got := content(other)
		if same, dup := seen[got]; dup {
			t.Errorf("%s and %s say the same", other, same)
		}
		seen[got] = other
	}
}
