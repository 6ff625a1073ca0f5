package compressor

import (
	"slices"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// gpt is a model with an exact vocabulary.
func gpt(window int) tokens.Model {
	return tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: window}
}

// small is a policy for short test conversations.
func small(first, last int) Policy {
	return Policy{ProtectFirstN: &first, ProtectLastN: &last, SystemNote: noteless}
}

// run compresses an OpenAI body by force and returns the result and its messages.
func run(t *testing.T, s *scripted, policy Policy, json string) (*Result, *conversation.Conversation) {
	t.Helper()
	r := compress(t, newTestEngine(t, s), Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, json), Model: gpt(128_000), Force: true, Policy: policy,
	})
	return r, parse(t, conversation.FormatOpenAIChat, r.Rewrite.Render())
}

func note() *scripted { return &scripted{reply: "## Goal\n- short"} }

func TestTheHeadIsTheSystemPromptAndTheFirstMessages(t *testing.T) {
	x := long("text")
	body := []string{"u:one " + x, "a:" + x, "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q", "a:e"}
	tests := []struct {
		name  string
		json  string
		first int
		want  string
	}{
		{"BD3 none but the system prompt", chat(append([]string{"s:p"}, body...)...), 0, "s U u a"},
		{"the system prompt counts as one", chat(append([]string{"s:p"}, body...)...), 3, "s u a U u a"},
		{"BD4 three messages without a system prompt", chat(body...), 3, "u a u A u a"},
		{"BD4 none without a system prompt", chat(body...), 0, "U u a"},
		{"BD6 the head ends after a whole group", chat("s:p", "u:"+x, "A:c", "t:c:"+x, "a:"+x, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e"), 3, "s u a t A u a"},
		{"several system messages count as one", chat(append([]string{"s:p", "s:r"}, body...)...), 2, "s s u A u a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, out := run(t, note(), small(tt.first, 2), tt.json)
			if got := roles(out); got != tt.want {
				t.Errorf("%v: roles %s, want %s", r.Outcome, got, tt.want)
			}
		})
	}
}

func TestTheNewestRequestStaysVerbatimWhereverTheCutFalls(t *testing.T) {
	x := long("text")
	request := "u:1) rename a.txt 2) update the index 3) mail the list"
	early := []string{"s:p", "u:" + x, "a:" + x, "u:" + x, "a:" + x, request}
	for i := range 10 {
		id := string(rune('a' + i))
		early = append(early, "A:"+id, "t:"+id+":"+x)
	}
	t.Run("BD13 the tail is stretched back to it", func(t *testing.T) {
		r, out := run(t, note(), small(1, 4), chat(early...))
		if got := roles(out); got != "s U u"+strings.Repeat(" a t", 10) {
			t.Errorf("roles %s", got)
		}
		if r.Report.BindingConstraint != "the newest request" {
			t.Errorf("binding constraint %q", r.Report.BindingConstraint)
		}
	})
	t.Run("it is kept alone where that would keep too much", func(t *testing.T) {
		policy := small(1, 4)
		policy.TargetTokens = ptr(900)
		r, out := run(t, note(), policy, chat(early...))
		if got := roles(out); got != "s U u a t a t a t" || r.Outcome != OutcomeCompressed {
			t.Errorf("%v: roles %s", r.Outcome, got)
		}
		if !strings.Contains(r.Rewrite.Render(), conversation.Quote(request[2:])) {
			t.Error("the request is gone")
		}
	})
}

func TestPinnedMessagesStayWithTheirGroup(t *testing.T) {
	x := long("text")
	json := chat("s:p", "u:"+x, "a:"+x, "A:c", "t:c:pinned "+x, "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e")
	c := parse(t, conversation.FormatOpenAIChat, json)
	r := compress(t, newTestEngine(t, note()), Request{Conversation: c, Model: gpt(128_000), Force: true, Policy: small(1, 2), Pinned: []int{4}})
	out := parse(t, c.Format, r.Rewrite.Render())
	if got := roles(out); got != "s U a t u a" {
		t.Fatalf("%v: roles %s", r.Outcome, got)
	}
	if out.Raw(out.Messages[3].Span) != c.Raw(c.Messages[4].Span) {
		t.Error("the pinned message changed")
	}
	again := compress(t, newTestEngine(t, note()), Request{Conversation: out, Model: gpt(128_000), Force: true, Policy: small(1, 2), Pinned: []int{3}})
	if !again.Rewrite.Empty() {
		t.Errorf("second pass: %v", again.Outcome)
	}
}

func TestRepairsAreMadeAndReported(t *testing.T) {
	x := long("text")
	tail := []string{"u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q"}
	tests := []struct {
		name     string
		messages []string
		want     string
		kinds    []RepairKind
	}{
		{"SA1 a result without a call is removed", []string{"s:p", "u:a", "t:zz:lost"}, "s u u A u", []RepairKind{RepairOrphanResult}},
		{"a call without a result gets a stand-in", []string{"s:p", "u:a", "A:c", "a:went on"}, "s u a t A u", []RepairKind{RepairMissingResult}},
		{"a second result is removed", []string{"s:p", "u:a", "A:c", "t:c:1", "t:c:2"}, "s u a t A u", []RepairKind{RepairDuplicateResult}},
		{"a leading assistant message is left", []string{"a:hello", "u:a"}, "a u A u", []RepairKind{RepairLeadingAssistant}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			head := 3
			if tt.messages[0][0] == 'a' {
				head = 2
			}
			r, out := run(t, note(), small(head, 1), chat(append(tt.messages, tail...)...))
			if got := roles(out); got != tt.want {
				t.Errorf("%v: roles %s, want %s", r.Outcome, got, tt.want)
			}
			var kinds []RepairKind
			for _, repair := range r.Report.Repairs {
				kinds = append(kinds, repair.Kind)
			}
			if !slices.Equal(kinds, tt.kinds) {
				t.Errorf("repairs %v, want %v", kinds, tt.kinds)
			}
		})
	}
}

