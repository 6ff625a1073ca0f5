package compressor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/tokens"
)

// below is a policy under which a conversation of any size within its window waits.
var below = Policy{Threshold: ptr(1.0)}

// Whatever was remembered before, by whichever turns, nothing of an answer differs from that of an engine that remembers
// nothing.
func TestNoAnswerDependsOnWhatIsRemembered(t *testing.T) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	remembering, plain := newTestEngine(t, extractive.New()), newTestEngine(t, extractive.New())
	plain.memo = nil
	compressed := 0
	for _, f := range testdata.Conversations(t) {
		whole := parse(t, formatOf(f), f.JSON)
		for _, policy := range []Policy{{}, {ProtectLastN: ptr(3), ProtectFirstN: ptr(1), PruneToolArguments: ptr(true)}, {Redact: ptr(false), ProtectLastN: ptr(6)}} {
			req := Request{Conversation: whole, Model: registry.Lookup("claude-sonnet-4-5"), ContextWindow: 32_000, Policy: policy, Force: true}
			want := compress(t, plain, req)
			for range 2 { // what is new, and what is remembered
				got := compress(t, remembering, req)
				if got.Rewrite.Render() != want.Rewrite.Render() || got.Summary != want.Summary {
					t.Fatalf("%s: another result", f.Name)
				}
				if diff := cmp.Diff(want.Report, got.Report, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s: another report: %.2000s", f.Name, diff)
				}
			}
			if want.Outcome.Changed() {
				compressed++
			}
		}
	}
	if compressed < 20 || remembering.memo.Bytes() == 0 {
		t.Errorf("%d compressions, %d bytes remembered", compressed, remembering.memo.Bytes())
	}
}

// Turns that wait leave to the one that compresses no more than what came since.
func TestTurnsBelowTheThresholdReadAhead(t *testing.T) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	model, read := registry.Lookup("claude-sonnet-4-5"), 0
	for _, f := range testdata.Conversations(t) {
		whole := parse(t, formatOf(f), f.JSON)
		if len(whole.Messages) < 30 {
			continue
		}
		e, cold := newTestEngine(t, extractive.New()), newTestEngine(t, extractive.New())
		e.memo, cold.memo = memo.New(256<<20), memo.New(256<<20)
		waiting := Request{Conversation: whole, Model: model, ContextWindow: 100_000_000, Policy: below}
		size := compress(t, e, waiting).Report.TokensBefore
		if e.memo.Bytes() != 0 {
			t.Fatalf("%s: read far below the threshold", f.Name)
		}
		waiting.ContextWindow = size + 1
		for range 2 { // the second time there is nothing new
			if r := compress(t, e, waiting); r.Outcome != OutcomeBelowThreshold {
				t.Fatalf("%s: %v", f.Name, r.Outcome)
			}
		}
		ahead := e.memo.Bytes()
		now := Request{Conversation: whole, Model: model, Force: true}
		compress(t, e, now)
		compress(t, cold, now)
		if left, all := e.memo.Bytes()-ahead, cold.memo.Bytes(); left > all/20 {
			t.Errorf("%s: %d bytes of %d were left to the turn that compressed", f.Name, left, all)
		}
		read++
	}
	if read < 5 {
		t.Errorf("%d conversations", read)
	}
}

func TestNothingIsReadAheadForALanguageModel(t *testing.T) {
	e := newTestEngine(t, &scripted{reply: "x"}, extractive.New())
	c := parse(t, conversation.FormatOpenAIChat, chat("s:p", "u:"+long("text"), "a:"+long("more of it"), "u:go on"))
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 900}
	if r := compress(t, e, Request{Conversation: c, Model: model, Policy: below}); r.Outcome != OutcomeBelowThreshold || e.memo.Bytes() != 0 {
		t.Errorf("%v, %d bytes", r.Outcome, e.memo.Bytes())
	}
}

func TestTenantsFindNothingOfEachOthersTexts(t *testing.T) {
	e := newTestEngine(t, extractive.New())
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 900}
	ask := func(tenant string) (added int64) {
		was := e.memo.Bytes()
		c := parse(t, conversation.FormatOpenAIChat, chat("s:p", "u:"+long("text"), "a:"+long("more of it"), "u:go on"))
		if r := compress(t, e, Request{Conversation: c, Model: model, Policy: below, Tenant: tenant}); r.Outcome != OutcomeBelowThreshold {
			t.Fatal(r.Outcome)
		}
		return e.memo.Bytes() - was
	}
	if ann, again, bob := ask("ann"), ask("ann"), ask("bob"); ann == 0 || again != 0 || bob != ann {
		t.Errorf("ann left %d bytes, then %d, bob %d", ann, again, bob)
	}
}
