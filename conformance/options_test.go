package conformance

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// variant is one option of Compress, tried on the whole corpus.
type variant struct {
	name  string
	apply func(*pb.CompressRequest, subject)
	// adjust tells the checker what the option allows or forbids.
	adjust func(*testing.T, *Compression, *pb.CompressResponse)
}

func policy(req *pb.CompressRequest) *pb.CompressionPolicy {
	if req.Policy == nil {
		req.Policy = &pb.CompressionPolicy{}
	}
	return req.Policy
}

func variants() []variant {
	keep := func(*testing.T, *Compression, *pb.CompressResponse) {}
	return []variant{
		{"pins", func(req *pb.CompressRequest, s subject) {
			n := s.in.Len()
			req.Pinned = []int32{int32(n / 4), int32(n / 2), int32(3 * n / 4)}
		}, func(_ *testing.T, c *Compression, _ *pb.CompressResponse) {
			n := c.Input.Len()
			c.Pinned = []int32{int32(n / 4), int32(n / 2), int32(3 * n / 4)}
		}},
		{"target", func(req *pb.CompressRequest, _ subject) {
			policy(req).TargetTokens, policy(req).ProtectLastN = proto.Int32(6_000), proto.Int32(4)
		}, func(t *testing.T, _ *Compression, resp *pb.CompressResponse) {
			r := resp.GetReport()
			switch met := r.GetTokensAfter() <= 6_000; resp.GetOutcome() {
			case pb.Outcome_OUTCOME_TARGET_UNREACHABLE:
				if met || !strings.Contains(r.GetReason(), "6,000") {
					t.Errorf("%d tokens, and the target counts as missed: %s", r.GetTokensAfter(), r.GetReason())
				}
			default:
				if !met {
					t.Errorf("%v with %d tokens, the target is 6000", resp.GetOutcome(), r.GetTokensAfter())
				}
			}
		}},
		{"strict alternation", func(req *pb.CompressRequest, _ subject) {
			policy(req).Alternation = pb.Alternation_ALTERNATION_STRICT
		}, func(_ *testing.T, c *Compression, resp *pb.CompressResponse) {
			c.Strict = true
			for _, w := range resp.GetReport().GetWarnings() {
				if w.GetCode() == "ALTERNATION" {
					c.Strict = false
				}
			}
		}},
		{"no note", func(req *pb.CompressRequest, _ subject) {
			policy(req).SystemNote = pb.SystemNote_SYSTEM_NOTE_NONE
		}, func(_ *testing.T, c *Compression, _ *pb.CompressResponse) { c.NoNote = true }},
		{"thinking removed", func(req *pb.CompressRequest, _ subject) {
			policy(req).Thinking = pb.ThinkingPolicy_THINKING_POLICY_REMOVE
		}, func(_ *testing.T, c *Compression, _ *pb.CompressResponse) { c.KeepThinking = false }},
		{"thinking kept on a bound model", func(req *pb.CompressRequest, _ subject) {
			policy(req).Thinking, req.Model = pb.ThinkingPolicy_THINKING_POLICY_KEEP, "claude-opus-5-5"
		}, keep},
		{"a bound model", func(req *pb.CompressRequest, _ subject) {
			req.Model = "claude-opus-5-5"
		}, func(_ *testing.T, c *Compression, _ *pb.CompressResponse) { c.KeepThinking = false }},
		{"an unknown model", func(req *pb.CompressRequest, _ subject) {
			req.Model = "nobody-knows-1"
		}, func(_ *testing.T, c *Compression, _ *pb.CompressResponse) { c.KeepThinking = false }},
		{"a tiny tail", func(req *pb.CompressRequest, _ subject) {
			policy(req).ProtectLastN, policy(req).ProtectFirstN, req.ContextWindow = proto.Int32(1), proto.Int32(0), 4_000
		}, keep},
		{"nothing pruned from arguments", func(req *pb.CompressRequest, _ subject) {
			policy(req).PruneToolArguments, policy(req).PruneOverChars = proto.Bool(false), proto.Int32(50)
		}, func(t *testing.T, _ *Compression, resp *pb.CompressResponse) {
			for _, p := range resp.GetReport().GetPruned() {
				if p.GetKind() == pb.PruneKind_PRUNE_KIND_ARGUMENTS {
					t.Errorf("arguments of message %d were shortened", p.GetMessageIndex())
				}
			}
		}},
		{"a summary from outside", func(req *pb.CompressRequest, _ subject) {
			req.PreviousSummary = "## Goal\n- Move the harbour lights to pier 7."
		}, func(t *testing.T, _ *Compression, resp *pb.CompressResponse) {
			if resp.GetSummary() != "" && resp.GetReport().GetRound() != 2 {
				t.Errorf("round %d, an earlier summary was given", resp.GetReport().GetRound())
			}
		}},
		{"a focus", func(req *pb.CompressRequest, _ subject) { req.Focus = "file names and exit codes" }, keep},
		{"a reserved answer", func(req *pb.CompressRequest, _ subject) {
			req.MaxOutputTokens = 8_000
		}, func(t *testing.T, _ *Compression, resp *pb.CompressResponse) {
			if got := resp.GetReport().GetContextWindow(); got != 8_000 {
				t.Errorf("the window is %d, want 16000 less 8000", got)
			}
		}},
	}
}