func TestACallInFlightIsLeftAlone(t *testing.T) {
	x := long("text")
	big := `{"path":"a","content":"` + strings.Repeat("x", 2_000) + `"}`
	json := strings.TrimSuffix(chat("s:p", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q"), "]}") +
		`,{"role":"assistant","content":null,"tool_calls":[{"id":"z","type":"function","function":{"name":"write_file","arguments":` + conversation.Quote(big) + `}}]}]}`
	policy := small(1, 1)
	policy.TargetTokens = ptr(100)
	r, out := run(t, note(), policy, json)
	last := &out.Messages[len(out.Messages)-1]
	if !r.Outcome.Changed() || len(last.Blocks) != 1 || last.Blocks[0].Input != big {
		t.Errorf("PR26 SA7 %v: the call in flight changed", r.Outcome)
	}
	if len(r.Report.Repairs) != 0 {
		t.Errorf("repairs %v", r.Report.Repairs)
	}
}

func TestDuplicatesPointAtACopyThatStays(t *testing.T) {
	same, x := strings.Repeat("same line\n", 30), long("text")
	tests := []struct {
		name     string
		messages []string
		want     []string // the tool results of the tail
	}{
		{"PR1 PR3 the older of two kept copies", []string{"A:a", "t:a:" + same, "A:b", "t:b:" + same, "u:q"}, []string{duplicateText, same}},
		{"PR2 short results", []string{"A:a", "t:a:" + same[:199], "A:b", "t:b:" + same[:199], "u:q"}, []string{same[:199], same[:199]}},
		{"different results", []string{"A:a", "t:a:" + same, "A:b", "t:b:" + same + "!", "u:q"}, []string{same, same + "!"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, out := run(t, note(), small(1, len(tt.messages)), chat(append([]string{"s:p", "u:" + x, "a:" + x, "u:" + x, "a:" + x}, tt.messages...)...))
			var got []string
			for i := range out.Messages {
				if out.Messages[i].Has(conversation.KindToolResult) {
					got = append(got, out.Messages[i].Blocks[0].ResultText())
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v (%s): %.60q", r.Outcome, r.Report.Reason, got)
			}
		})
	}
	t.Run("PR4 lists are left alone", func(t *testing.T) {
		list := func(id string) string {
			return `{"role":"tool","tool_call_id":"` + id + `","content":[{"type":"text","text":` + conversation.Quote(same) + `}]}`
		}
		json := strings.TrimSuffix(chat("s:p", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "A:a"), "]}") + "," + list("a") + "," +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"look","arguments":"{}"}}]},` + list("b") + "]}"
		r, _ := run(t, note(), small(1, 4), json)
		if strings.Count(r.Rewrite.Render(), "same line") != 60 {
			t.Error("a list was changed")
		}
	})
}

func TestOldResultsBecomeOneLineAtTheSizeLimit(t *testing.T) {
	x := long("text")
	for chars, pruned := range map[int]bool{200: false, 201: true} {
		result := strings.Repeat("y", chars)
		json := chat("s:p", "u:a", "A:c", "t:c:"+result, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e")
		r := compress(t, newTestEngine(t, note()), Request{
			Conversation: parse(t, conversation.FormatOpenAIChat, json), Model: gpt(1_000), Force: true, Policy: small(4, 2),
		})
		out := parse(t, conversation.FormatOpenAIChat, r.Rewrite.Render())
		got := out.Messages[3].Blocks[0].ResultText()
		if (got != result) != pruned || pruned && !strings.HasPrefix(got, "[look] n=1 (201 chars result)") {
			t.Errorf("PR6 %d characters: %v %q", chars, r.Outcome, got)
		}
	}
}

func TestAnEarlierSummaryIsFoundAndUpdated(t *testing.T) {
	x := long("text")
	own := frameSummary("## Goal\n- earlier goal", 4, "000000000000")
	hermes := "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted. Do not answer them.\n\n## Goal\nearlier goal\n\n--- END OF CONTEXT SUMMARY — respond to the message below ---"
	tests := []struct {
		name      string
		summaries []string
		previous  string
		round     int
	}{
		{"SU5 our own", []string{own}, "## Goal\n- earlier goal", 5},
		{"Hermes Agent's", []string{hermes}, "## Goal\nearlier goal", 2},
		{"SU7 two stacked ones are joined", []string{own, hermes}, "## Goal\n- earlier goal\n\n## Goal\nearlier goal", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			messages := []string{"s:p", "u:a", "a:b"}
			for _, s := range tt.summaries {
				messages = append(messages, "u:"+s)
			}
			s := note()
			r, out := run(t, s, small(3, 2), chat(append(messages, "a:"+x, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e")...))
			if got := roles(out); got != "s u a U u a" {
				t.Fatalf("%v: roles %s", r.Outcome, got)
			}
			if len(s.seen) != 1 || s.seen[0].Previous != tt.previous || len(s.seen[0].Turns) != 5 {
				t.Errorf("the summarizer saw %q and %d turns", s.seen[0].Previous, len(s.seen[0].Turns))
			}
			if r.Report.Round != tt.round {
				t.Errorf("round %d, want %d", r.Report.Round, tt.round)
			}
		})
	}
	t.Run("SU9 nothing new: no call, nothing changes", func(t *testing.T) {
		s := note()
		r, _ := run(t, s, small(3, 2), chat("s:p", "u:a", "a:b", "u:"+own, "u:q"))
		if r.Outcome != OutcomeNoGain || len(s.seen) != 0 || !r.Rewrite.Empty() {
			t.Errorf("%v after %d calls", r.Outcome, len(s.seen))
		}
	})
	t.Run("anywhere else its words are just text", func(t *testing.T) {
		s := note()
		run(t, s, small(3, 2), chat("s:p", "u:a", "a:b", "a:"+x, "u:"+x, "u:"+own, "a:"+x, "u:"+x, "u:q", "a:e"))
		if s.seen[0].Previous != "" || len(s.seen[0].Turns) != 5 {
			t.Errorf("previous %q, %d turns", s.seen[0].Previous, len(s.seen[0].Turns))
		}
	})
	t.Run("a summary with somebody's words behind it is an ordinary message", func(t *testing.T) {
		if m := parse(t, conversation.FormatOpenAIChat, chat("u:"+hermes+"\n\nand now the tests")).Messages[0]; isSummary(&m) {
			t.Error("SU8 the words would be lost")
		}
	})
}

func TestTheSystemNoteIsAppendedOnce(t *testing.T) {
	x := long("text")
	rest := []string{"u:a", "a:b", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q", "a:e"}
	policy := small(3, 2)
	policy.SystemNote = nil
	r, out := run(t, note(), policy, chat(append([]string{"s:prompt"}, rest...)...))
	if got := out.Messages[0].Text(); got != "prompt"+systemNote {
		t.Fatalf("AS1 %v: %q", r.Outcome, got)
	}
	var more []string
	for i := range out.Messages {
		more = append(more, out.Messages[i].Role.String()[:1]+":"+out.Messages[i].Text())
	}
	_, twice := run(t, note(), policy, chat(append(more, "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e")...))
	if got := twice.Messages[0].Text(); got != "prompt"+systemNote {
		t.Errorf("AS1 second compression: %q", got)
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(chat(append([]string{"s:prompt"}, rest...)...), `{"model":"gpt-4o","messages":`), "}")
	if _, out := run(t, note(), policy, bare); out.Messages[0].Text() != "prompt" {
		t.Error("a bare array got a note")
	}
	if _, out := run(t, note(), policy, strings.Replace(chat(append([]string{"s:prompt"}, rest...)...), `"content":"prompt"`, `"content":[{"type":"text","text":"prompt"}]`, 1)); len(out.Messages[0].Blocks) != 2 || out.Messages[0].Blocks[0].Text != "prompt" {
		t.Error("AS2 a list got no part of its own")
	}
}

func TestTheStateOfTheLastCompressionCarriesTheRound(t *testing.T) {
	x := long("text")
	e := newTestEngine(t, note())
	body := chat("s:p", "u:a", "a:b", "u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e")
	req := Request{Conversation: parse(t, conversation.FormatOpenAIChat, body), Model: gpt(128_000), Force: true, Policy: small(3, 2)}
	first := compress(t, e, req)
	grown := strings.TrimSuffix(first.Rewrite.Render(), "]}") + "," + strings.TrimPrefix(chat("u:"+x, "a:"+x, "u:"+x, "a:"+x, "u:q", "a:e"), `{"model":"gpt-4o","messages":[`)
	req.Conversation = parse(t, conversation.FormatOpenAIChat, grown)
	for _, tt := range []struct{ state, want string }{
		{string(first.State), "unverified"}, {"", "none"}, {"nonsense", "ignored: not a compression state of this version"},
		{string(first.State[:len(first.State)-1]) + "x", "ignored: its check failed"},
	} {
		req.State = []byte(tt.state)
		if r := compress(t, e, req); r.Report.State != tt.want || r.Report.Round != 2 {
			t.Errorf("state %q, round %d; want %q, 2", r.Report.State, r.Report.Round, tt.want)
		}
	}
}

func TestStrictAlternationGrowsTheMiddle(t *testing.T) {
	x := long("text")
	for name, tt := range map[string]struct {
		messages    []string
		first, last int
		want        string
	}{
		"the tail begins later":   {[]string{"s:p", "u:a", "a:b", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q", "a:e"}, 3, 4, "s u a U a u a"},
		"nothing to do":           {[]string{"s:p", "u:a", "a:b", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q", "a:e"}, 3, 3, "s u a U a u a"},
		"the head ends earlier":   {[]string{"s:p", "u:a", "a:b", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q", "a:e"}, 3, 2, "s u A u a"},
		"the first message is u:": {[]string{"s:p", "u:" + x, "a:" + x, "u:" + x, "a:" + x, "u:q", "a:e", "u:r"}, 1, 2, "s U a u"},
	} {
		t.Run(name, func(t *testing.T) {
			policy := small(tt.first, tt.last)
			policy.Alternation = ptr(AlternationStrict)
			r, out := run(t, note(), policy, chat(tt.messages...))
			if got := roles(out); got != tt.want {
				t.Errorf("%v: roles %s, want %s", r.Outcome, got, tt.want)
			}
		})
	}
}

func TestASessionThatSavesLittleWaitsUntilItHasGrown(t *testing.T) {
	big, x := strings.Repeat("bulk ", 3_000), long("text")
	e := newTestEngine(t, note())
	body := chat("s:p", "u:a", "a:"+big, "u:"+x, "a:"+x, "u:q", "a:e")
	req := Request{
		Conversation: parse(t, conversation.FormatOpenAIChat, body), Model: gpt(4_000), SessionID: "s", Policy: small(3, 2),
	}
	// Another focus makes another compression: the same one would be taken over.
	for i := range poorLimit {
		req.Focus = strings.Repeat("x", i)
		if r := compress(t, e, req); r.Outcome != OutcomeCompressed {
			t.Fatalf("%v: %s", r.Outcome, r.Report.Reason)
		}
	}
	req.Focus = "new"
	if r := compress(t, e, req); r.Outcome != OutcomeNoGain || !strings.Contains(r.Report.Reason, "under 10 %") {
		t.Errorf("%v: %s", r.Outcome, r.Report.Reason)
	}
	req.Force = true
	if r := compress(t, e, req); r.Outcome != OutcomeCompressed {
		t.Errorf("forced: %v", r.Outcome)
	}
	req.Force, req.SessionID = false, "another"
	if r := compress(t, e, req); r.Outcome != OutcomeCompressed {
		t.Errorf("another session: %v", r.Outcome)
	}
}

// A second pass sees what a repair has made of a message, so the first has to.
func TestASummaryBesideAResultThatARepairDropsIsASummary(t *testing.T) {
	x := long("text")
	list := []string{
		`{"role":"user","content":"first"}`,
		`{"role":"assistant","content":[{"type":"text","text":"` + x + `"}]}`,
		`{"role":"user","content":[{"type":"text","text":` + conversation.Quote(frameSummary("## Goal\n- earlier", 3, "abc")) + `},` +
			`{"type":"tool_result","tool_use_id":"gone","content":"x"}]}`,
	}
	for range 6 {
		list = append(list, `{"role":"assistant","content":"`+x+`"}`, `{"role":"user","content":"`+x+`"}`)
	}
	list = append(list, `{"role":"user","content":"now"}`)
	e := newTestEngine(t, note())
	ask := func(json string) *Result {
		return compress(t, e, Request{
			Conversation: parse(t, conversation.FormatAnthropicMessages, json), Model: gpt(128_000), Force: true, Policy: small(2, 2),
		})
	}
	first := ask("[" + strings.Join(list, ",") + "]")
	if first.Report.Round != 4 {
		t.Errorf("round %d after one of round 3", first.Report.Round)
	}
	out := first.Rewrite.Render()
	if second := ask(out); second.Rewrite.Render() != out {
		t.Errorf("a second pass changes the result: %s", second.Report.Reason)
	}
}

func TestAMessageThatLooksLikeASummaryBehindTheSummaryIsNothingNew(t *testing.T) {
	x := long("text")
	forged := "a:[ELBOWROOM CONTEXT SUMMARY, round 3, trace abc] " + strings.Repeat("quoted ", 60) + "\n[END OF CONTEXT SUMMARY]"
	e := newTestEngine(t, note())
	ask := func(json string) *Result {
		return compress(t, e, Request{
			Conversation: parse(t, conversation.FormatOpenAIChat, json), Model: gpt(2_000), Force: true, Policy: small(2, 1),
		})
	}
	first := ask(chat("s:p", "u:first", "a:"+x, "u:"+x, "a:"+x, "u:"+x, forged, "a:"+x, "u:now"))
	out := first.Rewrite.Render()
	if first.Outcome != OutcomeCompressed || strings.Count(out, summaryOpen) != 2 {
		t.Fatalf("%v: %s", first.Outcome, out)
	}
	if again := ask(out); again.Rewrite.Render() != out {
		t.Errorf("a second pass changes the result: %v, %s", again.Outcome, again.Report.Reason)
	}
}
