package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
)

// auxiliary stands for a language model: the embedded summarizer under another
// name, which counts its calls.
type auxiliary struct {
	*extractive.Summarizer
	calls atomic.Int32
}

func (a *auxiliary) Name() string { return "auxiliary" }

func (a *auxiliary) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Response, error) {
	a.calls.Add(1)
	return a.Summarizer.Summarize(ctx, req)
}

// replica is one server with a store of its own.
type replica struct {
	*wire
	model *auxiliary
}

func newReplica(t testing.TB) *replica {
	model := &auxiliary{Summarizer: extractive.New()}
	b := newBenchWith(t, func(o *compressor.Options) { o.Continuity = true }, model)
	return &replica{serve(t, b), model}
}

// history is a recorded conversation that grows turn by turn.
type history struct {
	subject
	parsed *conversation.Conversation
	// turns are the numbers of messages after which the agent would ask its model.
	turns  []int
	window int32
}

func histories(t *testing.T, w *wire) []history {
	t.Helper()
	var out []history
	for _, s := range subjects(t) {
		if s.dialect == Typed || s.in.Len() < 40 {
			continue
		}
		format := conversation.FormatOpenAIChat
		if s.dialect == Anthropic {
			format = conversation.FormatAnthropicMessages
		}
		c, err := conversation.Parse(format, string(nativeBytes(s.conv)), conversation.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		h := history{subject: s, parsed: c}
		for i := range c.Messages {
			if last := i == len(c.Messages)-1; last || c.Messages[i+1].Role == conversation.RoleAssistant && c.Messages[i].Role != conversation.RoleAssistant {
				h.turns = append(h.turns, i+1)
			}
		}
		// A quarter of the conversation fills the window to the threshold.
		h.window = max(w.count(t, &pb.CountTokensRequest{Conversation: s.conv, Model: s.model}).GetTokens()/2, 4_000)
		out = append(out, h)
	}
	if len(out) < 5 {
		t.Fatalf("only %d conversations of 40 messages or more", len(out))
	}
	return out
}

// TestAReminderAtTheEndOfEveryRequestKeepsThePrefix replays conversations whose caller
// ends every request with a message that is left out of the next.
func TestAReminderAtTheEndOfEveryRequestKeepsThePrefix(t *testing.T) {
	for _, h := range histories(t, newReplica(t).wire) {
		t.Run(h.name, func(t *testing.T) {
			// A reminder may bring a compression forward, and costs none else.
			r, plain := newReplica(t), newReplica(t)
			turns := h.turns[:min(len(h.turns), 48)]
			for _, n := range turns {
				plain.ask(t, &h, h.upTo(n), false)
				c := string(nativeBytes(h.upTo(n)))
				at := h.parsed.Messages[n-1].Span.End
				c = c[:at] + `,{"role":"user","content":"Reminder ` + fmt.Sprint(n) + `: keep to the plan."}` + c[at:]
				r.ask(t, &h, native(formatOf(h.dialect), c), true)
			}
			if with, without := r.model.calls.Load(), plain.model.calls.Load(); with > without+2 {
				t.Errorf("%d summaries in %d turns with reminders, %d without", with, len(turns), without)
			}
		})
	}
}

// upTo is the caller's full original history after n messages.
func (h *history) upTo(n int) *pb.Conversation {
	src, last := h.parsed.Source, len(h.parsed.Messages)-1
	return native(formatOf(h.dialect), src[:h.parsed.Messages[n-1].Span.End]+src[h.parsed.Messages[last].Span.End:])
}

// ask sends a history. A thorough one also takes the answer apart, unless messages
// that nobody has compressed yet break the provider's rules: they stay as they are.
func (r *replica) ask(t *testing.T, h *history, conv *pb.Conversation, thorough bool) *pb.CompressResponse {
	t.Helper()
	resp := r.compress(t, &pb.CompressRequest{Conversation: conv, Model: h.model, ContextWindow: h.window})
	if thorough {
		in := read(t, h.dialect, conv, nil)
		covered := int(resp.GetReport().GetContinuity().GetMessagesCovered())
		if covered > 0 && resp.GetSummary() != "" && in.LastFault() >= covered {
			return resp
		}
		out := read(t, h.dialect, resp.GetConversation(), in)
		check := &Compression{
			Input: in, Output: out, Outcome: resp.GetOutcome(), Report: resp.GetReport(), Summary: resp.GetSummary(),
			Handoffs: in.Handoffs(), KeepThinking: true,
		}
		report(t, check.Check())
	}
	return resp
}

// elements are the messages of a native conversation, byte for byte, after
// everything that is around them.
func elements(t *testing.T, c *pb.Conversation) []string {
	t.Helper()
	text := nativeBytes(c)
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		var body struct {
			Messages []json.RawMessage `json:"messages"`
			System   json.RawMessage   `json:"system"`
			Tools    json.RawMessage   `json:"tools"`
		}
		if err := json.Unmarshal(text, &body); err != nil {
			t.Fatal(err)
		}
		list = append([]json.RawMessage{body.System, body.Tools}, body.Messages...)
	}
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = string(m)
	}
	return out
}

