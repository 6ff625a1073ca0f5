package conformance

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// with returns a native conversation whose list of messages is another one; what
// stands beside the list stays.
func (t *Transcript) with(messages [][]byte) *pb.Conversation {
	list := append(append([]byte{'['}, bytes.Join(messages, []byte(","))...), ']')
	if t.bare {
		return native(formatOf(t.dialect), string(list))
	}
	var body bytes.Buffer
	for i, m := range t.body.members {
		body.Write(t.body.glue[i])
		if m.key == "messages" {
			body.Write(list)
		} else {
			body.Write(m.value)
		}
	}
	body.Write(t.body.glue[len(t.body.members)])
	return native(formatOf(t.dialect), body.String())
}

// elements are the messages' bytes.
func (t *Transcript) elements() [][]byte { return append([][]byte(nil), t.list.elements...) }

// closedAt moves a cut forward to a place where no call waits for its result.
func (t *Transcript) closedAt(cut int) int {
	for ; cut < t.Len(); cut++ {
		m := t.messages[cut]
		waits := m.isResult()
		for b := range m.content.blocks {
			waits = waits || m.content.blocks[b].kind == "tool_result"
		}
		if !waits {
			break
		}
	}
	return cut
}

// TestALaterCompressionUpdatesTheEarlierSummary compresses the first part of a
// conversation, appends the rest to what came back, and compresses that.
func TestALaterCompressionUpdatesTheEarlierSummary(t *testing.T) {
	subjects(t) // skips the whole test where there are none
	w := dial(t)
	var updated atomic.Int32
	t.Run("conversations", func(t *testing.T) { w.laterCompressions(t, &updated) })
	if updated.Load() < 8 {
		t.Errorf("only %d conversations were long enough", updated.Load())
	}
}

func (w *wire) laterCompressions(t *testing.T, updated *atomic.Int32) {
	for _, f := range subjects(t) {
		d, whole := f.dialect, f.in
		if d == Typed {
			continue
		}
		cut := whole.closedAt(whole.Len() * 6 / 10)
		if cut >= whole.Len() || whole.Len() < 40 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := subject{dialect: d, model: "claude-sonnet-4-5", conv: whole.with(whole.elements()[:cut])}
			s.in = read(t, d, s.conv, whole)
			req := s.request(setting{window: 64_000, force: true})
			first := w.compress(t, req)
			if first.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED || first.GetSummary() == "" {
				t.Fatalf("the first part: %v (%s)", first.GetOutcome(), first.GetReport().GetReason())
			}
			out := read(t, d, first.GetConversation(), s.in)
			report(t, s.compression(first, out).Check())

			// Until the threshold is met again the answer is what was sent: it extends the
			// one before.
			few := whole.closedAt(min(cut+2, whole.Len()-1))
			between := subject{dialect: d, model: s.model, conv: out.with(append(out.elements(), whole.elements()[cut:few]...))}
			still := w.compress(t, between.request(setting{window: 200_000}))
			if still.GetOutcome() != pb.Outcome_OUTCOME_BELOW_THRESHOLD || !proto.Equal(still.GetConversation(), between.conv) {
				t.Errorf("a few messages later: %v (%s)", still.GetOutcome(), still.GetReport().GetReason())
			}

			grown := subject{dialect: d, model: s.model, conv: out.with(append(out.elements(), whole.elements()[cut:]...))}
			grown.in = read(t, d, grown.conv, whole)
			again := grown.request(setting{window: 64_000, force: true})
			second := w.compress(t, again)
			if second.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED {
				t.Fatalf("the whole: %v (%s)", second.GetOutcome(), second.GetReport().GetReason())
			}
			after := read(t, d, second.GetConversation(), grown.in)
			c := grown.compression(second, after)
			c.Handoffs = []int{int(first.GetReport().GetSummaryIndex())}
			report(t, c.Check())
			checkUpdated(t, first, second, out, after)
			again.CompressionState = first.GetCompressionState()
			if stated := w.compress(t, again); !proto.Equal(stated.GetConversation(), second.GetConversation()) || stated.GetReport().GetRound() != 2 {
				t.Errorf("with its state the answer is another one: round %d, state %q", stated.GetReport().GetRound(), stated.GetReport().GetState())
			}
			updated.Add(1)
		})
	}
}