// TestEveryOptionKeepsThePromises tries each option on the corpus, forced, at a
// window of 16,000 tokens.
func TestEveryOptionKeepsThePromises(t *testing.T) {
	w := dial(t)
	for i, s := range subjects(t) {
		for j, v := range variants() {
			if !fullProduct() && (i+j)%5 != 0 {
				continue
			}
			t.Run(s.name+"/"+v.name, func(t *testing.T) {
				t.Parallel()
				req := s.request(setting{window: 16_000, force: true})
				v.apply(req, s)
				resp := w.compress(t, req)
				out := read(t, s.dialect, resp.GetConversation(), s.in)
				c := s.compression(resp, out)
				c.TokensOnly = v.name == "a tiny tail"
				v.adjust(t, c, resp)
				report(t, c.Check())
				if len(req.Pinned) > 0 || resp.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED {
					return // indices of pins have moved
				}
				req.Conversation = resp.GetConversation()
				if second := w.compress(t, req); !proto.Equal(second.GetConversation(), resp.GetConversation()) {
					t.Errorf("a second pass changed its input: %v, %d tokens became %d",
						second.GetOutcome(), second.GetReport().GetTokensBefore(), second.GetReport().GetTokensAfter())
				}
			})
		}
	}
}

// TestPlanOnlyChangesNothingAndPlansWhatIsDone compares the plan with the deed.
func TestPlanOnlyChangesNothingAndPlansWhatIsDone(t *testing.T) {
	w := dial(t)
	for i, s := range subjects(t) {
		if !fullProduct() && i%3 != 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			req := s.request(setting{window: 64_000, force: true})
			done := w.compress(t, req)
			req.PlanOnly = true
			plan := w.compress(t, req)
			if !proto.Equal(plan.GetConversation(), s.conv) || plan.GetSummary() != "" {
				t.Error("planning changed the conversation or wrote a summary")
			}
			if done.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED {
				if plan.GetOutcome() != done.GetOutcome() {
					t.Errorf("%v was planned, %v was done", plan.GetOutcome(), done.GetOutcome())
				}
				return
			}
			if plan.GetOutcome() != pb.Outcome_OUTCOME_PLANNED {
				t.Fatalf("%v (%s)", plan.GetOutcome(), plan.GetReport().GetReason())
			}
			if got, want := fmt.Sprint(plan.GetReport().GetRegions()), fmt.Sprint(done.GetReport().GetRegions()); got != want {
				t.Errorf("planned %s\ndone %s", got, want)
			}
		})
	}
}

// TestSummariesOfHermesAreTakenOver puts a summary as Hermes Agent writes it after
// the head, and expects it to be updated like one of the service's own.
func TestSummariesOfHermesAreTakenOver(t *testing.T) {
	w := dial(t)
	openings := []string{"[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted.", "[CONTEXT COMPACTION] Earlier turns were compacted.", "[CONTEXT SUMMARY]:"}
	for i, opening := range openings {
		for _, name := range []string{"tau-airline-gpt4o-62a", "cc-go-unicode-70"} {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				f := recorded(t, name)
				d, whole := f.dialect, f.in
				at := whole.closedAt(3)
				body := opening + "\n\n## Goal\nMove the lights of pier 7.\n\n--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
				message := append(append([]byte(`{"role":"user","content":`), quote(body)...), '}')
				have := append(append(append([][]byte(nil), whole.elements()[:at]...), message), whole.elements()[at:]...)
				s := subject{dialect: d, model: "gpt-4o", conv: whole.with(have)}
				s.in = read(t, d, s.conv, whole)
				resp := w.compress(t, s.request(setting{window: 16_000, force: true}))
				if resp.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED {
					t.Fatalf("%v (%s)", resp.GetOutcome(), resp.GetReport().GetReason())
				}
				out := read(t, d, resp.GetConversation(), s.in)
				c := s.compression(resp, out)
				c.Handoffs = []int{at}
				report(t, c.Check())
				if strings.Contains(resp.GetConversation().GetNative().GetJson(), "CONTEXT COMPACTION") || strings.Contains(resp.GetConversation().GetNative().GetJson(), "[CONTEXT SUMMARY]:") {
					t.Error("the summary that was taken over is still there")
				}
				if resp.GetReport().GetRound() != 2 {
					t.Errorf("round %d", resp.GetReport().GetRound())
				}
			})
		}
	}
}