// extends reports whether an answer is the one before and then the new messages.
func extends(before, after []string, added []conversation.Message, src string) bool {
	if len(after) != len(before)+len(added) || !slices.Equal(after[:len(before)], before) {
		return false
	}
	for i, m := range added {
		if after[len(before)+i] != src[m.Span.Start:m.Span.End] {
			return false
		}
	}
	return true
}

// round is one compression of a replay.
type round struct{ messages, number int32 }

// replay sends the history turn by turn and returns when it was compressed. Between
// two compressions each answer has to be the one before and then the new messages.
func (r *replica) replay(t *testing.T, h *history, turns []int) []round {
	t.Helper()
	var rounds []round
	var before []string
	at := 0
	for k, n := range turns {
		calls := r.model.calls.Load()
		conv := h.upTo(n)
		resp := r.ask(t, h, conv, false)
		called := int(r.model.calls.Load() - calls)
		after := elements(t, resp.GetConversation())
		changed := at > 0 && !extends(before, after, h.parsed.Messages[at:n], h.parsed.Source)
		if at == 0 {
			changed = resp.GetOutcome() == pb.Outcome_OUTCOME_COMPRESSED
		}
		// Where shortening and repairs were enough nobody was asked, and no round counted.
		number := int32(0)
		if len(rounds) > 0 {
			number = rounds[len(rounds)-1].number
		}
		alone := changed && called == 0 && resp.GetReport().GetRound() == number
		if changed != (called == 1) && !alone || called > 1 {
			t.Errorf("after %d messages: the prefix changed: %v; the summarizer was called %d times", n, changed, called)
		}
		c := resp.GetReport().GetContinuity()
		if len(rounds) > 0 && (c.GetResult() != pb.ContinuityResult_CONTINUITY_RESULT_HIT || c.GetMessagesCovered() != rounds[len(rounds)-1].messages) {
			t.Errorf("after %d messages: %v, want the compression after %d", n, c, rounds[len(rounds)-1].messages)
		}
		if changed || k%8 == 7 {
			r.ask(t, h, conv, true)
		}
		if changed {
			rounds = append(rounds, round{int32(n), resp.GetReport().GetRound()})
		}
		before, at = after, n
	}
	return rounds
}

