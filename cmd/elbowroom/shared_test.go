package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/rueidis"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conformance"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testutil/redistest"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/store"
)

const (
	tideSummary = "## Goal\n- Watch the tide at the pier.\n"
	storeAway   = "the shared store failed: this process's memory serves until it is back"
	storeBack   = "the shared store is back"
)

// failedOperations are operations on the shared store that failed, as metrics tell it.
var failedOperations = regexp.MustCompile(`elbowroom_store_operations_total\{[^}]*result="(error|timeout)"[^}]*\} [1-9]`)

// shared is what replicas share: a Redis, its key, and the model that they ask.
type shared struct {
	redis   *redistest.Server
	model   *wiredouble.Double
	environ []string
	args    []string
}

func newShared(t *testing.T, steps ...wiredouble.Step) *shared {
	t.Helper()
	s := &shared{redis: redistest.Start(t), model: wiredouble.OpenAI(t, steps...)}
	t.Setenv("OPENAI_BASE_URL", s.model.URL)
	t.Setenv("OPENAI_API_KEY", s.model.Key)
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.environ = []string{"ELBOWROOM_STORE_REDIS_URL=" + s.redis.URL()}
	s.args = []string{"--summarizers", "openai:m,extractive", "--store-encryption-key-file", keys, "--store-redis-timeout", "500ms"}
	return s
}

func (s *shared) replica(t *testing.T, args ...string) *replica {
	t.Helper()
	return startReplica(t, s.environ, append(append([]string{}, s.args...), args...)...)
}

// called waits until the model has so many calls to answer.
func (s *shared) called(t *testing.T, n int) {
	t.Helper()
	await(t, "the model's call", func() bool { return s.model.Active() == n })
}

// about is a request above the threshold: so many messages about a topic.
func about(topic string, messages int) *elbowroomv1.CompressRequest {
	var list []string
	for i := range messages {
		role := []string{"user", "assistant"}[i%2]
		list = append(list, `{"role":"`+role+`","content":`+conversation.Quote(strings.Repeat("The tide at the pier turns at noon, "+topic+". ", 50))+`}`)
	}
	return &elbowroomv1.CompressRequest{
		Conversation: &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
			Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT,
			Body:   &elbowroomv1.NativeRequest_Json{Json: `{"model":"gpt-4o","messages":[` + strings.Join(list, ",") + `]}`},
		}},
		Model: "gpt-4o", ContextWindow: 32_000,
	}
}

// whole judges an answer by every rule.
func whole(t *testing.T, req *elbowroomv1.CompressRequest, resp *elbowroomv1.CompressResponse) {
	t.Helper()
	in, err := conformance.Read(conformance.OpenAI, []byte(req.GetConversation().GetNative().GetJson()))
	if err != nil {
		t.Fatal(err)
	}
	out, err := conformance.ReadLike(conformance.OpenAI, []byte(resp.GetConversation().GetNative().GetJson()), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range (&conformance.Compression{
		Input: in, Output: out, Outcome: resp.GetOutcome(), Report: resp.GetReport(), Summary: resp.GetSummary(), KeepThinking: true,
	}).Check() {
		t.Error(v)
	}
	if resp.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED {
		t.Errorf("outcome %v: %s", resp.GetOutcome(), resp.GetReport().GetReason())
	}
}

// compress asks a replica and judges the answer.
func compress(t *testing.T, r *replica, req *elbowroomv1.CompressRequest) *elbowroomv1.CompressResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callLimit)
	defer cancel()
	resp, err := r.Compress(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, req, resp)
	return resp
}

func TestReplicasMakeOneCallForIdenticalRequests(t *testing.T) {
	const clients = 200
	gate := make(chan struct{})
	s := newShared(t, wiredouble.Text(tideSummary).Until(gate))
	// The machine is busy, and a store that times out would be away. None of the calls is
	// to be refused.
	patient := []string{"--store-redis-timeout", "20s", "--limits-max-working-calls", strconv.Itoa(clients)}
	replicas := []*replica{s.replica(t, patient...), s.replica(t, patient...)}
	for _, r := range replicas {
		if !strings.Contains(r.out.String(), "Store: Redis at "+s.redis.Addr()+", encrypted; this process's memory, 64MiB, when it is away\n") {
			t.Errorf("announced:\n%s", r.out.String())
		}
	}
	req := about("one for all", 60)
	var waiting, calls atomic.Int32
	answers := make([]*elbowroomv1.CompressResponse, clients)
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			stream, err := replicas[i%2].StreamCompress(t.Context(), &elbowroomv1.StreamCompressRequest{Request: req})
			for err == nil && answers[i] == nil {
				var event *elbowroomv1.StreamCompressResponse
				if event, err = stream.Recv(); event.GetProgress().GetPhase() == elbowroomv1.CompressPhase_COMPRESS_PHASE_SUMMARIZING {
					waiting.Add(1)
				}
				answers[i] = event.GetResult()
			}
			if err != nil {
				t.Error(err)
			}
			calls.Add(answers[i].GetReport().GetSummarizerUsage().GetCalls())
		})
	}
	await(t, "the last client", func() bool { return waiting.Load() == clients || t.Failed() })
	close(gate)
	group.Wait()
	if n := len(s.model.Requests()); n != 1 || calls.Load() != 1 {
		t.Errorf("%d calls of the model, %d billed, for %d requests", n, calls.Load(), clients)
	}
	for _, a := range answers {
		if a.GetConversation().GetNative().GetJson() != answers[0].GetConversation().GetNative().GetJson() {
			t.Fatal("the answers differ")
		}
	}
	whole(t, req, answers[0])
}

