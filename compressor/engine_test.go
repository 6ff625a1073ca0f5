package compressor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

// scripted is a summarizer that answers what it is told and keeps what it saw.
type scripted struct {
	reply string
	err   error
	seen  []summarizer.Request
}

func (s *scripted) Name() string { return "scripted" }

func (s *scripted) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Response, error) {
	s.seen = append(s.seen, req)
	if s.err != nil {
		return summarizer.Response{}, s.err
	}
	n, err := req.Count(ctx, s.reply)
	return summarizer.Response{Text: s.reply, Tokens: n}, err
}

// sharedCounter spares every test the loading of the vocabularies.
var sharedCounter = tokens.NewCounter()

func newTestEngine(t testing.TB, rungs ...summarizer.Summarizer) *Engine {
	t.Helper()
	return newEngineWith(t, false, rungs)
}

// newContinuousEngine takes earlier compressions over.
func newContinuousEngine(t testing.TB, rungs ...summarizer.Summarizer) *Engine {
	t.Helper()
	return newEngineWith(t, true, rungs)
}

func newEngineWith(t testing.TB, continuity bool, rungs []summarizer.Summarizer) *Engine {
	t.Helper()
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := ladder.New(ladder.Options{
		Rungs: rungs, Store: memory,
		Now: func() time.Time { return time.Unix(1_700_000_000, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Options{Counter: sharedCounter, Ladder: steps, Store: memory, Continuity: continuity, Memo: memo.New(memo.DefaultBytes)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func parse(t testing.TB, format conversation.Format, json string) *conversation.Conversation {
	t.Helper()
	c, err := conversation.Parse(format, json, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compress(t testing.TB, e *Engine, req Request) *Result {
	t.Helper()
	r, err := e.Compress(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// chat builds an OpenAI body from "s:text" "u:text" "a:text" "A:id" "t:id:text".
func chat(words ...string) string {
	var list []string
	for _, w := range words {
		kind, text, _ := strings.Cut(w, ":")
		switch kind {
		case "s":
			list = append(list, `{"role":"system","content":`+conversation.Quote(text)+`}`)
		case "u":
			list = append(list, `{"role":"user","content":`+conversation.Quote(text)+`}`)
		case "a":
			list = append(list, `{"role":"assistant","content":`+conversation.Quote(text)+`}`)
		case "A":
			list = append(list, `{"role":"assistant","content":null,"tool_calls":[{"id":"`+text+`","type":"function","function":{"name":"look","arguments":"{\"n\": 1}"}}]}`)
		case "t":
			id, out, _ := strings.Cut(text, ":")
			list = append(list, `{"role":"tool","tool_call_id":"`+id+`","content":`+conversation.Quote(out)+`}`)
		}
	}
	return `{"model":"gpt-4o","messages":[` + strings.Join(list, ",") + `]}`
}

func long(s string) string { return strings.Repeat(s+" ", 120) }

var noteless = ptr(SystemNoteNone)

func TestSummaryRoleAvoidsEqualNeighbours(t *testing.T) {
	x := long("text")
	tests := []struct {
		name     string
		messages []string
		head     int
		want     string // roles of the result
	}{
		{"AS3 assistant before, assistant after", []string{"s:p", "u:" + x, "a:ok", "a:" + x, "a:" + x, "a:" + x, "a:" + x, "a:end"}, 3, "s u a U a a"},
		{"AS4 user before, user after", []string{"s:p", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q", "a:end"}, 2, "s u A u a"},
		{"AS5 tool before, user after", []string{"s:p", "A:c", "t:c:r", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q", "a:e"}, 3, "s a t A u a"},
		{"AS9 system before, assistant after", []string{"s:p", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "a:e", "a:f"}, 1, "s U u a a a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newTestEngine(t, &scripted{reply: "## Goal\n- done"})
			r := compress(t, e, Request{
				Conversation: parse(t, conversation.FormatOpenAIChat, chat(tt.messages...)),
				Model:        tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 128_000},
				Force:        true,
				Policy:       Policy{ProtectFirstN: &tt.head, ProtectLastN: ptr(2), SystemNote: noteless},
			})
			if r.Outcome != OutcomeCompressed {
				t.Fatalf("outcome %v: %s", r.Outcome, r.Report.Reason)
			}
			if got := roles(parse(t, conversation.FormatOpenAIChat, r.Rewrite.Render())); got != tt.want {
				t.Errorf("roles %s, want %s", got, tt.want)
			}
		})
	}
}

// roles writes the roles of a conversation, a summary in capitals.
func roles(c *conversation.Conversation) string {
	var words []string
	for i := range c.Messages {
		m := &c.Messages[i]
		word := m.Role.String()[:1]
		if isSummary(m) {
			word = strings.ToUpper(word)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestEveryUnchangedOutcomeReturnsTheInputByteForByte(t *testing.T) {
	x := long("text")
	full := []string{"s:p", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q"}
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 128_000}
	tests := []struct {
		name string
		req  Request
		json string
		want Outcome
	}{
		{"below the threshold", Request{}, chat(full...), OutcomeBelowThreshold},
		{"disabled, even when forced", Request{Force: true, Policy: Policy{Enabled: ptr(false)}}, chat(full...), OutcomeDisabled},
		{"no messages", Request{Force: true}, `[]`, OutcomeTooShort},
		{"BD1 too few messages", Request{Force: true}, chat("s:p", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:"+x, "a:"+x), OutcomeTooShort},
		{"gateway with three messages", Request{Force: true, Layer: LayerGateway}, chat("u:"+x, "a:"+x, "u:"+x), OutcomeTooShort},
		{"plan only", Request{Force: true, PlanOnly: true, Policy: Policy{ProtectLastN: ptr(2)}}, chat(full...), OutcomePlanned},
		{"a target that cannot be met", Request{Force: true, Policy: Policy{TargetTokens: ptr(5)}}, chat("s:"+x, "u:hi"), OutcomeTargetUnreachable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Conversation, tt.req.Model = parse(t, conversation.FormatOpenAIChat, tt.json), model
			r := compress(t, newTestEngine(t, &scripted{reply: "## Goal\n- x"}), tt.req)
			if r.Outcome != tt.want || r.Report.Reason == "" {
				t.Errorf("outcome %v (%s), want %v", r.Outcome, r.Report.Reason, tt.want)
			}
			if r.Rewrite.Render() != tt.json {
				t.Error("the conversation changed")
			}
			if r.Report.TokensAfter != r.Report.TokensBefore {
				t.Errorf("tokens %d became %d", r.Report.TokensBefore, r.Report.TokensAfter)
			}
		})
	}
}

func TestTheThresholdIsInclusive(t *testing.T) {
	c := parse(t, conversation.FormatOpenAIChat, chat("s:p", "u:hi", "a:ho", "u:hi"))
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 170_000}
	for prompt, want := range map[int]bool{84_999: false, 85_000: true} {
		r := compress(t, newTestEngine(t, &scripted{reply: "x"}), Request{
			Conversation: c, Model: model, LastUsage: &Usage{PromptTokens: prompt, MessageCount: 4},
		})
		if triggered := r.Outcome != OutcomeBelowThreshold; triggered != want {
			t.Errorf("TR1 %d tokens: %v", prompt, r.Outcome)
		}
	}
}

func TestUsageIsReadAsTheSizeOfWhatItCovered(t *testing.T) {
	c := parse(t, conversation.FormatOpenAIChat, chat("s:p", "u:"+long("text"), "a:ho", "u:"+long("text")))
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 128_000}
	tests := []struct {
		name    string
		usage   Usage
		by      string
		atLeast int
	}{
		{"later messages are added", Usage{PromptTokens: 1_000, MessageCount: 2}, "usage", 1_120},
		{"0 covers all", Usage{PromptTokens: 1_000}, "usage", 1_000},
		{"more messages than there are", Usage{PromptTokens: 1_000, MessageCount: 9}, "usage ignored: it covers 9 messages, the request has 4", 240},
		{"fewer tokens than all messages hold", Usage{PromptTokens: 10}, "usage ignored: 10 tokens", 240},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := compress(t, newTestEngine(t, &scripted{reply: "x"}), Request{Conversation: c, Model: model, LastUsage: &tt.usage}).Report
			if !strings.HasPrefix(r.JudgedBy, tt.by) || r.JudgedTokens < tt.atLeast {
				t.Errorf("judged %d by %q", r.JudgedTokens, r.JudgedBy)
			}
		})
	}
}
