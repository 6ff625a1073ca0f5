package compressor

import (
	"slices"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/tokens"
)

// Over every real conversation: what is kept, rewritten and saved is what a fresh
// count of input and result says.
func TestTheChangeIsThatOfInputAndResult(t *testing.T) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	model := registry.Lookup("claude-opus-5-5")
	for _, f := range testdata.Conversations(t) {
		for _, note := range []SystemNote{SystemNoteAppend, SystemNoteNone} {
			c := parse(t, formatOf(f), f.JSON)
			e := newTestEngine(t, &scripted{reply: "## Goal\n- something was done here"})
			r := compress(t, e, Request{Conversation: c, Model: model, ContextWindow: 16_000, Force: true, Policy: Policy{SystemNote: &note, ProtectLastN: ptr(2)}})
			change := r.Report.Change
			if !r.Outcome.Changed() {
				if change != nil {
					t.Errorf("%s: %v with a change %+v", f.Name, r.Outcome, change)
				}
				continue
			}
			after := parse(t, c.Format, r.Rewrite.Render())
			counted, err := sharedCounter.Count(t.Context(), after, model)
			if err != nil {
				t.Fatal(err)
			}
			if change.Kept+change.Rewritten != counted.Tokens || change.Saved != r.Report.TokensBefore-counted.Tokens {
				t.Errorf("%s: %+v of a result of %d tokens", f.Name, change, counted.Tokens)
			}
			equal := counted.Tools
			if systemText(c) != systemText(after) && c.System.Shape == conversation.ShapeList { // the note is a block of its own
				before, err := sharedCounter.Count(t.Context(), c, model)
				if err != nil {
					t.Fatal(err)
				}
				equal += before.System
			}
			if systemText(c) == systemText(after) {
				equal += counted.System
				for i := range after.Messages {
					if i >= len(c.Messages) || text(c, i) != text(after, i) {
						break
					}
					equal += counted.Messages[i]
				}
			}
			if change.Kept != equal {
				t.Errorf("%s, note %v: %d tokens kept, the results begin with the same %d", f.Name, note, change.Kept, equal)
			}
			if noted := note == SystemNoteAppend && r.Summary != "" && !c.Bare && systemText(c) != ""; noted && change.Head == 0 {
				t.Errorf("%s: the note's cost is missing in %+v", f.Name, change)
			}
		}
	}
}

func systemText(c *conversation.Conversation) string {
	if c.System == nil {
		return ""
	}
	return c.Source[c.System.Span.Start:c.System.Span.End]
}

func text(c *conversation.Conversation, i int) string {
	return c.Source[c.Messages[i].Span.Start:c.Messages[i].Span.End]
}

func TestAPlanForecastsTheChange(t *testing.T) {
	x := long("text")
	json := chat("s:p", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q")
	req := Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, json), Force: true, PlanOnly: true,
		Model:  tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 1_000},
		Policy: Policy{ProtectLastN: ptr(2), SystemNote: noteless},
	}
	e := newTestEngine(t, &scripted{reply: "## Goal\n- something"})
	plan := compress(t, e, req)
	req.PlanOnly = false
	done := compress(t, e, req)
	p, d := plan.Report.Change, done.Report.Change
	if p == nil || !p.Planned || d == nil || d.Planned {
		t.Fatalf("planned %+v, done %+v", p, d)
	}
	if p.Kept != d.Kept || p.Saved > d.Saved || p.Saved == 0 || p.Turns != 4 || d.Turns != 4 {
		t.Errorf("planned %+v, done %+v", p, d)
	}
	if got := p.Kept + p.Rewritten + p.Saved; got != plan.Report.TokensBefore {
		t.Errorf("the plan %+v adds up to %d of %d", p, got, plan.Report.TokensBefore)
	}
}

