package compressor

import (
	"bytes"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

func TestAStateThatStandsComesBack(t *testing.T) {
	e := newTestEngine(t, &scripted{reply: "## Goal\n- something"})
	good := e.states.seal("team-a", state{Round: 1, Digest: digest("x")})
	for name, c := range map[string]struct {
		tenant string
		state  []byte
		want   []byte
	}{
		"good":             {"team-a", good, good},
		"another tenant's": {"team-b", good, nil},
		"broken":           {"team-a", append(bytes.Clone(good), 'x'), nil},
		"none":             {"team-a", nil, nil},
	} {
		r := compress(t, e, Request{
			Conversation: parse(t, conversation.FormatOpenAIChat, chat("u:hi", "a:hello", "u:so")), Tenant: c.tenant, State: c.state,
			Model: tokens.Model{Name: "gpt-4o", Known: true, Encoding: tokens.O200kBase, EncodingExact: true, ContextWindow: 100_000},
		})
		if r.Outcome != OutcomeBelowThreshold || !bytes.Equal(r.State, c.want) {
			t.Errorf("%s: %v with the state %x, want %x", name, r.Outcome, r.State, c.want)
		}
	}
}
