package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/testdata"
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

// decide makes a rewrite out of choices: pick(n) is one of 0 to n-1, and 0 means
// to leave the thing alone. rare is how seldom something is done: 1 in rare.
func decide(c *Conversation, rare int, pick func(n int) int) *Rewrite {
	r := NewRewrite(c)
	text := func() string {
		return []string{"", "stub", "a \"quoted\" \\ line\n\x00\u2028 \U0001F600", " \t", "[1 line]"}[pick(5)]
	}
	ttl := func() string { return []string{"", "1h", "5m"}[pick(3)] }
	input := func() string { return []string{`{"a":1}`, `{}`, `{"path":"x\ny"}`}[pick(3)] }
	message := func() NewMessage {
		switch pick(4) {
		case 1:
			return NewMessage{Role: RoleAssistant, Text: text()}
		case 2:
			return NewMessage{Result: &NewResult{ID: "new\"1", Text: text()}}
		case 3:
			return NewMessage{Result: &NewResult{ID: "x", Name: "f", Text: text(), Legacy: true}}
		default:
			return NewMessage{Role: RoleUser, Text: text()}
		}
	}
	units := Pair(c).Unit
	for i := range c.Messages {
		m := &c.Messages[i]
		if pick(rare) == 1 {
			r.Insert(i, message())
		}
		switch pick(8 * rare) {
		case 1, 2, 3, 4, 5:
			r.Drop(i)
		case 6:
			r.AppendText(i, text())
		case 7:
			r.UnmarkMessage(i)
		}
		for b := range m.Blocks {
			decideBlock(r, Ref{i, b}, rare, pick, text, ttl, input)
			if m.Blocks[b].Kind == KindToolUse && pick(rare) == 1 {
				end := i + 1
				for end < len(units) && units[end] == units[i] {
					end++
				}
				if !r.Dropped(i) {
					r.AddResult(Ref{i, b}, end, text())
				}
			}
		}
	}
	if pick(rare) == 1 {
		r.Insert(len(c.Messages), message())
	}
	for i := range c.Tools {
		switch pick(2 * rare) {
		case 1:
			r.MarkTool(i, ttl())
		case 2:
			r.UnmarkTool(i)
		}
	}
	if c.System != nil {
		for i := range c.System.Blocks {
			switch pick(2 * rare) {
			case 1:
				r.MarkSystem(i, ttl())
			case 2:
				r.UnmarkSystem(i)
			}
		}
		switch pick(2 * rare) {
		case 1:
			r.AppendSystemText(text())
		case 2:
			r.UnmarkSystemStrays()
		}
	}
	if pick(rare) == 1 {
		r.UnmarkAuto()
	}
	return r
}

