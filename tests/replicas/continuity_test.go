package replicas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conformance"
	"github.com/elbowroom/elbowroom/internal/agentdouble"
	"github.com/elbowroom/elbowroom/internal/tools/session"
)

// talk is a conversation turn by turn: whole request bodies, each longer than the last.
type talk struct {
	name    string
	dialect conformance.Dialect
	format  elbowroomv1.Format
	model   string
	turns   [][]byte
}

// talks are a made-up one in OpenAI's format, with tools, and the demo's in Anthropic's.
func talks(t *testing.T) []talk {
	t.Helper()
	var list []string
	made := talk{name: "openai", dialect: conformance.OpenAI, format: elbowroomv1.Format_FORMAT_OPENAI_CHAT, model: "gpt-4o"}
	for i := range 24 {
		long := strings.Repeat(fmt.Sprintf("In the matter of continuity the tide table %d is in pier/%d.txt. ", i, i), 20)
		list = append(list,
			fmt.Sprintf(`{"role":"user","content":%q}`, "Look at number "+fmt.Sprint(i)+". "+long),
			fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\": \"pier/%d.txt\"}"}}]}`, i, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, long))
		made.turns = append(made.turns, []byte(`{"model":"gpt-4o","messages":[`+strings.Join(list, ",")+`]}`))
		list = append(list, fmt.Sprintf(`{"role":"assistant","content":%q}`, "Read. "+long))
	}
	text, err := session.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(text, `"messages":`)
	demo := talk{name: "anthropic", dialect: conformance.Anthropic, format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, model: session.Model}
	for n := 5; n <= len(body.Messages); n += 2 { // wherever the assistant is to speak next
		demo.turns = append(demo.turns, []byte(before+`"messages":[`+string(bytes.Join(raw(body.Messages[:n]), []byte(",")))+"]}"))
	}
	return []talk{made, demo}
}

func raw(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, m := range list {
		out[i] = m
	}
	return out
}

func (k *talk) request(turn int) *elbowroomv1.CompressRequest {
	req := request(k.turns[turn])
	req.Conversation.Native.Format, req.Model = k.format, k.model
	return req
}

// TestAConversationGoesOnAtAnyReplica has conversations with two servers at random, and by
// calls of all kinds. Byte for byte they go as with one server alone, and the model is called
// as often.
func TestAConversationGoesOnAtAnyReplica(t *testing.T) {
	t.Parallel()
	p := newPair(t, "--store-redis-timeout", patient)
	p.model.follow(repeats)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, k := range talks(t) {
		before := p.model.total()
		alone := make([][]byte, len(k.turns))
		for turn := range k.turns {
			alone[turn], _ = p.nodes[0].turn(t, "team-a", 0, k.request(turn))
		}
		calls := p.model.total() - before
		if calls < 2 {
			t.Errorf("%s: %d calls of the model; the test wants more compressions", k.name, calls)
		}

		// Another tenant starts anew.
		judge := agentdouble.Judge{Dialect: k.dialect}
		visits, handed := [2]int{}, 0
		last := -1
		for turn := range k.turns {
			at := random.IntN(2)
			visits[at]++
			got, report := p.nodes[at].turn(t, "team-b", random.IntN(ways), k.request(turn))
			if !bytes.Equal(got, alone[turn]) {
				t.Fatalf("%s, turn %d at server %d: not what one server alone makes", k.name, turn, at)
			}
			if _, problems := judge.Look(got); len(problems) > 0 {
				t.Errorf("%s, turn %d at server %d: %v", k.name, turn, at, problems)
			}
			if report.GetContinuity().GetResult() == elbowroomv1.ContinuityResult_CONTINUITY_RESULT_HIT && last >= 0 && last != at {
				handed++
			}
			last = at
		}
		if again := p.model.total() - before - calls; again != calls {
			t.Errorf("%s: %d calls of the model over two servers, %d with one", k.name, again, calls)
		}
		if visits[0] == 0 || visits[1] == 0 || handed == 0 {
			t.Errorf("%s: turns at the servers %v, %d went on with what the other one made", k.name, visits, handed)
		}
	}
}

// ways is how many ways there are to ask for a compression.
const ways = 4

// turn asks for a compression in one of the ways, and returns what goes to the provider.
func (n *node) turn(t *testing.T, tenant string, way int, req *elbowroomv1.CompressRequest) ([]byte, *elbowroomv1.CompressionReport) {
	t.Helper()
	ctx, cancel := bounded(t)
	defer cancel()
	var resp *elbowroomv1.CompressResponse
	var err error
	switch way {
	case 1:
		resp, err = n.stream(ctx, tenant, req, nil)
	case 2:
		req.View = elbowroomv1.View_VIEW_EDITS
		if resp, err = n.service(tenant).Compress(ctx, req); err == nil {
			follow(t, req, resp)
		}
	case 3:
		var prepared *elbowroomv1.PrepareResponse
		prepared, err = n.service(tenant).Prepare(ctx, &elbowroomv1.PrepareRequest{
			Conversation: req.GetConversation(), Model: req.GetModel(), ContextWindow: req.GetContextWindow(), Policy: req.GetPolicy(),
			Strategy: elbowroomv1.Strategy_STRATEGY_NONE,
		})
		resp = &elbowroomv1.CompressResponse{
			Outcome: prepared.GetOutcome(), Conversation: prepared.GetConversation(), Report: prepared.GetReport(), Summary: prepared.GetSummary(),
		}
	default:
		resp, err = n.service(tenant).Compress(ctx, req)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults(req, resp) {
		t.Errorf("way %d: %s", way, f)
	}
	return bodyOf(resp.GetConversation()), resp.GetReport()
}

// follow puts the conversation into an answer that has only what changed, and judges both
// forms that it has it in.
func follow(t *testing.T, req *elbowroomv1.CompressRequest, resp *elbowroomv1.CompressResponse) {
	t.Helper()
	body := bodyOf(req.GetConversation())
	full, err := conformance.ApplySplices(body, resp.GetSplices())
	if err != nil {
		t.Fatal(err)
	}
	whole := request(full).GetConversation()
	dialect := dialectOf(req)
	before, err := conformance.Read(dialect, body)
	if err != nil {
		t.Fatal(err)
	}
	after, err := conformance.ReadLike(dialect, full, before)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range (&conformance.Edits{
		Input: req.GetConversation(), Full: whole, Before: before, After: after, Edits: resp.GetEdits(), Splices: resp.GetSplices(), Carried: resp.GetConversation(),
	}).Check() {
		t.Error(v)
	}
	resp.Conversation = whole
}