func TestABudgetHoldsOverReplicas(t *testing.T) {
	gate := make(chan struct{})
	s := newShared(t, wiredouble.Text(tideSummary).Until(gate))
	// There is room for what one call may cost, and not for what two may.
	limit := []string{"--limits-tenant-summarizer-tokens", "35000"}
	a, b := s.replica(t, limit...), s.replica(t, limit...)
	first := make(chan *elbowroomv1.CompressResponse, 1)
	go func() {
		resp, err := a.Compress(t.Context(), about("the first", 60))
		if err != nil {
			t.Error(err)
		}
		first <- resp
	}()
	s.called(t, 1)
	second := compress(t, b, about("the second", 60)).GetReport()
	if failed := second.GetFailedRungs(); second.GetRung() != elbowroomv1.Rung_RUNG_EXTRACTIVE || len(failed) != 1 || failed[0].GetCode() != "budget" {
		t.Errorf("beyond the budget: rung %v after %v", second.GetRung(), failed)
	}
	close(gate)
	if r := (<-first).GetReport(); r.GetRung() != elbowroomv1.Rung_RUNG_LLM {
		t.Errorf("within the budget: rung %v after %v", r.GetRung(), r.GetFailedRungs())
	}
	// What the call did not cost has been put back.
	if r := compress(t, b, about("the third", 60)).GetReport(); r.GetRung() != elbowroomv1.Rung_RUNG_LLM {
		t.Errorf("within it again: rung %v after %v", r.GetRung(), r.GetFailedRungs())
	}
}

func TestAReplicaTakesOverWhatAnotherCompressed(t *testing.T) {
	s := newShared(t, wiredouble.Text(tideSummary))
	a, b := s.replica(t), s.replica(t)
	made := compress(t, a, about("continued", 60)).GetConversation().GetNative().GetJson()
	again := compress(t, b, about("continued", 60))
	if got := again.GetConversation().GetNative().GetJson(); got != made || again.GetReport().GetContinuity().GetResult() != elbowroomv1.ContinuityResult_CONTINUITY_RESULT_HIT {
		t.Errorf("continuity %v, equal %v", again.GetReport().GetContinuity(), got == made)
	}
	longer := compress(t, b, about("continued", 64))
	if got := longer.GetConversation().GetNative().GetJson(); !strings.HasPrefix(got, strings.TrimSuffix(made, "]}")) || longer.GetReport().GetContinuity().GetResult() != elbowroomv1.ContinuityResult_CONTINUITY_RESULT_HIT {
		t.Errorf("the longer conversation does not begin with the compression that was made: %v", longer.GetReport().GetContinuity())
	}
	if n := len(s.model.Requests()); n != 1 {
		t.Errorf("%d calls", n)
	}
}

func TestARetryRecoversTheCallOfAKilledReplica(t *testing.T) {
	s := newShared(t, wiredouble.Hang(), wiredouble.Text(tideSummary))
	a, b := startProcess(t, s.environ, s.args...), s.replica(t)
	req := about("a killed replica", 60)
	first := make(chan error, 1)
	go func() {
		_, err := a.Compress(t.Context(), req)
		first <- err
	}()
	s.called(t, 1)
	a.kill()
	if err := <-first; status.Code(err) != codes.Unavailable {
		t.Errorf("the call of the killed replica: %v, want UNAVAILABLE", err)
	}
	// The other replica waits until the killed one's lease has run out.
	if r := compress(t, b, req).GetReport(); r.GetRung() != elbowroomv1.Rung_RUNG_LLM {
		t.Errorf("rung %v after %v", r.GetRung(), r.GetFailedRungs())
	}
	if n := len(s.model.Requests()); n != 2 {
		t.Errorf("%d calls", n)
	}
}

