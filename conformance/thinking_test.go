package conformance

import (
	"bytes"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// regime is what is known of a model's signatures.
type regime int

const (
	unbound regime = iota // a signature covers its own block
	bound                 // and everything before it
	unknown
)

var thinkingModels = []struct {
	name   string
	regime regime
}{
	{"claude-sonnet-4-5", unbound},
	{"claude-opus-5-5", bound},
	{"claude-fable-5-1", bound},
	{"claude-of-a-later-year", bound}, // an unknown Claude counts as bound
	{"nobody-knows-1", unknown},
}

// loops are the two ends a conversation can have.
type loop struct {
	name    string
	running bool
	in      *Transcript
	start   int // the first message after the newest request
}

// loopsOf cuts a recorded conversation so that it ends with a finished turn, and
// so that it ends in a running tool loop that holds thinking.
func loopsOf(t *testing.T, name string) []loop {
	t.Helper()
	whole := recorded(t, name).in
	var out []loop
	cut := func(name string, running bool, at int) {
		conv := whole.with(whole.elements()[:at+1])
		in := read(t, Anthropic, conv, whole)
		out = append(out, loop{name, running, in, in.newestRequest(nil) + 1})
	}
	for i := whole.Len() - 1; i > 0; i-- {
		if whole.messages[i].role == "assistant" && !whole.messages[i].has("tool_use") {
			cut("finished", false, i)
			break
		}
	}
	for i := whole.Len() - 1; i > 0; i-- {
		m := whole.messages[i]
		if !m.has("tool_result") || m.has("text") {
			continue
		}
		thinks := false
		for j := i; j > 0 && !whole.asks(j); j-- {
			thinks = thinks || whole.messages[j].has("thinking")
		}
		if thinks {
			cut("running", true, i)
			break
		}
	}
	if len(out) != 2 {
		t.Fatalf("%s has no finished or no running loop", name)
	}
	return out
}

// asks reports whether message i is something the user said.
func (t *Transcript) asks(i int) bool {
	m := t.messages[i]
	return m.role == "user" && (m.has("text") || m.content.shape == shapeString)
}

// stays is the rule of the thinking policy, block by block: may the thinking of
// message i stay?
func stays(policy pb.ThinkingPolicy, r regime, l loop, i, firstChanged int) bool {
	switch policy {
	case pb.ThinkingPolicy_THINKING_POLICY_KEEP:
		return true
	case pb.ThinkingPolicy_THINKING_POLICY_REMOVE:
		return r == unbound && l.running && i >= l.start
	default:
		return r == unbound || i <= firstChanged
	}
}

// TestThinkingTable asserts for every kept message which thinking blocks it has.
func TestThinkingTable(t *testing.T) {
	w := dial(t)
	for _, name := range []string{"cc-go-thinking-590", "cc-go-dirty-106", "cc-go-parallel-346", "cc-go-unicode-70", "cc-go-image-94"} {
		for _, l := range loopsOf(t, name) {
			for _, model := range thinkingModels {
				for _, policy := range []pb.ThinkingPolicy{
					pb.ThinkingPolicy_THINKING_POLICY_AUTO, pb.ThinkingPolicy_THINKING_POLICY_KEEP, pb.ThinkingPolicy_THINKING_POLICY_REMOVE,
				} {
					t.Run(fmt.Sprintf("%s/%s/%s/%v", name, l.name, model.name, policy), func(t *testing.T) {
						t.Parallel()
						w.thinking(t, l, model.name, model.regime, policy)
					})
				}
			}
		}
	}
}

func (w *wire) thinking(t *testing.T, l loop, model string, r regime, policy pb.ThinkingPolicy) {
	s := subject{dialect: Anthropic, model: model, conv: native(pb.Format_FORMAT_ANTHROPIC_MESSAGES, string(l.in.raw)), in: l.in}
	req := s.request(setting{window: 64_000, force: true})
	req.Policy = &pb.CompressionPolicy{Thinking: policy, ProtectFirstN: proto.Int32(6)}
	resp := w.compress(t, req)
	if resp.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED {
		t.Fatalf("%v (%s)", resp.GetOutcome(), resp.GetReport().GetReason())
	}
	out := read(t, Anthropic, resp.GetConversation(), l.in)
	c := s.compression(resp, out)
	c.KeepThinking = false
	k := c.check()
	report(t, k.list)
	first := int(resp.GetReport().GetFirstChangedIndex())
	kept, removed := 0, 0
	for i, m := range l.in.messages {
		o := k.to[i]
		if o < 0 {
			if !k.gone(i) && m.has("thinking") && stays(policy, r, l, i, first) {
				t.Errorf("message %d is gone, and its thinking should have stayed", i)
			}
			continue
		}
		was, is := thinkingBlocks(m), thinkingBlocks(out.messages[o])
		if len(was) == 0 {
			continue
		}
		if !stays(policy, r, l, i, first) {
			removed += len(was)
			if len(is) > 0 {
				t.Errorf("message %d keeps %d thinking blocks", i, len(is))
			}
			continue
		}
		kept += len(was)
		if len(is) != len(was) {
			t.Errorf("message %d keeps %d of %d thinking blocks", i, len(is), len(was))
			continue
		}
		for b := range was {
			if !bytes.Equal(was[b], is[b]) {
				t.Errorf("message %d, thinking block %d: %s became %s", i, b, excerpt(was[b]), excerpt(is[b]))
			}
		}
	}
	if kept+removed == 0 {
		t.Error("no kept message has thinking: the table proves nothing here")
	}
	w.thinkingWarnings(t, resp, r, policy, removed)
}

// thinkingWarnings checks that a removal by AUTO is named with its way out.
func (w *wire) thinkingWarnings(t *testing.T, resp *pb.CompressResponse, r regime, policy pb.ThinkingPolicy, removed int) {
	var codes []string
	for _, warning := range resp.GetReport().GetWarnings() {
		codes = append(codes, warning.GetCode())
	}
	has := func(code string) bool {
		return fmt.Sprint(codes) != fmt.Sprint(nil) && bytes.Contains([]byte(fmt.Sprint(codes)), []byte(code))
	}
	auto := policy == pb.ThinkingPolicy_THINKING_POLICY_AUTO && removed > 0
	if want := auto && r == bound; has("THINKING_REMOVED") != want {
		t.Errorf("warning THINKING_REMOVED: want %v, have %v", want, codes)
	}
	if want := auto && r == unknown; has("THINKING_REGIME_UNKNOWN") != want {
		t.Errorf("warning THINKING_REGIME_UNKNOWN: want %v, have %v", want, codes)
	}
}

func thinkingBlocks(m *message) [][]byte {
	var out [][]byte
	for b := range m.content.blocks {
		if m.content.blocks[b].isThinking() {
			out = append(out, m.content.blocks[b].raw)
		}
	}
	return out
}

// TestCompressionWaitsForARunningLoopOfAnUnknownModel: above the threshold and
// below 95 % of the window nothing is done; above, or forced, it is done as for a
// bound model. A finished loop, and a model that is known, do not wait.
func TestCompressionWaitsForARunningLoopOfAnUnknownModel(t *testing.T) {
	w := dial(t)
	for _, l := range loopsOf(t, "cc-go-unicode-70") {
		conv := native(pb.Format_FORMAT_ANTHROPIC_MESSAGES, string(l.in.raw))
		for _, model := range thinkingModels {
			tokens := w.count(t, &pb.CountTokensRequest{Conversation: conv, Model: model.name}).GetTokens()
			for _, test := range []struct {
				name   string
				window int32
				force  bool
				policy pb.ThinkingPolicy
				waits  bool
			}{
				{"over the threshold", tokens * 10 / 6, false, pb.ThinkingPolicy_THINKING_POLICY_AUTO, l.running && model.regime == unknown},
				{"over 95 percent", tokens * 100 / 97, false, pb.ThinkingPolicy_THINKING_POLICY_AUTO, false},
				{"forced", tokens * 10 / 6, true, pb.ThinkingPolicy_THINKING_POLICY_AUTO, false},
				{"told to keep", tokens * 10 / 6, false, pb.ThinkingPolicy_THINKING_POLICY_KEEP, false},
			} {
				t.Run(l.name+"/"+model.name+"/"+test.name, func(t *testing.T) {
					resp := w.compress(t, &pb.CompressRequest{
						Conversation: conv, Model: model.name, ContextWindow: test.window, Force: test.force,
						Policy: &pb.CompressionPolicy{Thinking: test.policy},
					})
					want := pb.Outcome_OUTCOME_COMPRESSED
					if test.waits {
						want = pb.Outcome_OUTCOME_DEFERRED
					}
					if resp.GetOutcome() != want {
						t.Errorf("%v (%s), want %v", resp.GetOutcome(), resp.GetReport().GetReason(), want)
					}
					if test.waits && !proto.Equal(resp.GetConversation(), conv) {
						t.Error("it waits, and the conversation changed")
					}
				})
			}
		}
	}
}