func TestTheSecondCompressionKeepsTheHeadReadable(t *testing.T) {
	x := long("text")
	words := []string{"s:p", "u:first", "a:first", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q"}
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 1_000}
	e := newTestEngine(t, &scripted{reply: "## Goal\n- something"})
	req := Request{Conversation: parse(t, conversation.FormatOpenAIChat, chat(words...)), Model: model, Force: true, Policy: Policy{ProtectLastN: ptr(2)}}
	first := compress(t, e, req)
	if first.Report.FirstChanged != 0 || first.Report.Change.Head == 0 || first.Report.FrontMessages != 2 {
		t.Fatalf("the first compression changes message %d, %+v, front %d", first.Report.FirstChanged, first.Report.Change, first.Report.FrontMessages)
	}
	grown := parse(t, conversation.FormatOpenAIChat, first.Rewrite.Render())
	more := parse(t, conversation.FormatOpenAIChat, chat("a:"+x, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:so"))
	list := grown.Source[:len(grown.Source)-2] + "," + more.Source[len(`{"model":"gpt-4o","messages":[`):]
	req.Conversation = parse(t, conversation.FormatOpenAIChat, list)
	second := compress(t, e, req)
	if c := second.Report.Change; second.Report.FirstChanged != 3 || c.Head != 0 || c.Kept < first.Report.Change.Head {
		t.Errorf("the second compression changes message %d, %+v", second.Report.FirstChanged, c)
	}
}

// The note is a block of its own behind a list: what stands before it can be read.
func TestANoteBehindAListOfBlocksLeavesTheListReadable(t *testing.T) {
	x := long("text")
	rest := chat("u:first", "a:first", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q")
	messages := rest[len(`{"model":"gpt-4o","messages":[`):]
	prompt := conversation.Quote(long("prompt"))
	for _, tt := range []struct {
		name, json string
		format     conversation.Format
		readable   bool
	}{
		{"list", `{"system":[{"type":"text","text":` + prompt + `}],"messages":[` + messages, conversation.FormatAnthropicMessages, true},
		{"string", `{"system":` + prompt + `,"messages":[` + messages, conversation.FormatAnthropicMessages, false},
		{"list in a message", `{"messages":[{"role":"system","content":[{"type":"text","text":` + prompt + `}]},` + messages, conversation.FormatOpenAIChat, true},
		{"string in a message", `{"messages":[{"role":"system","content":` + prompt + `},` + messages, conversation.FormatOpenAIChat, false},
	} {
		for _, plan := range []bool{false, true} {
			c := parse(t, tt.format, tt.json)
			r := compress(t, newTestEngine(t, note()), Request{Conversation: c, Model: gpt(1_000), Force: true, PlanOnly: plan, Policy: Policy{ProtectLastN: ptr(2)}})
			change := r.Report.Change
			if change == nil {
				t.Fatalf("%s: %v", tt.name, r.Outcome)
			}
			counted, err := sharedCounter.Count(t.Context(), c, gpt(1_000))
			if err != nil {
				t.Fatal(err)
			}
			system, first := counted.System, 0
			if c.System == nil {
				system, first = counted.Messages[0], 1
			}
			head := counted.Messages[first] + counted.Messages[first+1]
			want := Change{Kept: counted.Tools, Head: system + head}
			if tt.readable {
				want = Change{Kept: counted.Tools + system, Head: head}
			}
			if change.Kept != want.Kept || change.Head != want.Head {
				t.Errorf("%s, plan %v: %+v, want %d kept and a head of %d", tt.name, plan, change, want.Kept, want.Head)
			}
		}
	}
}

// A result in the head is shortened too, and what stands behind it is written anew.
func TestAPlanKnowsWherePruningReachesTheHead(t *testing.T) {
	x := long("text")
	head := []string{"s:p", "u:first", "A:one", "t:one:" + long("result")}
	for _, rest := range [][]string{
		{"a:" + x, "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q"}, // is summarized
		{"a:" + x, "u:q", "a:e"}, // is too short for that
	} {
		words := slices.Concat(head, rest)
		req := Request{
			Conversation: parse(t, conversation.FormatOpenAIChat, chat(words...)), Model: gpt(1_000), Force: true, PlanOnly: true,
			Policy: Policy{ProtectFirstN: ptr(4), ProtectLastN: ptr(2), SystemNote: noteless},
		}
		plan := compress(t, newTestEngine(t, note()), req)
		req.PlanOnly = false
		done := compress(t, newTestEngine(t, note()), req)
		p, d := plan.Report.Change, done.Report.Change
		if p == nil || d == nil || len(done.Report.Pruned) == 0 || done.Report.FirstChanged != 3 {
			t.Fatalf("plan %v %+v, done %v %+v", plan.Outcome, plan.Report, done.Outcome, done.Report)
		}
		if p.Kept != d.Kept {
			t.Errorf("%d messages: %d tokens kept by the plan, %d when it was done", len(words), p.Kept, d.Kept)
		}
	}
}

func TestNothingIsRewrittenWhereACompressionIsTakenOver(t *testing.T) {
	e := newContinuousEngine(t, note())
	words := []string{"s:p"}
	for range 6 {
		words = append(words, "u:"+long("text"), "a:"+long("text"))
	}
	words = append(words, "u:q")
	req := Request{Model: gpt(4_000), Policy: Policy{ProtectFirstN: ptr(1), ProtectLastN: ptr(2)}}
	for _, added := range [][]string{nil, {"a:" + long("answer"), "u:more"}} {
		words = append(words, added...)
		req.Conversation, req.Force = parse(t, conversation.FormatOpenAIChat, chat(words...)), added == nil
		r := compress(t, e, req)
		if r.Outcome != OutcomeCompressed || r.Report.Continuity.Hit != (added != nil) {
			t.Fatalf("%v, continuity %+v", r.Outcome, r.Report.Continuity)
		}
		if c := r.Report.Change; c.Kept+c.Rewritten != r.Report.TokensAfter || added != nil && c.Rewritten != 0 {
			t.Errorf("%+v of a result of %d tokens", c, r.Report.TokensAfter)
		}
	}
}