func TestAReplicaGoesOnWithoutItsRedis(t *testing.T) {
	for _, x := range []struct {
		name string
		harm func(t *testing.T, s *shared)
		mend func(t *testing.T, s *shared)
		away bool // the harm shows
	}{
		{"killed", func(_ *testing.T, s *shared) { s.redis.Kill() }, func(t *testing.T, s *shared) { s.redis.Restart(t) }, true},
		{"restarted", func(t *testing.T, s *shared) { s.redis.Restart(t) }, nil, false},
		{"paused", func(_ *testing.T, s *shared) { s.redis.Pause() }, func(_ *testing.T, s *shared) { s.redis.Continue() }, true},
		{"flushed", func(t *testing.T, s *shared) { s.ask(t, "FLUSHALL") }, nil, false},
		{"full", func(t *testing.T, s *shared) { s.ask(t, "CONFIG", "SET", "maxmemory", "1") }, func(t *testing.T, s *shared) { s.ask(t, "CONFIG", "SET", "maxmemory", "0") }, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			gate := make(chan struct{})
			s := newShared(t, wiredouble.Text(tideSummary).Until(gate))
			r := s.replica(t)
			var group sync.WaitGroup
			for _, topic := range []string{"one", "two"} {
				group.Go(func() {
					req := about(topic, 60)
					resp, err := r.Compress(t.Context(), req)
					if err != nil || resp.GetReport().GetRung() != elbowroomv1.Rung_RUNG_LLM {
						t.Errorf("during a call: %v, %v", resp.GetReport().GetFailedRungs(), err)
						return
					}
					whole(t, req, resp)
				})
			}
			s.called(t, 2)
			x.harm(t, s)
			close(gate)
			group.Wait()
			for _, topic := range []string{"one", "three"} {
				if resp := compress(t, r, about(topic, 60)); resp.GetReport().GetRung() != elbowroomv1.Rung_RUNG_LLM {
					t.Errorf("afterwards: rung %v after %v", resp.GetReport().GetRung(), resp.GetReport().GetFailedRungs())
				}
			}
			if x.away {
				if line := r.logged(t, storeAway); line["level"] != "WARN" {
					t.Errorf("logged %v", line)
				}
				if metrics := r.metrics(t); !failedOperations.MatchString(metrics) || !strings.Contains(metrics, "elbowroom_store_degraded ") {
					t.Errorf("metrics:\n%s", strings.Join(regexp.MustCompile(`(?m)^elbowroom_store.*`).FindAllString(metrics, -1), "\n"))
				}
			}
			if x.mend == nil {
				return
			}
			x.mend(t, s)
			await(t, "the store", func() bool {
				compress(t, r, about("mended", 60))
				return r.lines(storeBack) > 0
			})
			if n := r.lines(storeAway); n != 1 {
				t.Errorf("%d lines that it is away:\n%s", n, r.log.String())
			}
		})
	}
}

// ask sends a command to the Redis.
func (s *shared) ask(t *testing.T, words ...string) {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.redis.Addr()}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Do(t.Context(), c.B().Arbitrary(words...).Build()).Error(); err != nil {
		t.Fatal(err)
	}
}

func TestTheLogHasOneLineAboutEntriesThatCannotBeRead(t *testing.T) {
	var log strings.Builder
	w := &storeWatch{log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 3 {
		w.observe("get", store.ErrUnreadable)
	}
	if text := log.String(); strings.Count(text, "cannot be read") != 1 || strings.Contains(text, storeAway) {
		t.Errorf("log:\n%s", text)
	}
}

func TestTheLogHasALineForEachTimeTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		w := &storeWatch{log: slog.New(slog.NewTextHandler(&log, nil))}
		away, back := func() int { return strings.Count(log.String(), storeAway) }, func() int { return strings.Count(log.String(), storeBack) }
		w.observe("get", nil)
		for range 20 { // reads succeed, writes do not
			w.observe("set", errors.New("full"))
			w.observe("get", nil)
			<-time.After(settled / 2)
		}
		if away() != 1 || back() != 0 {
			t.Errorf("log:\n%s", log.String())
		}
		<-time.After(settled)
		w.observe("get", nil)
		w.observe("get", nil)
		if away() != 1 || back() != 1 {
			t.Errorf("back:\n%s", log.String())
		}
		w.observe("get", errors.New("gone"))
		if away() != 2 || back() != 1 {
			t.Errorf("away again:\n%s", log.String())
		}
	})
}
