package breakpoints

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/seal"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

func anchoredWith(t *testing.T, in string, opts Options) (*Result, string) {
	t.Helper()
	opts.Strategy, opts.Model = StrategyAnchored, "claude-opus-5"
	res, out := place(t, anthropic, in, opts)
	return res, short(marksIn(t, anthropic, out))
}

func TestTheStateFindsThePreviousEndByItsContent(t *testing.T) {
	keys := [][]byte{[]byte("a key that is long enough for a test")}
	first := native(staticAlone, "", "u a u")
	before, _ := anchoredWith(t, first, Options{StateKeys: keys})
	if before.StateVerdict != seal.None || len(before.State) == 0 || len(before.State) > 512 {
		t.Fatalf("verdict %q, %d bytes of state", before.StateVerdict, len(before.State))
	}
	tests := []struct {
		name    string
		in      string
		opts    Options
		want    string
		anchor  Anchor
		verdict seal.Verdict
	}{
		{name: "one answer later", in: native(staticAlone, "", "u a u a u"), want: "s0 2.0 4.0", anchor: AnchorState, verdict: seal.Verified},
		{name: "two answers later, one of them unseen", in: native(staticAlone, "", "u a u c1 r1 a u"), want: "s0 2.0 6.0", anchor: AnchorState, verdict: seal.Verified},
		{name: "without it the last answer decides", in: native(staticAlone, "", "u a u c1 r1 a u"), opts: Options{State: []byte{}}, want: "s0 4.0 6.0", anchor: AnchorReply, verdict: seal.None},
		{name: "changed on the way", in: native(staticAlone, "", "u a u c1 r1 a u"), opts: Options{State: append([]byte{stateKind}, before.State[5:]...)}, want: "s0 4.0 6.0", anchor: AnchorReply, verdict: seal.Broken},
		{name: "no state at all", in: native(staticAlone, "", "u a u a u"), opts: Options{State: []byte("hello")}, want: "s0 2.0 4.0", anchor: AnchorReply, verdict: seal.Foreign},
		{name: "of another model", in: native(staticAlone, "", "u a u c1 r1 a u"), opts: Options{Layout: LayoutVertex}, want: "s0 4.0 6.0", anchor: AnchorReply, verdict: "ignored: of another layout or model"},
		{name: "an edited message", in: strings.Replace(native(staticAlone, "", "u a u c1 r1 a u"), "u 0", "U 0", 1), want: "s0 4.0 6.0", anchor: AnchorReply, verdict: seal.Verified},
		{name: "the same request again", in: first, want: "s0 0.0 2.0", anchor: AnchorReply, verdict: seal.Verified},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.opts.State == nil {
				tt.opts.State = before.State
			}
			tt.opts.StateKeys = keys
			res, got := anchoredWith(t, tt.in, tt.opts)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			if res.Anchor != tt.anchor || res.StateVerdict != tt.verdict {
				t.Errorf("anchor %q, verdict %q", res.Anchor, res.StateVerdict)
			}
		})
	}
}

// A caller may put a block in front, join messages, or keep what came back.
func TestTheStateSurvivesWhatChangesNoContent(t *testing.T) {
	first := `{"system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`
	res, _ := anchoredWith(t, first, Options{})
	_, marked := place(t, anthropic, first, Options{Strategy: StrategyAnchored, Model: "claude-opus-5"})
	for name, in := range map[string]string{
		"the original":          strings.Replace(first, `"c"}]`, `"c"},{"role":"assistant","content":"d"},{"role":"assistant","content":"e"},{"role":"user","content":"f"}]`, 1),
		"what came back":        strings.TrimSuffix(marked, "]}") + `,{"role":"assistant","content":"d"},{"role":"assistant","content":"e"},{"role":"user","content":"f"}]}`,
		"text added to the end": strings.Replace(first, `"content":"c"}]`, `"content":[{"type":"text","text":"c"},{"type":"text","text":"steer"}]},{"role":"assistant","content":"d"},{"role":"assistant","content":"e"},{"role":"user","content":"f"}]`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			res, got := anchoredWith(t, in, Options{State: res.State})
			if got != "s0 2.0 5.0" || res.Anchor != AnchorState || res.StateVerdict != seal.Unverified {
				t.Errorf("marks %s, anchor %q, verdict %q", got, res.Anchor, res.StateVerdict)
			}
		})
	}
}