func decideBlock(r *Rewrite, ref Ref, rare int, pick func(int) int, text, ttl, input func() string) {
	for range 2 {
		switch pick(8 * rare) {
		case 1:
			r.DropBlock(ref)
		case 2, 3:
			r.SetText(ref, text())
		case 4:
			r.SetInput(ref, input())
		case 5:
			r.MarkBlock(ref, ttl())
		case 6:
			r.UnmarkBlock(ref)
		case 7:
			if n := len(r.c.At(ref).Result); n > 0 {
				r.MarkPart(ref, pick(n), ttl())
			}
		case 8:
			if n := len(r.c.At(ref).Result); n > 0 {
				r.UnmarkPart(ref, pick(n))
			}
		}
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

// checkSpans checks with encoding/json that every span of a conversation is what
// it claims to be.
func checkSpans(t testing.TB, c *Conversation) {
	t.Helper()
	for i := range c.Messages {
		checkMessageSpans(t, c, &c.Messages[i], fmt.Sprint("message ", i))
	}
	if c.System != nil {
		checkMessageSpans(t, c, c.System, "system")
	}
	for i := range c.Tools {
		tool := &c.Tools[i]
		if tool.Raw != c.Raw(tool.Span) || !json.Valid([]byte(tool.Raw)) {
			t.Fatalf("tool %d: raw %q at %v", i, tool.Raw, tool.Span)
		}
		checkMark(t, c, tool.Mark, tool.Span)
	}
	checkMark(t, c, c.AutoMark, Span{0, len(c.Source)})
}

func checkMessageSpans(t testing.TB, c *Conversation, m *Message, name string) {
	t.Helper()
	if !json.Valid([]byte(c.Raw(m.Span))) {
		t.Fatalf("%s: span %v is not a JSON value: %q", name, m.Span, c.Raw(m.Span))
	}
	if (m.Shape == ShapeAbsent) != (m.Content == Span{}) {
		t.Fatalf("%s: shape %d, content %v", name, m.Shape, m.Content)
	}
	checkMark(t, c, m.Mark, m.Span)
	for _, s := range m.Strays {
		checkMark(t, c, s, m.Span)
	}
	for i := range m.Blocks {
		checkBlockSpans(t, c, &m.Blocks[i], m.Span, fmt.Sprint(name, ", block ", i))
	}
}

func checkBlockSpans(t testing.TB, c *Conversation, b *Block, within Span, name string) {
	t.Helper()
	if b.Span.Start < within.Start || b.Span.End > within.End || !json.Valid([]byte(c.Raw(b.Span))) {
		t.Fatalf("%s: span %v inside %v is %q", name, b.Span, within, c.Raw(b.Span))
	}
	if b.TextSpan != (Span{}) {
		var text string
		if err := json.Unmarshal([]byte(c.Raw(b.TextSpan)), &text); err != nil || text != b.Text {
			t.Fatalf("%s: text %q, its span holds %s: %v", name, b.Text, c.Raw(b.TextSpan), err)
		}
	}
	if b.Raw != "" && b.Raw != c.Raw(b.Span) {
		t.Fatalf("%s: raw %q, its span holds %q", name, b.Raw, c.Raw(b.Span))
	}
	switch raw := c.Raw(b.InputSpan); b.InputShape {
	case ShapeString:
		var text string
		if err := json.Unmarshal([]byte(raw), &text); err != nil || text != b.Input {
			t.Fatalf("%s: input %q, its span holds %s: %v", name, b.Input, raw, err)
		}
	case ShapeOther:
		if raw != b.Input || !json.Valid([]byte(raw)) {
			t.Fatalf("%s: input %q, its span holds %q", name, b.Input, raw)
		}
	case ShapeNull:
		if raw != "null" || b.Input != "" {
			t.Fatalf("%s: input %q, its span holds %q", name, b.Input, raw)
		}
	}
	checkMark(t, c, b.Mark, b.Span)
	for i := range b.Result {
		checkBlockSpans(t, c, &b.Result[i], b.ResultSpan, fmt.Sprint(name, ", part ", i))
	}
}

// checkMark checks that a mark's member is a cache_control with one comma to spare
// and that the JSON stays valid without it.
func checkMark(t testing.TB, c *Conversation, m *Mark, within Span) {
	t.Helper()
	if m == nil {
		return
	}
	if m.Member.Start < within.Start || m.Member.End > within.End {
		t.Fatalf("mark %+v is not in %v", m, within)
	}
	what := "{" + strings.Trim(c.Raw(m.Member), ", \t\r\n") + "}"
	members, err := object([]byte(what))
	if err != nil || len(members) != 1 || members[0].key != m.Wire.Key() || string(members[0].value) != c.Raw(m.Value) {
		t.Fatalf("the member of mark %+v is %s: %v", m, what, err)
	}
	if after := c.spliced(within, []Splice{cut(m.Member)}); !json.Valid([]byte(after)) {
		t.Fatalf("without its mark\n%s\nis\n%s", c.Raw(within), after)
	}
}

func TestAnEmptyRewriteGivesTheInputBack(t *testing.T) {
	inputs := forms(t)
	for _, f := range testdata.Conversations(t) {
		inputs = append(inputs, sample{f.Name, nativeFormat(f.Format), f.JSON})
	}
	for _, s := range inputs {
		t.Run(s.name, func(t *testing.T) {
			r := NewRewrite(mustParse(t, s.format, s.json))
			checkSpans(t, r.c)
			if out := r.Render(); out != s.json {
				t.Errorf("got %s", out)
			}
			if !r.Empty() || len(r.Splices()) != 0 {
				t.Errorf("a rewrite without decisions is not empty: %v", r.Splices())
			}
			for _, op := range r.Program() {
				if op.Kind != OpKeep {
					t.Errorf("op %+v, want only keeps", op)
				}
			}
			if n := len(r.Program()); n > 4 {
				t.Errorf("%d ops, want one for each section", n)
			}
			checkRewrite(t, r)
		})
	}
}

func TestRandomRewritesOfSamples(t *testing.T) {
	for _, s := range forms(t) {
		t.Run(s.name, func(t *testing.T) {
			c := mustParse(t, s.format, s.json)
			for seed := range uint64(150) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				checkRewrite(t, decide(c, 1+int(seed%4), rnd.IntN))
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func TestRandomRewritesOfRealConversations(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			c := mustParse(t, nativeFormat(f.Format), f.JSON)
			for seed := range uint64(6) {
				rnd := rand.New(rand.NewPCG(seed, 2))
				checkRewrite(t, decide(c, []int{1, 2, 3, 5, 20, 200}[seed], rnd.IntN))
			}
		})
	}
}

func TestRandomRewritesOfFieldCases(t *testing.T) {
	for _, fc := range testdata.Cases(t) {
		if fc.JSON == "" {
			continue // described in words only
		}
		t.Run(fc.ID, func(t *testing.T) {
			c := mustParse(t, nativeFormat(fc.Format), fc.JSON)
			checkSpans(t, c)
			checkPairing(t, c)
			for seed := range uint64(30) {
				rnd := rand.New(rand.NewPCG(seed, 5))
				checkRewrite(t, decide(c, 2+int(seed%3), rnd.IntN))
			}
		})
	}
}

func TestRewritesInARowJoinToOne(t *testing.T) {
	for _, s := range forms(t) {
		t.Run(s.name, func(t *testing.T) {
			for seed := range uint64(20) {
				rnd := rand.New(rand.NewPCG(seed, 3))
				c := mustParse(t, s.format, s.json)
				var splices []Splice
				for range 3 {
					r := decide(c, 2, rnd.IntN)
					checkRewrite(t, r)
					splices = ChainSplices(splices, r.Splices())
					c = mustParse(t, s.format, r.Render())
				}
				if got := ApplySplices(s.json, splices); got != c.Source {
					t.Fatalf("seed %d: the joined splices give\n%s\nwant\n%s", seed, got, c.Source)
				}
			}
		})
	}
}

// TestRenderingOfHostileRewritesIsLinear runs rewrites on which a quadratic step
// would take minutes: it fails by the test's own deadline.
func TestRenderingOfHostileRewritesIsLinear(t *testing.T) {
	const n = 60_000
	repeat := func(element string) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
	const mark = `"cache_control":{"type":"ephemeral"}`
	for _, h := range []struct {
		name   string
		json   string
		decide func(r *Rewrite)
	}{
		{"results for many calls", `[{"role":"assistant","content":[` + repeat(`{"type":"tool_use","id":"a","name":"f","input":{}}`) + `]},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]`, func(r *Rewrite) {
			r.Insert(1, NewMessage{Role: RoleUser, Text: "so far"})
			for b := range n {
				r.AddResult(Ref{0, b}, 1+b%2, "[none]")
			}
		}},
		{"many strays", `[{"role":"user","content":[{"type":"later","content":[` + repeat(`{"type":"text","text":"a",`+mark+`}`) + `]}]}]`, func(r *Rewrite) { r.UnmarkMessage(0) }},
		{"every other block goes", `[{"role":"user","content":[` + repeat(`"a"`) + `]}]`, func(r *Rewrite) {
			for b := range n / 2 {
				r.DropBlock(Ref{0, 2 * b})
				r.MarkBlock(Ref{0, 2*b + 1}, "")
			}
		}},
		{"parts of one result", `[{"role":"user","content":[{"type":"tool_result","content":[` + repeat(`{"type":"later"}`) + `]}]}]`, func(r *Rewrite) {
			for p := range n {
				r.MarkPart(Ref{0, 0}, p, "")
			}
		}},
		{"every other message goes", `[` + repeat(`{"role":"user"}`) + `]`, func(r *Rewrite) {
			for i := range n / 2 {
				r.Drop(2 * i)
				r.Insert(2*i, NewMessage{Text: "x"})
				r.AppendText(2*i+1, "x")
			}
		}},
		{"tools", `{"messages":[],"tools":[` + repeat(`{"name":"f"}`) + `]}`, func(r *Rewrite) {
			for i := range n {
				r.MarkTool(i, "")
			}
		}},
	} {
		t.Run(h.name, func(t *testing.T) {
			r := NewRewrite(mustParse(t, FormatAnthropicMessages, h.json))
			h.decide(r)
			out := r.Render()
			checkSplices(t, r.c.Source, r.Splices())
			if len(r.Program()) == 0 || out == h.json {
				t.Error("nothing was rendered")
			}
			want, got := r.Apply().Conversation, mustParse(t, FormatAnthropicMessages, out)
			checkSame(t, "messages of Apply and of the output", said(want.Messages...), said(got.Messages...))
		})
	}
}