// checkUpdated checks that the second summary took the place of the first.
func checkUpdated(t *testing.T, first, second *pb.CompressResponse, out, after *Transcript) {
	t.Helper()
	if first.GetReport().GetRound() != 1 || second.GetReport().GetRound() != 2 {
		t.Errorf("rounds %d and %d", first.GetReport().GetRound(), second.GetReport().GetRound())
	}
	was := out.messages[first.GetReport().GetSummaryIndex()].raw
	for i, m := range after.messages {
		if bytes.Equal(m.raw, was) {
			t.Errorf("the earlier summary is still there, at message %d", i)
		}
	}
	if n := len(after.Handoffs()); n != 1 {
		t.Errorf("%d summaries in the output", n)
	}
	if was, is := systemText(out), systemText(after); was != is {
		t.Errorf("the second compression changed the system prompt:\n%s\n%s", was, is)
	}
	if summary := second.GetReport().GetSummaryTokens(); summary > second.GetReport().GetSummaryBudgetTokens()+frame {
		t.Errorf("a summary of %d tokens, the budget is %d", summary, second.GetReport().GetSummaryBudgetTokens())
	}
}

// frame is more than what the service writes around a summary, in tokens.
const frame = 100

func systemText(t *Transcript) string {
	if t.system != nil {
		return string(t.system.raw)
	}
	for _, m := range t.messages {
		if m.isSystem() {
			return string(m.raw)
		}
	}
	return ""
}

// TestFiveChainedCompressionsStayBounded grows a conversation in six parts,
// compressing after each.
func TestFiveChainedCompressionsStayBounded(t *testing.T) {
	w := dial(t)
	for _, name := range []string{"aider-chat-487", "cc-go-parallel-346", "cc-go-thinking-590", "mini-deepseek-astroid-378", "pi-ts-session-907", "deer-research-74"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := recorded(t, name)
			d, whole := f.dialect, f.in
			var have [][]byte
			var sizes []string
			handoff, rounds := -1, 0
			for part := range 6 {
				from, to := whole.closedAt(whole.Len()*part/6), whole.closedAt(whole.Len()*(part+1)/6)
				have = append(have, whole.elements()[from:to]...)
				s := subject{dialect: d, model: "claude-sonnet-4-5", conv: whole.with(have)}
				s.in = read(t, d, s.conv, whole)
				resp := w.compress(t, s.request(setting{window: 16_000, force: true}))
				out := read(t, d, resp.GetConversation(), s.in)
				c := s.compression(resp, out)
				if handoff >= 0 {
					c.Handoffs = []int{handoff}
				}
				report(t, c.Check())
				r := resp.GetReport()
				sizes = append(sizes, fmt.Sprintf("%v %d->%d tokens, %d messages, summary %d", resp.GetOutcome(), r.GetTokensBefore(), r.GetTokensAfter(), out.Len(), r.GetSummaryTokens()))
				if resp.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED {
					continue
				}
				have = out.elements()
				if r.SummaryIndex != nil {
					handoff, rounds = int(r.GetSummaryIndex()), rounds+1
					if r.GetSummaryTokens() > r.GetSummaryBudgetTokens()+frame {
						t.Errorf("part %d: a summary of %d tokens, the budget is %d", part, r.GetSummaryTokens(), r.GetSummaryBudgetTokens())
					}
				}
				if n := len(out.Handoffs()); n > 1 {
					t.Errorf("part %d: %d summaries", part, n)
				}
			}
			if rounds < 4 {
				t.Errorf("%d rounds wrote a summary", rounds)
			}
			t.Log(strings.Join(sizes, "\n"))
		})
	}
}

// TestTheSameTurnsAgainAndAgainReachAFixedPoint appends one stretch of turns ten
// times, compressing after each: nothing may feed on itself.
func TestTheSameTurnsAgainAndAgainReachAFixedPoint(t *testing.T) {
	w := dial(t)
	for _, name := range []string{"tau-airline-gpt4o-62a", "swe-ctf-web-text", "cc-go-unicode-70", "deer-research-74"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := recorded(t, name)
			d, whole := f.dialect, f.in
			from := whole.closedAt(2)
			stretch := whole.elements()[from:whole.closedAt(from+30)]
			have := append([][]byte(nil), whole.elements()[:from]...)
			var sizes []int32
			for range 10 {
				have = append(have, stretch...)
				resp := w.compress(t, &pb.CompressRequest{Conversation: whole.with(have), Model: "gpt-4o", ContextWindow: 16_000, Force: true})
				have = read(t, d, resp.GetConversation(), whole).elements()
				sizes = append(sizes, resp.GetReport().GetTokensAfter())
			}
			for _, size := range sizes[4:] {
				if size > sizes[3]*11/10+100 {
					t.Errorf("sizes after each round: %v", sizes)
					break
				}
			}
		})
	}
}
