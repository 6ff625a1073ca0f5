package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer"
)

func TestOptionsThatAreRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"no backend": {}, "a tiny window": {Backend: &scripted{}, Window: 4_000}, "a negative answer": {Backend: &scripted{}, MaxOutput: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestASummary(t *testing.T) {
	backend := &scripted{steps: []step{says("## Goal\n- deploy with AKIA" + "IOSFODNN7" + "EXAMPLQ")}}
	req := request(user("deploy with AKIA" + "IOSFODNN7" + "EXAMPLQ and password=hunter2hunter2!"))
	req.KeepSecrets = true // concerns summarizers in this process only
	got, err := newSummarizer(t, Options{Backend: backend}).Summarize(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := summarizer.Response{
		Text: "## Goal\n- deploy with [SECRET:aws-key#1]", Tokens: 10, Calls: 1, PromptTokens: 100, CompletionTokens: 10, Model: "model-1",
		Redactions: []summarizer.Redaction{{Kind: "aws-key", Count: 1}, {Kind: "password", Count: 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sent := backend.prompts[0].System + backend.prompts[0].User; strings.Contains(sent, "AKIA") || strings.Contains(sent, "hunter2") {
		t.Error("a secret was sent")
	}
}

func TestASecretThatTheModelMakesUpIsReplaced(t *testing.T) {
	backend := &scripted{steps: []step{says("## Goal\n- use ghp_" + strings.Repeat("aB3dE6gH9", 4))}}
	got, err := newSummarizer(t, Options{Backend: backend}).Summarize(t.Context(), request(user("hello")))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.Text, "ghp_") || len(got.Redactions) != 1 {
		t.Errorf("%s %v", got.Text, got.Redactions)
	}
}

func TestNothingToSayCallsNobody(t *testing.T) {
	backend := &scripted{}
	thinking := &conversation.Message{Role: conversation.RoleAssistant, Blocks: []conversation.Block{{Kind: conversation.KindThinking, Text: "hm"}}}
	_, err := newSummarizer(t, Options{Backend: backend}).Summarize(t.Context(), request(user(" "), thinking))
	if !errors.Is(err, summarizer.ErrNothingToSay) || len(backend.prompts) != 0 {
		t.Errorf("%v after %d calls", err, len(backend.prompts))
	}
}

func TestFailuresCarryTheBill(t *testing.T) {
	overBudget := says("## Goal\n" + strings.Repeat("- more and more\n", 600))
	guarded := fails(summarizer.FailureOverloaded)
	guarded.answer.Attempts = 3
	tests := []struct {
		name      string
		steps     []step
		code      string
		failure   summarizer.Failure
		wantCalls int
	}{
		{"over budget", []step{overBudget}, summarizer.RejectOverBudget, "", 1},
		{"the same words again and again", []step{says("## Goal\n" + strings.Repeat("ha ha ha ", 400))}, summarizer.RejectEmpty, "", 1},
		{"refused", []step{says("I can't help with that.")}, summarizer.RejectRefusal, "", 1},
		{"overloaded after retries", []step{guarded}, "", summarizer.FailureOverloaded, 3},
		{"a breaker that is open", []step{fails(summarizer.FailureBreakerOpen)}, "", summarizer.FailureBreakerOpen, 0},
		{"never small enough", []step{fails(summarizer.FailureTooLarge), fails(summarizer.FailureTooLarge), fails(summarizer.FailureTooLarge)}, "", summarizer.FailureTooLarge, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			backend := &scripted{steps: tt.steps}
			got, err := newSummarizer(t, Options{Backend: backend}).Summarize(t.Context(), long(40))
			if rejected, ok := errors.AsType[*summarizer.RejectedError](err); ok != (tt.code != "") || ok && rejected.Code != tt.code {
				t.Errorf("%v, want code %q", err, tt.code)
			}
			if failed, ok := errors.AsType[*summarizer.BackendError](err); ok != (tt.failure != "") || ok && failed.Failure != tt.failure {
				t.Errorf("%v, want failure %q", err, tt.failure)
			}
			if got.Text != "" || got.Calls != tt.wantCalls {
				t.Errorf("text %q, %d calls, want %d", got.Text, got.Calls, tt.wantCalls)
			}
			if tt.code != "" && (got.PromptTokens != 100 || got.CompletionTokens != 10 || got.Model != "model-1") {
				t.Errorf("bill %+v", got)
			}
		})
	}
}

// TestACutAnswerIsAskedForOnceMore checks that the second try has more room and
// that there is no third.
func TestACutAnswerIsAskedForOnceMore(t *testing.T) {
	cut := func(text string) step {
		s := says(text)
		s.answer.Finish = summarizer.FinishLength
		return s
	}
	tests := []struct {
		name      string
		steps     []step
		output    int
		wantCalls int
		wantErr   bool
	}{
		{"the second is whole", []step{cut("<think>long"), says(good)}, 0, 2, false},
		{"the second is cut too", []step{cut("## Goal\n- fi"), cut("## Goal\n- fi"), says(good)}, 100_000, 2, true},
		{"the notes themselves are too long", []step{cut("## Goal\n" + strings.Repeat("- more and more\n", 600)), says(good)}, 0, 1, true},
		{"the model writes no more", []step{cut("## Goal\n- fi"), says(good)}, 7_096, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			backend := &scripted{steps: tt.steps}
			got, err := newSummarizer(t, Options{Backend: backend, MaxOutput: tt.output}).Summarize(t.Context(), request(user("hello")))
			rejected, ok := errors.AsType[*summarizer.RejectedError](err)
			if ok != tt.wantErr || ok && rejected.Code != summarizer.RejectCutOff {
				t.Errorf("error %v", err)
			}
			if got.Calls != tt.wantCalls || len(backend.prompts) != tt.wantCalls {
				t.Errorf("%d calls, want %d", got.Calls, tt.wantCalls)
			}
			if tt.wantCalls == 2 && backend.prompts[1].MaxTokens != 2*backend.prompts[0].MaxTokens {
				t.Errorf("max tokens %d after %d", backend.prompts[1].MaxTokens, backend.prompts[0].MaxTokens)
			}
		})
	}
}

// long is a middle of so many messages of about 250 tokens, each with its own fact.
func long(messages int) summarizer.Request {
	var all []*conversation.Message
	for i := range messages {
		all = append(all, user(fmt.Sprintf("fact-%d %s", i, strings.Repeat("words ", 160))))
	}
	return request(all...)
}

// TestALongMiddleIsReadInParts checks order, size, coverage and carry-over.
func TestALongMiddleIsReadInParts(t *testing.T) {
	for _, window := range []int{MinWindow, 8_192, 32_000} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			const messages = 200
			req := long(messages)
			req.Previous, req.Round = "## Goal\n- from round one", 2
			prompts := promptsOf(t, Options{Window: window}, req)
			if len(prompts) < 2 {
				t.Fatalf("%d parts", len(prompts))
			}
			next, smallest, largest := 0, 1<<30, 0
			for i, p := range prompts {
				size, _ := fourBytes(t.Context(), p.System+p.User)
				if size+p.MaxTokens > window {
					t.Errorf("part %d: %d tokens and an answer of %d in a window of %d", i, size, p.MaxTokens, window)
				}
				for strings.Contains(p.User, fmt.Sprintf("fact-%d ", next)) {
					next++
				}
				smallest, largest = min(smallest, len(p.User)), max(largest, len(p.User))
				carried := "- part " + strings.Repeat("x", i)
				if i == 0 {
					carried = "- from round one"
				}
				if !strings.Contains(p.User, carried+"\n===== END EARLIER NOTES") {
					t.Errorf("part %d does not carry the notes before it", i)
				}
				if more := strings.Contains(p.User, "More messages follow later"); more != (i < len(prompts)-1) {
					t.Errorf("part %d says that more follows: %v", i, more)
				}
			}
			if smallest*3 < largest*2 {
				t.Errorf("parts from %d to %d bytes", smallest, largest)
			}
			if next != messages {
				t.Errorf("%d of %d messages were shown in order", next, messages)
			}
		})
	}
}

