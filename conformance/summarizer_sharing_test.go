package conformance

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// called waits until the double has a call to answer, idle until it has none.
func (s *stand) called(t *testing.T) { s.await(t, func() bool { return s.model.Active() > 0 }) }
func (s *stand) idle(t *testing.T)   { s.await(t, func() bool { return s.model.Active() == 0 }) }

// await asks again and again until the answer is yes.
func (w *wire) await(t *testing.T, yes func() bool) {
	t.Helper()
	ctx := w.within(t, callLimit)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it does not come")
		}
	}
}

// withoutBill is an answer without what it cost, which differs between those who
// shared it.
func withoutBill(resp *pb.CompressResponse) *pb.CompressResponse {
	out := proto.CloneOf(resp)
	out.GetReport().SummarizerUsage = nil
	out.GetReport().Continuity = nil
	out.GetReport().CacheEffect = nil // the summary's cost is part of it
	return out
}

// TestAHundredIdenticalRequestsMakeOneCall sends them at the same time, half of
// them as streams, while the model takes its time.
func TestAHundredIdenticalRequestsMakeOneCall(t *testing.T) {
	const clients = 100
	for _, p := range []provider{overOpenAI(), overAnthropic(), overPlugin()} {
		for _, continuity := range []bool{false, true} {
			name := p.name + " alone"
			if continuity {
				name = p.name + " with continuity"
			}
			t.Run(name, func(t *testing.T) {
				gate := make(chan struct{})
				s := newStand(t, p, standOptions{continuity: continuity}, wiredouble.Text(goodSummary).Until(gate))
				req := s.request(talk(s.dialect, "one call", 14))
				answers := make([]*pb.CompressResponse, clients)
				var joined atomic.Int32 // those that were told that a summary is being written
				var done sync.WaitGroup
				for i := range clients {
					done.Go(func() {
						if i%2 == 0 {
							got, err := s.streamTo(s.within(t, callLimit), req, func(phase pb.CompressPhase) {
								if phase == pb.CompressPhase_COMPRESS_PHASE_SUMMARIZING {
									joined.Add(1)
								}
							})
							if err != nil {
								t.Error(err)
								return
							}
							answers[i] = got.result
							return
						}
						var err error
						if answers[i], err = s.Compress(s.within(t, callLimit), req); err != nil {
							t.Error(err)
						}
					})
				}
				s.await(t, func() bool { return joined.Load() == clients/2 })
				close(gate)
				done.Wait()
				if t.Failed() {
					t.FailNow()
				}
				if n := len(s.model.Requests()); n != 1 {
					t.Errorf("%d calls for %d identical requests", n, clients)
				}
				calls, reused := 0, 0
				for i, a := range answers {
					if !proto.Equal(withoutBill(a), withoutBill(answers[0])) && !continuity {
						t.Errorf("answer %d is another one", i)
					}
					if !proto.Equal(a.GetConversation(), answers[0].GetConversation()) {
						t.Errorf("conversation %d is another one", i)
					}
					calls += int(a.GetReport().GetSummarizerUsage().GetCalls())
					if a.GetReport().GetSummarizerUsage().GetReused() {
						reused++
					}
				}
				if calls != 1 || !continuity && reused != clients-1 {
					t.Errorf("%d calls billed, %d answers reused", calls, reused)
				}
				s.whole(t, req, answers[0])
			})
		}
	}
}