// Other libraries write the same JSON with other spaces, escapes and numbers. The order of keys is part of the prompt.
func TestTheStateSurvivesOtherSpellingsOfSchemasAndArguments(t *testing.T) {
	const first = `{"tools":[{"name":"look","input_schema":{"type":"object","properties":{"é":{"maximum":10}}}}],"system":"S","messages":[` +
		`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"look","input":{"é":1,"path":"a/b"}},` +
		`{"type":"server_tool_use","id":"t2","name":"web_search","input":{"n":2}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"c"}]}]}`
	const later = `}]},{"role":"assistant","content":"d"},{"role":"assistant","content":"e"},{"role":"user","content":"f"}]}`
	grown := strings.TrimSuffix(first, "}]}]}") + later
	res, _ := anchoredWith(t, first, Options{})
	for _, tt := range []struct {
		name, old, new string
		anchor         Anchor
	}{
		{"as it was", "", "", AnchorState},
		{"spaces in the schema", `{"type":"object","properties":`, "{ \"type\": \"object\",\n\"properties\" : ", AnchorState},
		{"an escape in the schema", `"properties":{"é"`, `"properties":{"\u00e9"`, AnchorState},
		{"a number in the schema", `"maximum":10`, `"maximum":1e1`, AnchorState},
		{"the schema's keys in another order", `{"type":"object","properties":{"é":{"maximum":10}}}`, `{"properties":{"é":{"maximum":10}},"type":"object"}`, AnchorReply},
		{"spaces in arguments", `{"é":1,"path":"a/b"}`, `{"é": 1, "path": "a/b"}`, AnchorState},
		{"escapes in arguments", `{"é":1,"path":"a/b"}`, `{"\u00e9":1,"path":"a\/b"}`, AnchorState},
		{"a number in arguments", `{"é":1,`, `{"é":1.0,`, AnchorState},
		{"arguments in another order", `{"é":1,"path":"a/b"}`, `{"path":"a/b","é":1}`, AnchorReply},
		{"another number in arguments", `{"é":1,`, `{"é":1.5,`, AnchorReply},
		{"a number of a server's tool", `{"n":2}`, `{"n": 2.0}`, AnchorState},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := strings.Replace(grown, tt.old, tt.new, 1)
			if next, _ := anchoredWith(t, in, Options{State: res.State}); next.Anchor != tt.anchor {
				t.Errorf("anchor %q, want %q, for\n%s", next.Anchor, tt.anchor, in)
			}
		})
	}
}

func TestTheStateRemembersOlderEndsForAFork(t *testing.T) {
	opts := Options{}
	var marks string
	for _, words := range []string{"u", "u a u", "u a u a u", "u a u a u a u"} {
		var res *Result
		res, marks = anchoredWith(t, native(staticAlone, "", words), opts)
		opts.State = res.State
	}
	if marks != "s0 4.0 6.0" {
		t.Fatalf("marks %s", marks)
	}
	// The newest three messages are replaced: the end of the second request is the
	// newest one that is still there.
	fork := strings.NewReplacer("u 4", "other", "a 5", "another").Replace(native(staticAlone, "", "u a u a u a u"))
	res, got := anchoredWith(t, fork, opts)
	if got != "s0 2.0 6.0" || res.Anchor != AnchorState {
		t.Errorf("marks %s, anchor %q", got, res.Anchor)
	}
}

// Whoever keeps the marks and asks for them to be respected gets the state of those.
func TestAMarkedConversationThatIsRespectedHasAState(t *testing.T) {
	anchor := func(in string, opts Options) (*Result, string) {
		opts.Strategy, opts.Model = StrategyAnchored, "claude-opus-5"
		return place(t, anthropic, in, opts)
	}
	first, marked := anchor(native(staticAlone, "", "u a u"), Options{})
	again, out := anchor(marked, Options{Existing: ExistingRespect, SplitSystem: true, StaticSystem: "Be"})
	if out != marked || len(again.Skipped) > 0 {
		t.Errorf("skipped %v, changed to %s", again.Skipped, out)
	}
	plain, _ := anchor(marked, Options{Existing: ExistingRespect})
	if diff := cmp.Diff(first.State, plain.State); diff != "" {
		t.Errorf("the state of the same marks (-placed +respected):\n%s", diff)
	}
	// It serves the next request, and one that is respected itself passes it on.
	next := native(staticAlone, "", "u a u c1 r1 a u")
	if res, _ := anchor(next, Options{State: plain.State}); res.Anchor != AnchorState {
		t.Errorf("anchor %q", res.Anchor)
	}
	_, theirs := place(t, anthropic, next, Options{})
	passed, _ := anchor(theirs, Options{State: plain.State, Existing: ExistingRespect})
	if passed.Anchor != AnchorState || passed.StateVerdict != seal.Unverified {
		t.Errorf("anchor %q, verdict %q", passed.Anchor, passed.StateVerdict)
	}
	if res, _ := anchor(native(staticAlone, "", "u a u c1 r1 a u a u"), Options{State: passed.State}); res.Anchor != AnchorState {
		t.Errorf("one request later: anchor %q", res.Anchor)
	}
	// Nothing is marked among the messages.
	head := strings.Replace(marked, `"messages":`, `"messages":[{"role":"user","content":"x"}],"x":`, 1)
	if res, _ := anchor(head, Options{Existing: ExistingRespect}); len(res.State) > 0 {
		t.Error("a state of no end")
	}
	automatic := `{"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":"a"}]}`
	if res, _ := anchor(automatic, Options{Existing: ExistingRespect}); len(res.State) == 0 {
		t.Error("no state of a request that is marked as a whole")
	}
}

