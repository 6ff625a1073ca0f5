package conversation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
)

func TestChainSplicesJoinsWhatTouches(t *testing.T) {
	const source = "0123456789"
	for _, c := range []struct {
		name          string
		first, second []conversation.Splice
		want          []conversation.Splice
	}{
		{"nothing and nothing", nil, nil, nil},
		{"only the first", []conversation.Splice{{2, 1, "x"}}, nil, []conversation.Splice{{2, 1, "x"}}},
		{"only the second", nil, []conversation.Splice{{2, 1, "x"}}, []conversation.Splice{{2, 1, "x"}}},
		{
			"apart, the second one's offset counts the first one's growth",
			[]conversation.Splice{{2, 1, "abc"}}, // 01abc3456789
			[]conversation.Splice{{8, 2, ""}},    // 01abc34589
			[]conversation.Splice{{2, 1, "abc"}, {6, 2, ""}},
		},
		{
			"inside new text",
			[]conversation.Splice{{2, 1, "abc"}},
			[]conversation.Splice{{3, 1, "-"}},
			[]conversation.Splice{{2, 1, "a-c"}},
		},
		{
			"over the edge of new text",
			[]conversation.Splice{{2, 1, "abc"}},
			[]conversation.Splice{{4, 3, "-"}}, // c34
			[]conversation.Splice{{2, 3, "ab-"}},
		},
		{
			"new text taken away again",
			[]conversation.Splice{{2, 0, "abc"}},
			[]conversation.Splice{{2, 3, ""}},
			nil,
		},
		{
			"over several",
			[]conversation.Splice{{1, 1, "a"}, {3, 2, ""}, {7, 0, "bb"}}, // 0a256bb789
			[]conversation.Splice{{1, 6, "-"}},
			[]conversation.Splice{{1, 6, "-"}},
		},
		{
			"at both ends",
			[]conversation.Splice{{0, 0, "<"}, {10, 0, ">"}},
			[]conversation.Splice{{0, 0, "("}, {12, 0, ")"}},
			[]conversation.Splice{{0, 0, "(<"}, {10, 0, ">)"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := conversation.ChainSplices(c.first, c.second)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ChainSplices (-want +got):\n%s", diff)
			}
			checkChain(t, source, c.first, c.second)
		})
	}
}

// checkChain compares two steps with the one that joins them.
func checkChain(t *testing.T, source string, first, second []conversation.Splice) {
	t.Helper()
	joined := conversation.ChainSplices(first, second)
	want := conversation.ApplySplices(conversation.ApplySplices(source, first), second)
	end := -1
	for _, sp := range joined {
		if sp.Offset <= end || sp.Length < 0 || sp.Offset+sp.Length > len(source) {
			t.Fatalf("splices are not ascending, disjoint and inside the source: %v", joined)
		}
		end = sp.Offset + sp.Length
	}
	if got := conversation.ApplySplices(source, joined); got != want {
		t.Fatalf("the joined splices give\n%s\nwant\n%s", got, want)
	}
}

func TestChainSplicesOfRandomEdits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	edits := func(size int) []conversation.Splice {
		var out []conversation.Splice
		for at := rnd.IntN(4); at <= size; at += 1 + rnd.IntN(6) {
			length := min(rnd.IntN(4), size-at)
			out = append(out, conversation.Splice{Offset: at, Length: length, Text: strings.Repeat(string(rune('a'+rnd.IntN(26))), rnd.IntN(4))})
			at += length
		}
		return out
	}
	for range 3000 {
		source := "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:rnd.IntN(37)]
		first := edits(len(source))
		second := edits(len(conversation.ApplySplices(source, first)))
		checkChain(t, source, first, second)
	}
}

// chainEdits reads splices of a text of the given size from fuzzed bytes: three
// bytes each for the distance from the one before, the length and the text.
func chainEdits(data []byte, size int) []conversation.Splice {
	var out []conversation.Splice
	at := 0
	for ; len(data) >= 3; data = data[3:] {
		if len(out) > 0 {
			at++ // splices that touch are one splice
		}
		at += int(data[0] % 8)
		if at > size {
			break
		}
		length := min(int(data[1]%5), size-at)
		out = append(out, conversation.Splice{Offset: at, Length: length, Text: strings.Repeat(string(rune('a'+data[2]%26)), int(data[2]%4))})
		at += length
	}
	return out
}