// TestARetryAfterATimeoutPaysNoSecondTime has a client that gives up before the
// model answers, and comes back after it has.
func TestARetryAfterATimeoutPaysNoSecondTime(t *testing.T) {
	for _, x := range []struct {
		name       string
		session    string
		continuity bool
	}{
		{name: "without a session"},
		{name: "with a session", session: "s"},
		{name: "with continuity", continuity: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			gate := make(chan struct{})
			s := newStand(t, overOpenAI(), standOptions{continuity: x.continuity}, wiredouble.Text(goodSummary).Until(gate))
			s.count(t, &pb.CountTokensRequest{Text: proto.String("words"), Model: "gpt-4o"})
			req := s.request(talk(OpenAI, "a retry", 14))
			req.SessionId = x.session
			req.Policy = &pb.CompressionPolicy{FailurePolicy: pb.FailurePolicy_FAILURE_POLICY_ABORT}
			// The client's time is up. The server ends the wait a little earlier.
			ctx, cancel := context.WithTimeout(s.ctx, 700*time.Millisecond)
			_, err := s.Compress(ctx, req)
			cancel()
			if c := status.Code(err); c != codes.Unavailable && c != codes.DeadlineExceeded {
				t.Fatalf("the first try: %v", err)
			}
			if n := len(s.model.Requests()); n != 1 {
				t.Fatalf("%d calls before the retry", n)
			}
			close(gate)
			s.idle(t)
			// The answer may still be on its way into the store; while the session cools down
			// the retry is told to wait.
			var resp *pb.CompressResponse
			s.await(t, func() bool {
				if resp, err = s.Compress(s.within(t, callLimit), req); err != nil {
					t.Fatal(err)
				}
				if resp.GetOutcome() == pb.Outcome_OUTCOME_COOLING_DOWN {
					// Under ABORT a session waits its time, whatever is in the store. A client that
					// takes any summary gets this one.
					req.Policy = nil
					return false
				}
				return x.session == "" || resp.GetReport().GetRung() != pb.Rung_RUNG_EXTRACTIVE
			})
			s.whole(t, req, resp)
			r := resp.GetReport()
			if r.GetRung() != pb.Rung_RUNG_LLM || !r.GetSummarizerUsage().GetReused() || r.GetSummarizerUsage().GetCalls() != 0 {
				t.Errorf("the retry: rung %v, %v, failed %v", r.GetRung(), r.GetSummarizerUsage(), r.GetFailedRungs())
			}
			if n := len(s.model.Requests()); n != 1 {
				t.Errorf("%d calls for one summary", n)
			}
		})
	}
}

// TestAnotherRequestIsAnotherCall changes one thing at a time.
func TestAnotherRequestIsAnotherCall(t *testing.T) {
	s := newStand(t, overOpenAI(), standOptions{}, wiredouble.Text(goodSummary))
	changes := []func(req *pb.CompressRequest){
		func(*pb.CompressRequest) {},
		func(req *pb.CompressRequest) { req.Focus = "the heights" },
		func(req *pb.CompressRequest) { req.PreviousSummary = "## Goal\n- The tables of last week." },
		func(req *pb.CompressRequest) {
			req.Conversation = native(pb.Format_FORMAT_OPENAI_CHAT, talk(OpenAI, "another topic", 14))
		},
		func(req *pb.CompressRequest) { req.Policy = &pb.CompressionPolicy{ProtectLastN: proto.Int32(24)} },
	}
	for i, change := range changes {
		for range 2 {
			req := s.request(talk(OpenAI, "one topic", 14))
			change(req)
			s.whole(t, req, s.compress(t, req))
		}
		if n := len(s.model.Requests()); n != i+1 {
			t.Errorf("%d calls after %d different requests, each sent twice", n, i+1)
		}
	}
}

// TestASecondPassCallsNobody sends what came back, forced and not.
func TestASecondPassCallsNobody(t *testing.T) {
	for _, p := range []provider{overOpenAI(), overAnthropic()} {
		for _, continuity := range []bool{false, true} {
			s := newStand(t, p, standOptions{continuity: continuity}, wiredouble.Text(goodSummary))
			req := s.request(talk(s.dialect, "twice", 14))
			first := s.compress(t, req)
			s.whole(t, req, first)
			for _, force := range []bool{false, true} {
				req.Conversation, req.Force = first.GetConversation(), force
				second := s.compress(t, req)
				if !proto.Equal(second.GetConversation(), first.GetConversation()) {
					t.Errorf("%s, forced %v: the second pass changed its input: %v (%s)", p.name, force, second.GetOutcome(), second.GetReport().GetReason())
				}
			}
			if n := len(s.model.Requests()); n != 1 {
				t.Errorf("%s: %d calls", p.name, n)
			}
		}
	}
}