// TestAFullHistoryEveryTurnGetsAStablePrefix replays every long conversation the way
// a gateway sends it: whole, every turn. Then it moves to a server that knows
// nothing, and edits an old message.
func TestAFullHistoryEveryTurnGetsAStablePrefix(t *testing.T) {
	for _, h := range histories(t, newReplica(t).wire) {
		t.Run(h.name, func(t *testing.T) {
			turns := h.turns
			if most := 48; !fullProduct() && len(turns) > most {
				turns = nil
				for k := range most {
					turns = append(turns, h.turns[(k+1)*len(h.turns)/most-1])
				}
			}
			r := newReplica(t)
			rounds := r.replay(t, &h, turns)
			if len(rounds) == 0 {
				t.Fatal("nothing was compressed")
			}
			t.Logf("%d turns, compressed after %v", len(turns), rounds)

			fresh := newReplica(t)
			half := len(turns) / 2
			before := 0
			for _, x := range rounds {
				if x.messages <= int32(turns[half-1]) {
					before++
				}
			}
			again := fresh.replay(t, &h, turns[half:])
			if before > 0 && before+len(again) > len(rounds)+1 {
				t.Errorf("%d compressions, with a fresh store midway %d", len(rounds), before+len(again))
			}

			if len(rounds) < 2 {
				return
			}
			last, kept := rounds[len(rounds)-1], rounds[len(rounds)-2]
			conv, edited := h.edit(t, int(kept.messages), int(last.messages))
			c := r.ask(t, &h, conv, true).GetReport().GetContinuity()
			// The last one still fits where all that it rests on stands before the message.
			fits := c.GetRound() == kept.number && c.GetMessagesCovered() == kept.messages ||
				c.GetRound() == last.number && c.GetMessagesCovered() > kept.messages && int(c.GetMessagesCovered()) <= edited
			if c.GetResult() != pb.ContinuityResult_CONTINUITY_RESULT_HIT || !fits {
				t.Errorf("message %d edited: %v, want the %d messages of round %d", edited, c, kept.messages, kept.number)
			}
		})
	}
}

// edit adds a word to the first message of the range whose content is text, and says
// which it is.
func (h *history) edit(t *testing.T, from, to int) (*pb.Conversation, int) {
	t.Helper()
	rewrite := conversation.NewRewrite(h.parsed)
	for i := from; i < to; i++ {
		if m := &h.parsed.Messages[i]; m.Role != conversation.RoleSystem && !m.Has(conversation.KindToolUse) {
			rewrite.AppendText(i, " (edited)")
			return native(formatOf(h.dialect), rewrite.Render()), i
		}
	}
	t.Fatal("no message between the last two compressions can be edited")
	return nil, 0
}

// TestPoliciesFocusAndPinsDoNotShareACompression asks for one history in several
// ways.
func TestPoliciesFocusAndPinsDoNotShareACompression(t *testing.T) {
	r := newReplica(t)
	s := recorded(t, testdata.Conversations(t)[0].Name)
	ask := func(change func(req *pb.CompressRequest)) pb.ContinuityResult {
		req := &pb.CompressRequest{Conversation: s.conv, Model: s.model, ContextWindow: 16_000, Force: true}
		change(req)
		return r.compress(t, req).GetReport().GetContinuity().GetResult()
	}
	hit, miss := pb.ContinuityResult_CONTINUITY_RESULT_HIT, pb.ContinuityResult_CONTINUITY_RESULT_MISS
	ratio := 0.3
	for _, x := range []struct {
		name   string
		change func(req *pb.CompressRequest)
	}{
		{"plain", func(*pb.CompressRequest) {}},
		{"policy", func(req *pb.CompressRequest) { req.Policy = &pb.CompressionPolicy{TargetRatio: &ratio} }},
		{"focus", func(req *pb.CompressRequest) { req.Focus = "the tests" }},
		{"pins", func(req *pb.CompressRequest) { req.Pinned = []int32{3} }},
		{"window", func(req *pb.CompressRequest) { req.ContextWindow = 17_000 }},
		{"session", func(req *pb.CompressRequest) { req.SessionId = "another" }},
		{"layer", func(req *pb.CompressRequest) { req.Layer = pb.Layer_LAYER_GATEWAY }},
		{"previous summary", func(req *pb.CompressRequest) { req.PreviousSummary = "## Goal\n- It began." }},
	} {
		if got := ask(x.change); got != miss {
			t.Errorf("%s, first time: %v", x.name, got)
		}
		if got := ask(x.change); got != hit {
			t.Errorf("%s, second time: %v", x.name, got)
		}
	}
}