func FuzzChainSplices(f *testing.F) {
	f.Add("0123456789", []byte{2, 1, 3, 4, 2, 0}, []byte{0, 4, 1, 2, 2, 2, 7, 0, 3})
	f.Add("", []byte{0, 0, 3}, []byte{1, 1, 0})
	f.Add("héllo wörld", []byte{0, 4, 2, 0, 4, 2}, []byte{5, 4, 0})
	f.Fuzz(func(t *testing.T, source string, a, b []byte) {
		first := chainEdits(a, len(source))
		checkChain(t, source, first, chainEdits(b, len(conversation.ApplySplices(source, first))))
	})
}

// chainBodies are request bodies with every kind of content that a rewrite edits.
var chainBodies = []struct {
	format conversation.Format
	json   string
}{
	{conversation.FormatAnthropicMessages, `{"model":"claude","system":[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}],
 "tools":[{"name":"a","input_schema":{}},{"name":"b","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],
 "messages":[{"role":"user","content":"hi"},
  {"role":"assistant","content":[{"type":"text","text":"looking"},{"type":"tool_use","id":"t1","name":"a","input":{"p":"x"}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"found"},{"type":"text","text":"go on"}]},
  {"role":"assistant","content":"ok"},{"role":"user","content":[{"type":"text","text":"thanks"},{"type":"text","text":"bye"}]}]}`},
	{conversation.FormatAnthropicMessages, `{"system":"be brief","messages":[{"role":"user","content":"1"} , {"role":"assistant","content":"2"},{"content":"3","role":"user"}]}`},
	{conversation.FormatOpenAIChat, `{"model":"gpt","messages":[{"role":"system","content":"sys"},{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"there"}]},
  {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},
  {"role":"tool","tool_call_id":"c1","content":"out"},{"role":"assistant","content":"done"},{"role":"user","content":"more"}],"tools":[{"type":"function","function":{"name":"f"}}]}`},
	{conversation.FormatOpenAIChat, `[ {"role":"user","content":"a"}, {"role":"assistant","content":"b"} ]`},
	{conversation.FormatOpenAIChat, `{"messages":[]}`},
}

// chainRewrite decides something at random. A system string is marked only where
// markSystemString is set.
func chainRewrite(rnd *rand.Rand, c *conversation.Conversation, markSystemString bool) *conversation.Rewrite {
	r := conversation.NewRewrite(c)
	text := func() string { return fmt.Sprintf("new \"%d\"\n", rnd.IntN(100)) }
	ttl := []string{"", "1h"}
	for i := range c.Messages {
		m := &c.Messages[i]
		if rnd.IntN(4) == 0 {
			r.Insert(i, conversation.NewMessage{Role: conversation.RoleUser, Text: text()})
		}
		if rnd.IntN(4) == 0 {
			r.Drop(i)
			continue
		}
		rewritten := false
		for b := range m.Blocks {
			ref := conversation.Ref{Message: i, Block: b}
			block := &m.Blocks[b]
			switch n := rnd.IntN(7); {
			case n == 0 && (block.Kind == conversation.KindText || block.Kind == conversation.KindToolResult):
				r.SetText(ref, text())
				rewritten = true
			case n == 1 && block.Kind == conversation.KindToolUse:
				r.SetInput(ref, `{"n":1}`)
			case n == 2 && block.Site == conversation.SiteContent && block.Mark == nil:
				r.MarkBlock(ref, ttl[rnd.IntN(2)])
			case n == 3 && block.Mark != nil:
				r.UnmarkBlock(ref)
			case n == 4 && block.Site == conversation.SiteContent && len(m.Blocks) > 1 && b > 0:
				r.DropBlock(ref)
			}
		}
		if !rewritten && rnd.IntN(8) == 0 && (m.Shape == conversation.ShapeList || m.Shape == conversation.ShapeString) && m.Role != conversation.RoleTool {
			r.AppendText(i, text())
		}
	}
	if rnd.IntN(3) == 0 {
		r.Insert(len(c.Messages), conversation.NewMessage{Role: conversation.RoleAssistant, Text: text()})
	}
	for i := range c.Tools {
		switch rnd.IntN(4) {
		case 0:
			r.MarkTool(i, ttl[rnd.IntN(2)])
		case 1:
			r.UnmarkTool(i)
		}
	}
	switch rnd.IntN(4) {
	case 0:
		r.MarkAuto(ttl[rnd.IntN(2)])
	case 1:
		r.UnmarkAuto()
	}
	if c.System != nil {
		switch rnd.IntN(4) {
		case 0:
			r.AppendSystemText(text())
		case 1:
			if markSystemString || c.System.Shape == conversation.ShapeList {
				r.MarkSystem(len(c.System.Blocks)-1, ttl[rnd.IntN(2)])
			}
		}
	}
	return r
}

