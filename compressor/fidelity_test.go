package compressor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
	"github.com/elbowroom/elbowroom/tokens"
)

// body is a request body whose list of messages can be exchanged.
type body struct {
	t      *testing.T
	fields map[string]json.RawMessage
}

func newBody(t *testing.T, text string) body {
	t.Helper()
	b := body{t: t}
	if err := json.Unmarshal([]byte(text), &b.fields); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b body) messages() []json.RawMessage {
	b.t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal(b.fields["messages"], &list); err != nil {
		b.t.Fatal(err)
	}
	return list
}

func (b body) with(list []json.RawMessage) string {
	b.t.Helper()
	fields := make(map[string]json.RawMessage)
	for k, v := range b.fields {
		fields[k] = v
	}
	messages, err := json.Marshal(list)
	if err != nil {
		b.t.Fatal(err)
	}
	fields["messages"] = messages
	out, err := json.Marshal(fields)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(out)
}

// parts cuts a conversation into n parts between units.
func parts(c *conversation.Conversation, list []json.RawMessage, n int) [][]json.RawMessage {
	unit := conversation.Pair(c).Unit
	var out [][]json.RawMessage
	from := 0
	for k := 1; k <= n; k++ {
		to := len(list) * k / n
		for to < len(list) && unit[to] != to {
			to++
		}
		to = max(to, from)
		out = append(out, list[from:to])
		from = to
	}
	return out
}

// planted is something the user said in round k.
func planted(k int) (fact string, message json.RawMessage) {
	fact = fmt.Sprintf("vault/round_%d/ledger_%04d.json", k, 1000+k)
	return fact, json.RawMessage(`{"role":"user","content":"Never delete ` + fact + `, whatever happens."}`)
}

// Ten chained compressions of each long real conversation, with a summarizer that
// forgets everything and with the embedded one.
func TestTenChainedCompressionsReachAFixedPoint(t *testing.T) {
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 32_000}
	rungs := map[string]summarizer.Summarizer{
		"forgetful": &scripted{reply: "## Goal\n- the work went on\n\n## Next steps\n- go on"},
		"embedded":  extractive.New(),
	}
	for _, f := range testdata.Conversations(t) {
		whole := parse(t, formatOf(f), f.JSON)
		if len(whole.Messages) < 40 {
			continue
		}
		for _, name := range slices.Sorted(mapKeys(rungs)) {
			t.Run(f.Name+"/"+name, func(t *testing.T) {
				e, b := newTestEngine(t, rungs[name]), newBody(t, f.JSON)
				var list []json.RawMessage
				compressions := 0
				for k, part := range parts(whole, b.messages(), 10) {
					_, said := planted(k)
					list = append(append(list, said), part...)
					in := b.with(list)
					c := parse(t, whole.Format, in)
					r := compress(t, e, Request{
						Conversation: c, Model: model, Force: true, Policy: Policy{ProtectFirstN: ptr(1), ProtectLastN: ptr(2), SystemNote: noteless},
					})
					if !r.Outcome.Changed() || r.Summary == "" {
						continue
					}
					compressions++
					out := r.Rewrite.Render()
					list = newBody(t, out).messages()
					after := parse(t, whole.Format, out)
					checkRound(t, c, after, r)
					for old := range k + 1 {
						fact, message := planted(old)
						before, stays := strings.Contains(in, jsonText(message)), strings.Contains(out, jsonText(message))
						if before && !stays && !strings.Contains(r.Summary, fact) {
							t.Errorf("round %d: %s was removed and is not in\n%s", k, fact, r.Summary)
						}
					}
				}
				if compressions < 2 {
					t.Errorf("%d compressions", compressions)
				}
				if s, ok := rungs[name].(*scripted); ok {
					for i := range s.seen {
						if strings.Contains(s.seen[i].Previous, fidelity.Heading) {
							t.Error("the summarizer was fed the section of facts")
						}
					}
					s.seen = nil
				}
			})
		}
	}
}