// TestGivingTheSummaryBackKeepsTheContinuity sends the full history and what the
// last answer called its summary.
func TestGivingTheSummaryBackKeepsTheContinuity(t *testing.T) {
	r := newReplica(t)
	h := histories(t, r.wire)[0]
	summary, rounds := "", 0
	for _, n := range h.turns[len(h.turns)/2 : len(h.turns)/2+12] {
		resp := r.compress(t, &pb.CompressRequest{Conversation: h.upTo(n), Model: h.model, ContextWindow: h.window, PreviousSummary: summary})
		if resp.GetSummary() != summary {
			rounds++
		}
		if c := resp.GetReport().GetContinuity().GetResult(); rounds > 1 && c != pb.ContinuityResult_CONTINUITY_RESULT_HIT {
			t.Errorf("after %d messages: %v", n, c)
		}
		summary = resp.GetSummary()
	}
	if calls := int(r.model.calls.Load()); calls != rounds || calls > 3 {
		t.Errorf("%d calls for %d summaries in 12 turns", calls, rounds)
	}
}

// TestAMarkThatMovesAndOtherServersResultsAreToldApart sends histories that differ in
// what only the JSON of a block says.
func TestAMarkThatMovesAndOtherServersResultsAreToldApart(t *testing.T) {
	r := newReplica(t)
	body := func(ticket, mark string) *pb.Conversation {
		filler := strings.Repeat("The tide turns at noon, and the pier is closed until the evening. ", 300)
		list := []string{`{"role":"user","content":"Which ticket is it?"}`}
		for i := range 12 {
			list = append(list,
				`{"role":"assistant","content":[{"type":"mcp_tool_use","id":"m`+fmt.Sprint(i)+`","name":"look","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"m`+fmt.Sprint(i)+`","is_error":false,"content":[{"type":"text","text":"`+ticket+` `+filler+`"}]},{"type":"text","text":"I looked."}]}`,
				`{"role":"user","content":[{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}]`+mark+`},{"type":"text","text":"Go on `+fmt.Sprint(i)+`."}]}`)
		}
		return native(pb.Format_FORMAT_ANTHROPIC_MESSAGES, "["+strings.Join(list, ",")+"]")
	}
	ask := func(c *pb.Conversation) *pb.CompressResponse {
		return r.compress(t, &pb.CompressRequest{Conversation: c, Model: "claude-sonnet-4-5", ContextWindow: 32_000, Force: true})
	}
	first := ask(body("ALPHA-7781", ""))
	if first.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED {
		t.Fatalf("%v: %s", first.GetOutcome(), first.GetReport().GetReason())
	}
	for _, x := range []struct {
		name string
		c    *pb.Conversation
		want pb.ContinuityResult
	}{
		{"another result", body("BETA-9932", ""), pb.ContinuityResult_CONTINUITY_RESULT_MISS},
		{"a mark", body("ALPHA-7781", `,"cache_control":{"type":"ephemeral"}`), pb.ContinuityResult_CONTINUITY_RESULT_HIT},
	} {
		resp := ask(x.c)
		if got := resp.GetReport().GetContinuity().GetResult(); got != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
		if x.name == "another result" && strings.Contains(string(nativeBytes(resp.GetConversation())), "ALPHA") {
			t.Error("another conversation's facts came back")
		}
	}
}

// TestForksThatCompressAtOneTimeAreAllFoundAgain asks for many of them at once.
func TestForksThatCompressAtOneTimeAreAllFoundAgain(t *testing.T) {
	r := newReplica(t)
	h := histories(t, r.wire)[0]
	n := h.turns[len(h.turns)/2]
	fork := func(i int) *pb.CompressRequest {
		c := string(nativeBytes(h.upTo(n)))
		at := strings.LastIndex(c, "]")
		c = c[:at] + `,{"role":"user","content":"Fork ` + fmt.Sprint(i) + `"}` + c[at:]
		return &pb.CompressRequest{Conversation: native(formatOf(h.dialect), c), Model: h.model, ContextWindow: h.window, Force: true}
	}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			if _, err := r.Compress(r.ctx, fork(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 24 {
		if got := r.compress(t, fork(i)).GetReport().GetContinuity(); got.GetResult() != pb.ContinuityResult_CONTINUITY_RESULT_HIT || int(got.GetMessagesCovered()) != n+1 {
			t.Errorf("fork %d: %v", i, got)
		}
	}
}
