package replicas

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// TestACallerThatKeepsAnswersGoesOnAtAnyReplica is about the other kind of callers: they go
// on with what came back and hand its state to whichever server comes next. What one server
// signed, the other one takes.
func TestACallerThatKeepsAnswersGoesOnAtAnyReplica(t *testing.T) {
	t.Parallel()
	p := newPair(t, "--store-redis-timeout", patient)
	p.model.follow(repeats)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, k := range talks(t) {
		alone := p.kept(t, "team-a", k, func() *node { return p.nodes[0] })
		moving := p.kept(t, "team-b", k, func() *node { return p.nodes[random.IntN(2)] })
		if len(alone.rounds) < 2 {
			t.Errorf("%s: rounds %v; the test wants more compressions", k.name, alone.rounds)
		}
		if !slices.EqualFunc(alone.bodies, moving.bodies, bytes.Equal) || !slices.Equal(alone.rounds, moving.rounds) {
			t.Errorf("%s: two servers make something else than one: rounds %v and %v", k.name, moving.rounds, alone.rounds)
		}
	}
}

// course is what a caller that keeps answers was sent.
type course struct {
	bodies [][]byte
	rounds []int32 // of its compressions
}

// kept has a conversation, each turn at the server that where names.
func (p *pair) kept(t *testing.T, tenant string, k talk, where func() *node) course {
	t.Helper()
	var out course
	var body, state []byte
	for turn, whole := range k.turns {
		if turn == 0 {
			body = whole
		} else { // what came back, and what is new
			body = append(bytes.TrimSuffix(bytes.Clone(body), []byte("]}")), whole[len(k.turns[turn-1])-len("]}"):]...)
		}
		req := k.request(turn)
		req.Conversation.Native.Body = &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: body}
		req.CompressionState = state
		ctx, cancel := bounded(t)
		resp, err := where().service(tenant).Compress(ctx, req)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults(req, resp) {
			t.Errorf("%s, turn %d: %s", k.name, turn, f)
		}
		r := resp.GetReport()
		if want := map[bool]string{true: "verified", false: "none"}[state != nil]; resp.GetOutcome() == elbowroomv1.Outcome_OUTCOME_COMPRESSED && r.GetState() != want {
			t.Errorf("%s, turn %d: the state is %q, want %q", k.name, turn, r.GetState(), want)
		}
		if resp.GetOutcome() == elbowroomv1.Outcome_OUTCOME_COMPRESSED && resp.GetSummary() != "" {
			out.rounds = append(out.rounds, r.GetRound())
		}
		body, state = bodyOf(resp.GetConversation()), resp.GetCompressionState()
		out.bodies = append(out.bodies, body)
	}
	return out
}