func jsonText(message json.RawMessage) string {
	return strings.TrimSuffix(strings.TrimPrefix(string(message), `{"role":"user",`), "}")
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// checkRound holds what is true of every compression.
func checkRound(t *testing.T, before, after *conversation.Conversation, r *Result) {
	t.Helper()
	newest := ""
	for i := range before.Messages {
		if m := &before.Messages[i]; m.IsRequest() && !isSummary(m) {
			newest = before.Raw(m.Span)
		}
	}
	found := newest == ""
	for i := range after.Messages {
		found = found || after.Raw(after.Messages[i].Span) == newest
	}
	if !found {
		t.Errorf("the newest request is not verbatim: %.200s", newest)
	}
	if most := DefaultSummaryMinTokens + frameTokens; r.Report.SummaryTokens > most { // 5 % of the window are less
		t.Errorf("the summary has %d tokens, %d at most", r.Report.SummaryTokens, most)
	}
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(r.Summary, "\n") {
		if strings.HasPrefix(line, "## ") {
			if seen[line] {
				t.Errorf("%q stands twice in\n%s", line, r.Summary)
			}
			seen[line] = true
		}
	}
	fid := r.Report.Fidelity
	if fid == nil {
		t.Fatal("no report on the facts")
	}
	for _, it := range fid.Items {
		if it.Message >= len(before.Messages) || it.Fate == fidelity.Repaired && it.Kind == "path" && !strings.Contains(r.Summary, it.Text) {
			t.Errorf("item %+v", it)
		}
	}
}

func TestInventedNamesDoNotReachTheConversation(t *testing.T) {
	x := long("text")
	json := chat("s:p", "u:"+x, "a:the plan is in docs/berth_plan.md", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q")
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 1_000}
	e := newTestEngine(t, &scripted{reply: "## Goal\n- the log of the harbour office is at /no/such/log_77123.txt by now"})
	r := compress(t, e, Request{Conversation: parse(t, conversation.FormatOpenAIChat, json), Model: model, Force: true, Policy: Policy{ProtectFirstN: ptr(1), ProtectLastN: ptr(2)}})
	out := r.Rewrite.Render()
	if strings.Contains(out, "log_77123") || !strings.Contains(out, "docs/berth_plan.md") || r.Report.Fidelity.Invented != 1 || r.Report.Fidelity.Repaired != 1 {
		t.Errorf("%+v in\n%s", r.Report.Fidelity, r.Summary)
	}
	if unchanged := compress(t, e, Request{Conversation: parse(t, conversation.FormatOpenAIChat, out), Model: model, Force: true, Policy: Policy{ProtectFirstN: ptr(1), ProtectLastN: ptr(2)}}); unchanged.Report.Fidelity != nil {
		t.Errorf("%v has a report on facts", unchanged.Outcome)
	}
}

// After a compression was taken over, the report still counts the caller's messages.
func TestFactsAreReportedInTheCallersIndices(t *testing.T) {
	e := newContinuousEngine(t, &scripted{reply: "## Goal\n- go on"})
	words := []string{"s:p"}
	for i := range 12 {
		words = append(words, fmt.Sprintf("u:berth %d is in plans/berth_%02d.md, %s", i, i, long("text")), "a:"+long("text"))
	}
	model := tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 4_000}
	policy := Policy{ProtectFirstN: ptr(1), ProtectLastN: ptr(2)}
	for n := 13; n <= len(words); n += 6 {
		r := compress(t, e, Request{Conversation: parse(t, conversation.FormatOpenAIChat, chat(words[:n]...)), Model: model, Force: true, Policy: policy})
		if r.Report.Fidelity == nil {
			t.Fatalf("%d messages: %v", n, r.Outcome)
		}
		for _, it := range r.Report.Fidelity.Items {
			if it.Message >= 0 && !strings.Contains(words[it.Message], it.Text) {
				t.Errorf("%d messages: %q is not in message %d", n, it.Text, it.Message)
			}
		}
	}
}