// chainElements lists the elements of every section as JSON.
func chainElements(c *conversation.Conversation) map[conversation.Section][]string {
	out := map[conversation.Section][]string{}
	for i := range c.Tools {
		out[conversation.SectionTools] = append(out[conversation.SectionTools], c.Raw(c.Tools[i].Span))
	}
	if c.System != nil {
		spans := []conversation.Span{c.System.Span}
		if c.System.Shape == conversation.ShapeList {
			spans = nil
			for i := range c.System.Blocks {
				spans = append(spans, c.System.Blocks[i].Span)
			}
		}
		for _, s := range spans {
			out[conversation.SectionSystem] = append(out[conversation.SectionSystem], c.Raw(s))
		}
	}
	for i := range c.Messages {
		out[conversation.SectionMessages] = append(out[conversation.SectionMessages], c.Raw(c.Messages[i].Span))
	}
	if c.AutoMark != nil {
		out[conversation.SectionBody] = []string{c.Raw(c.AutoMark.Value)}
	}
	return out
}

// chainFollow follows a program over the input's elements, and fails the test if
// it does not pass each of them exactly once and in order.
func chainFollow(t *testing.T, in map[conversation.Section][]string, ops []conversation.Op) map[conversation.Section][]string {
	t.Helper()
	out := map[conversation.Section][]string{}
	at := map[conversation.Section]int{}
	for _, op := range ops {
		s := op.Section
		if op.Kind != conversation.OpInsert {
			if op.Start != at[s] {
				t.Fatalf("op %+v: the next element is %d\n%+v", op, at[s], ops)
			}
			at[s] = op.End
		}
		switch op.Kind {
		case conversation.OpKeep:
			out[s] = append(out[s], in[s][op.Start:op.End]...)
		case conversation.OpReplace, conversation.OpInsert:
			out[s] = append(out[s], op.JSON)
		}
	}
	for s, n := range at {
		if n != len(in[s]) {
			t.Fatalf("section %d: the program ends at element %d of %d\n%+v", s, n, len(in[s]), ops)
		}
	}
	return out
}

func TestChainLeadsFromTheFirstInputToTheLastOutput(t *testing.T) {
	for k, body := range chainBodies {
		t.Run(fmt.Sprint("body ", k), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(7, uint64(k)))
			for range 500 {
				source := chainParse(t, body.format, body.json)
				first := chainRewrite(rnd, source, false)
				middle := chainParse(t, body.format, first.Render())
				second := chainRewrite(rnd, middle, true)
				last := chainParse(t, body.format, second.Render())

				checkChain(t, source.Source, first.Splices(), second.Splices())
				program := conversation.ChainPrograms(first.Program(), second.Program())
				got := chainFollow(t, chainElements(source), program)
				want := chainElements(last)
				// A system string that was marked became a list of one block; its program
				// replaces the whole value.
				if source.System != nil && source.System.Shape == conversation.ShapeString {
					want[conversation.SectionSystem] = []string{last.Raw(last.System.Span)}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("following the joined program (-want +got):\n%s\nsource: %s\nmiddle: %s", diff, source.Source, middle.Source)
				}
			}
		})
	}
}

func TestChainProgramsKeepsRunsTogether(t *testing.T) {
	keep := func(start, end int) conversation.Op {
		return conversation.Op{Section: conversation.SectionMessages, Kind: conversation.OpKeep, Start: start, End: end}
	}
	drop := func(start, end int) conversation.Op {
		return conversation.Op{Section: conversation.SectionMessages, Kind: conversation.OpDrop, Start: start, End: end}
	}
	insert := func(at int, json string) conversation.Op {
		return conversation.Op{Section: conversation.SectionMessages, Kind: conversation.OpInsert, Start: at, End: at, JSON: json}
	}
	replace := func(at int, json string) conversation.Op {
		return conversation.Op{Section: conversation.SectionMessages, Kind: conversation.OpReplace, Start: at, End: at + 1, JSON: json}
	}
	first := []conversation.Op{keep(0, 2), insert(2, "summary"), drop(2, 8), keep(8, 12)}
	second := []conversation.Op{keep(0, 2), replace(2, "marked summary"), keep(3, 6), replace(6, "marked last")}
	want := []conversation.Op{keep(0, 2), insert(2, "marked summary"), drop(2, 8), keep(8, 11), replace(11, "marked last")}
	if diff := cmp.Diff(want, conversation.ChainPrograms(first, second)); diff != "" {
		t.Errorf("ChainPrograms (-want +got):\n%s", diff)
	}
}

func chainParse(t *testing.T, format conversation.Format, src string) *conversation.Conversation {
	t.Helper()
	c, err := conversation.Parse(format, src, conversation.Limits{})
	if err != nil {
		t.Fatalf("parse %s: %v", src, err)
	}
	return c
}