func TestASystemPromptThatTurnsOutToVaryGivesItsToolsAMark(t *testing.T) {
	res, got := anchoredWith(t, native(staticAlone, twoTools, "U A u"), Options{})
	if got != "s0 0.0 1.0 2.0" {
		t.Errorf("marks %s", got)
	}
	for range 2 { // and it is remembered
		res, got = anchoredWith(t, native(`"Be verbose."`, twoTools, "U A u a u"), Options{State: res.State})
		if got != "t1 s0 2.0 4.0" {
			t.Errorf("marks %s", got)
		}
	}
}

// Marks of the previous request that are still there say where it ended.
func TestMarksThatAreLeftShowThePreviousEnd(t *testing.T) {
	in := native(staticAlone, "", "u a u")
	_, marked := place(t, anthropic, in, Options{Strategy: StrategyAnchored})
	next := strings.TrimSuffix(marked, "]}") + `,{"role":"assistant","content":"d"},{"role":"user","content":"f"}]}`
	res, out := place(t, anthropic, next, Options{Strategy: StrategyAnchored})
	if got := short(marksIn(t, anthropic, out)); got != "s0 2.0 4.0" || res.Anchor != AnchorReply {
		t.Errorf("marks %s, anchor %q", got, res.Anchor)
	}
	// A user message was added twice before the model answered.
	next = strings.TrimSuffix(marked, "]}") + `,{"role":"assistant","content":"d"},{"role":"user","content":[{"type":"text","text":"e",` + mark + `}]},{"role":"user","content":"f"}]}`
	res, out = place(t, anthropic, next, Options{Strategy: StrategyAnchored})
	if got := short(marksIn(t, anthropic, out)); got != "s0 4.0 5.0" || res.Anchor != AnchorMarks {
		t.Errorf("marks %s, anchor %q", got, res.Anchor)
	}
}

// Replayed turn by turn, the anchor is always the last block of the turn before,
// with the state and, where every turn ends in an answer, without it.
func TestTheAnchorIsThePreviousLastBlockOnEveryTurn(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			format := formatOf(f)
			whole := parse(t, format, f.JSON)
			opts := Options{Strategy: StrategyAnchored, Claude: true, Model: "claude-opus-5"}
			if format == openAI {
				opts.Layout = LayoutOpenRouter
			}
			var previous Position
			turns := 0
			for n := 1; n <= len(whole.Messages); n++ {
				if n < len(whole.Messages) && whole.Messages[n].Role != conversation.RoleAssistant || whole.Messages[n-1].Role == conversation.RoleAssistant {
					continue // the model is asked when it has not spoken last
				}
				part := *whole
				part.Messages = whole.Messages[:n]
				res, err := Place(&part, opts)
				if err != nil {
					t.Fatal(err)
				}
				opts.State = res.State
				if len(res.Breakpoints) == 0 {
					continue
				}
				last := res.Breakpoints[len(res.Breakpoints)-1].Position
				marked := false
				for _, b := range res.Breakpoints {
					marked = marked || b.Position == previous
				}
				// What the automatic mode marked may have no place for a mark; that its entry is read is tried by package simulator.
				if turns > 0 && !marked && previous.Message >= 0 {
					t.Fatalf("turn of %d messages: %v was the end before, marks on %v (anchor %q)", n, previous, res.Breakpoints, res.Anchor)
				}
				previous = last
				turns++
			}
			if turns < 2 {
				t.Skipf("%d turns", turns)
			}
		})
	}
}
