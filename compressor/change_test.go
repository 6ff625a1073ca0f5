package compressor

import (
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
			if noted := note == SystemNoteAppend && r.Summary != "" && !c.Bare && systemText(c) != ""; noted && (change.Head == 0 || change.Kept > counted.Tools) {
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
