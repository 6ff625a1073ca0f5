package conformance

import (
	"context"
	"encoding/json"
	"slices"
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

// upTo is the caller's full original history after n messages.
func (h *history) upTo(n int) *pb.Conversation {
	src, last := h.parsed.Source, len(h.parsed.Messages)-1
	return native(formatOf(h.dialect), src[:h.parsed.Messages[n-1].Span.End]+src[h.parsed.Messages[last].Span.End:])
}

// ask sends the history after n messages and checks the answer.
func (r *replica) ask(t *testing.T, h *history, conv *pb.Conversation) (*pb.CompressResponse, []string) {
	t.Helper()
	resp := r.compress(t, &pb.CompressRequest{Conversation: conv, Model: h.model, ContextWindow: h.window})
	in := read(t, h.dialect, conv, nil)
	out := read(t, h.dialect, resp.GetConversation(), in)
	check := &Compression{
		Input: in, Output: out, Outcome: resp.GetOutcome(), Report: resp.GetReport(), Summary: resp.GetSummary(),
		Handoffs: in.summaries(), KeepThinking: true,
	}
	report(t, check.Check())
	return resp, elements(t, resp.GetConversation())
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

// TestAFullHistoryEveryTurnGetsAStablePrefix replays every long conversation the way
// a gateway sends it: whole, every turn.
func TestAFullHistoryEveryTurnGetsAStablePrefix(t *testing.T) {
	first := newReplica(t)
	for _, h := range histories(t, first.wire) {
		t.Run(h.name, func(t *testing.T) {
			r := newReplica(t)
			var before []string
			compressions, at := 0, 0
			for _, n := range h.turns {
				resp, after := r.ask(t, &h, h.upTo(n))
				added := h.parsed.Messages[at:n]
				if at > 0 && !extends(before, after, added, h.parsed.Source) {
					compressions++
				}
				if hit := resp.GetReport().GetContinuity().GetResult() == pb.ContinuityResult_CONTINUITY_RESULT_HIT; hit != (compressions > 0 && resp.GetReport().GetContinuity().GetRound() > 0) && compressions > 1 {
					t.Errorf("after %d messages: continuity %v after %d compressions", n, resp.GetReport().GetContinuity(), compressions)
				}
				before, at = after, n
			}
			if calls := int(r.model.calls.Load()); calls != compressions || calls == 0 {
				t.Errorf("%d calls of the summarizer, %d times the prefix changed", calls, compressions)
			}
			t.Logf("%d turns, %d compressions", len(h.turns), compressions)
		})
	}
}

// TestALostStoreCostsOneCompression moves to another server midway.
func TestALostStoreCostsOneCompression(t *testing.T) {
	first := newReplica(t)
	for _, h := range histories(t, first.wire) {
		t.Run(h.name, func(t *testing.T) {
			whole, one, other := newReplica(t), newReplica(t), newReplica(t)
			half := len(h.turns) / 2
			for i, n := range h.turns {
				whole.ask(t, &h, h.upTo(n))
				if i < half {
					one.ask(t, &h, h.upTo(n))
				}
			}
			calls := one.model.calls.Load()
			if calls == 0 {
				t.Skip("nothing was compressed in the first half")
			}
			other.ask(t, &h, h.upTo(h.turns[half-1]))
			if extra := other.model.calls.Load(); extra != 1 {
				t.Errorf("a fresh store costs %d calls", extra)
			}
			// The same history again costs nothing any more.
			other.ask(t, &h, h.upTo(h.turns[half-1]))
			if extra := other.model.calls.Load(); extra != 1 {
				t.Errorf("the same history again costs %d calls", extra-1)
			}
		})
	}
}

// TestAnEditedMessageFallsBackToTheLongestUnchangedPrefix edits one old message.
func TestAnEditedMessageFallsBackToTheLongestUnchangedPrefix(t *testing.T) {
	first := newReplica(t)
	for _, h := range histories(t, first.wire) {
		t.Run(h.name, func(t *testing.T) {
			r := newReplica(t)
			type round struct{ messages, round int32 }
			var rounds []round // what was compressed when
			for _, n := range h.turns {
				calls := r.model.calls.Load()
				resp, _ := r.ask(t, &h, h.upTo(n))
				if r.model.calls.Load() > calls {
					rounds = append(rounds, round{int32(n), resp.GetReport().GetRound()})
				}
			}
			if len(rounds) < 2 {
				t.Skip("one compression only")
			}
			// A message between the last two compressions is said otherwise.
			last, kept := rounds[len(rounds)-1], rounds[len(rounds)-2]
			edited := h.edit(t, int(kept.messages), int(last.messages))
			resp, _ := r.ask(t, &h, edited)
			c := resp.GetReport().GetContinuity()
			if c.GetResult() != pb.ContinuityResult_CONTINUITY_RESULT_HIT || c.GetMessagesCovered() != kept.messages || c.GetRound() != kept.round {
				t.Errorf("%v, want the %d messages of round %d", c, kept.messages, kept.round)
			}
		})
	}
}

// edit adds a word to the first message of the range whose content is text.
func (h *history) edit(t *testing.T, from, to int) *pb.Conversation {
	t.Helper()
	rewrite := conversation.NewRewrite(h.parsed)
	for i := from; i < to; i++ {
		if m := &h.parsed.Messages[i]; m.Role == conversation.RoleUser || m.Role == conversation.RoleTool {
			rewrite.AppendText(i, " (edited)")
			return native(formatOf(h.dialect), rewrite.Render())
		}
	}
	t.Skip("no message between the last two compressions can be edited")
	return nil
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
