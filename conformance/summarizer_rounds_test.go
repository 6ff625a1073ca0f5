package conformance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/elbowroom/elbowroom/conversation"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
)

// rounds is how often a conversation is compressed.
const rounds = 10

// largestFrame is more than the frame of a summary costs, in tokens.
const largestFrame = 96

// codeOf is the fact that is planted before a round: a rule of the user with an
// identifier that occurs nowhere else.
func codeOf(round int) string { return fmt.Sprintf("QX-%d%d-77%02d", round, round+3, round) }

func plantedRule(round int) string {
	return fmt.Sprintf("The release code of part %d must always be %s; keep it in mind for the last step.", round, codeOf(round))
}

// scribe writes the summary of a model that is good enough: the sections, with the
// newest codes it was shown. It forgets older ones and writes nothing for ever.
func scribe() wiredouble.Step {
	code := regexp.MustCompile(`QX-\d+-77\d\d`)
	return wiredouble.Func(func(r wiredouble.Request) wiredouble.Step {
		found := code.FindAllString(r.User, -1)
		text := goodSummary + "\n\n## Critical context"
		seen := make(map[string]bool)
		for i := len(found) - 1; i >= 0 && len(seen) < 3; i-- {
			if !seen[found[i]] {
				seen[found[i]] = true
				text += "\n- The user set the release code " + found[i] + "."
			}
		}
		if len(seen) == 0 {
			text += "\n- No release code yet."
		}
		return wiredouble.Text(text)
	})
}

// TestTenCompressionsInARowStayBounded has a caller who keeps what comes back. The
// summary stays within the published budget (the larger of 2,000 tokens and of 5 %
// of the window, at most 12,000) and its frame, however often it is updated.
func TestTenCompressionsInARowStayBounded(t *testing.T) {
	plain := serveRungs(t, false, extractive.New())
	stands := map[Dialect]*stand{
		OpenAI: newStand(t, overOpenAI(), standOptions{}, scribe()), Anthropic: newStand(t, overAnthropic(), standOptions{}, scribe()),
	}
	for _, h := range histories(t, plain) {
		t.Run(h.name+"/extractive", func(t *testing.T) { h.chain(t, plain, pb.Rung_RUNG_EXTRACTIVE) })
		t.Run(h.name+"/model", func(t *testing.T) { h.chain(t, stands[h.dialect].wire, pb.Rung_RUNG_LLM) })
	}
}

// chain compresses a history that grows by a portion and a rule of the user each time.
func (h *history) chain(t *testing.T, w *wire, rung pb.Rung) {
	t.Helper()
	window := max(h.window/3, 4_000)
	bound := max(2_000, min(window/20, 12_000)) + largestFrame
	src := h.parsed.Source
	var kept *pb.Conversation // what came back
	var state []byte
	compressed, from := 0, 0
	for round := range rounds {
		// Half of it first, as there has to be something to compress; the rest in equal
		// portions.
		half := len(h.turns) / 2
		to := h.turns[half+round*(len(h.turns)-half)/(rounds-1)-1]
		var added []string
		for _, m := range h.parsed.Messages[from:to] {
			added = append(added, src[m.Span.Start:m.Span.End])
		}
		added = append(added, said("user", plantedRule(round)))
		if kept == nil {
			kept = h.upTo(to)
			added = added[len(added)-1:]
		}
		from = to
		req := &pb.CompressRequest{
			Conversation: appended(t, h.dialect, kept, added), Model: h.model, ContextWindow: window, Force: true, CompressionState: state,
			Policy: &pb.CompressionPolicy{ProtectLastN: proto.Int32(2), TargetRatio: proto.Float64(0.1)},
		}
		resp, err := w.Compress(w.within(t, callLimit), req)
		if err != nil {
			t.Fatal(err)
		}
		in := read(t, h.dialect, req.GetConversation(), nil)
		out := read(t, h.dialect, resp.GetConversation(), in)
		report(t, (&Compression{
			Input: in, Output: out, Outcome: resp.GetOutcome(), Report: resp.GetReport(), Summary: resp.GetSummary(),
			Handoffs: in.Handoffs(), KeepThinking: true, TokensOnly: true,
		}).Check())
		text := resp.GetConversation().GetNative().GetJson()
		if !strings.Contains(text, said("user", plantedRule(round))) {
			t.Errorf("round %d: the newest request is not there as it was", round)
		}
		r := resp.GetReport()
		if resp.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED {
			t.Logf("round %d: %v (%s)", round, resp.GetOutcome(), r.GetReason())
			kept = resp.GetConversation()
			continue
		}
		if compressed++; r.SummaryIndex != nil {
			if r.GetSummaryTokens() > bound || r.GetSummaryTokens() > r.GetSummaryBudgetTokens()+largestFrame {
				t.Errorf("round %d: a summary of %d tokens, its budget is %d and the bound %d", round, r.GetSummaryTokens(), r.GetSummaryBudgetTokens(), bound)
			}
			if r.GetRung() != rung {
				t.Errorf("round %d: rung %v after %v", round, r.GetRung(), r.GetFailedRungs())
			}
			headings(t, resp.GetSummary())
		}
		// What the rounds before this one were told to keep is in the summary or stands
		// where it stood.
		for last := max(round-1, 0); last <= round; last++ {
			if !strings.Contains(text, codeOf(last)) {
				t.Errorf("round %d lost the code of round %d: %s\n%s", round, last, codeOf(last), resp.GetSummary())
			}
		}
		if n := strings.Count(text, ourOpening); n > 1 {
			t.Errorf("round %d: %d summaries", round, n)
		}
		kept, state = resp.GetConversation(), resp.GetCompressionState()
		if round == rounds-1 {
			still := 0
			for i := range rounds {
				if strings.Contains(text, codeOf(i)) {
					still++
				}
			}
			t.Logf("%d of %d rounds compressed; %d messages, %d tokens, the summary %d of at most %d; %d of %d codes are there; facts %v",
				compressed, rounds, r.GetMessagesAfter(), r.GetTokensAfter(), r.GetSummaryTokens(), bound, still, rounds, tally(r.GetFidelity()))
		}
	}
	// The last portions of a short one can be smaller than what is protected.
	if compressed < rounds-2 {
		t.Errorf("only %d of %d rounds compressed", compressed, rounds)
	}
}

func tally(f *pb.Fidelity) string {
	return fmt.Sprintf("%d: kept %d, repaired %d, lost %d, invented %d", f.GetFacts(), f.GetKept(), f.GetRepaired(), f.GetLost(), f.GetInvented())
}

// headings fails where one stands twice.
func headings(t *testing.T, summary string) {
	t.Helper()
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(summary, "\n") {
		if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ") {
			if seen[line] {
				t.Errorf("the heading %q stands twice:\n%s", line, summary)
			}
			seen[line] = true
		}
	}
}

// appended is a conversation with messages after its last one.
func appended(t *testing.T, d Dialect, conv *pb.Conversation, messages []string) *pb.Conversation {
	t.Helper()
	format := conversation.FormatOpenAIChat
	if d == Anthropic {
		format = conversation.FormatAnthropicMessages
	}
	text := string(nativeBytes(conv))
	c, err := conversation.Parse(format, text, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	end := c.Messages[len(c.Messages)-1].Span.End
	return native(formatOf(d), text[:end]+","+strings.Join(messages, ",")+text[end:])
}