func TestAMiddleThatFitsIsOneCall(t *testing.T) {
	if n := len(promptsOf(t, Options{}, long(200))); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestAMessageLargerThanTheWindowIsShortened has one of 6,000 characters that
// count as three tokens each.
func TestAMessageLargerThanTheWindowIsShortened(t *testing.T) {
	req := request(user("first"), user(strings.Repeat("界", 6_000)), user("last"))
	req.Count = func(_ context.Context, text string) (int, error) { return len(text), nil }
	prompts := promptsOf(t, Options{Window: 16_000}, req)
	all := ""
	for _, p := range prompts {
		if size := len(p.System + p.User); size+p.MaxTokens > 16_000 {
			t.Errorf("%d tokens and an answer of %d", size, p.MaxTokens)
		}
		all += p.User
	}
	for _, want := range []string{"first", "界", "characters left out", "last"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// TestATooLargePromptIsHalvedFromWhereItFailed fails at the second of the parts:
// the first is not paid for again.
func TestATooLargePromptIsHalvedFromWhereItFailed(t *testing.T) {
	req := long(40)
	whole := promptsOf(t, Options{Window: 16_000}, req)
	if len(whole) != 2 {
		t.Fatalf("%d parts", len(whole))
	}
	steps := []step{says("## Goal\n- one"), fails(summarizer.FailureTooLarge)}
	for range 20 {
		steps = append(steps, says("## Goal\n- later"))
	}
	backend := &scripted{steps: steps}
	got, err := newSummarizer(t, Options{Window: 16_000, Backend: backend}).Summarize(t.Context(), long(40))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(backend.prompts[2].User, "fact-0 ") {
		t.Error("the first part was read again")
	}
	if len(backend.prompts) < 4 || len(backend.prompts[2].User) > len(backend.prompts[1].User)*3/4 {
		t.Errorf("%d calls, %d bytes after %d", len(backend.prompts), len(backend.prompts[2].User), len(backend.prompts[1].User))
	}
	if got.Calls != len(backend.prompts) {
		t.Errorf("%d calls billed, %d made", got.Calls, len(backend.prompts))
	}
}

func TestPiecesSayWhereTheTextBeginsAnew(t *testing.T) {
	type seen struct {
		Piece   string
		Restart bool
	}
	retried := says("## Goal\n- one")
	retried.pieces = []string{"## G", "", "## Goal", "\n- one"}
	second := says("## Goal\n- two")
	second.pieces = []string{"## Goal\n- two"}
	var got []seen
	req := long(40)
	req.OnText = func(piece string, restart bool) { got = append(got, seen{piece, restart}) }
	if _, err := newSummarizer(t, Options{Window: 16_000, Backend: &scripted{steps: []step{retried, second}}}).Summarize(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	want := []seen{{"## G", false}, {"", true}, {"## Goal", false}, {"\n- one", false}, {"", true}, {"## Goal\n- two", false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestErrorsOfTheCounterAndTheContextComeThrough(t *testing.T) {
	broken := errors.New("no counter")
	req := request(user("hello"))
	req.Count = func(context.Context, string) (int, error) { return 0, broken }
	if _, err := newSummarizer(t, Options{Backend: &scripted{}}).Summarize(t.Context(), req); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	req = request(user("hello"))
	req.Count = func(context.Context, string) (int, error) { cancel(); return 1, nil }
	backend := &scripted{steps: []step{says(good)}}
	if _, err := newSummarizer(t, Options{Backend: backend}).Summarize(ctx, req); !errors.Is(err, context.Canceled) || len(backend.prompts) != 0 {
		t.Errorf("%v after %d calls", err, len(backend.prompts))
	}
}
