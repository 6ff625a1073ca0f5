package breakpoints

import (
	"strings"
	"testing"
)

// chatOf is an OpenAI request of a system prompt and messages: u a user's text, i an image behind a text, a an answer, c a
// call, x an empty answer, f a function's result, t a tool's, e an empty one.
func chatOf(messages string) string {
	written := map[string]string{
		"u": `{"role":"user","content":"question"}`,
		"i": `{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`,
		"a": `{"role":"assistant","content":"answer"}`,
		"c": `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]}`,
		"x": `{"role":"assistant","content":""}`,
		"f": `{"role":"function","name":"t","content":"result"}`,
		"t": `{"role":"tool","tool_call_id":"c","content":"result"}`,
		"e": `{"role":"tool","tool_call_id":"c","content":""}`,
	}
	all := []string{`{"role":"system","content":"Be brief."}`}
	for m := range strings.FieldsSeq(messages) {
		all = append(all, written[m])
	}
	return strings.Join(all, ",")
}

func body(messages string) string { return `{"messages":[` + chatOf(messages) + `]}` }

func TestAnchoredLeavesALastBlockWithoutAPlaceToTheAutomaticMode(t *testing.T) {
	tests := []struct {
		name, in string
		opts     Options
		want     string
		anchor   Anchor
	}{
		{name: "a function's result", in: body("u a f"), want: "0.0 1.0 auto", anchor: AnchorReply},
		{name: "the entry at one is read from the next place behind it", in: body("u a f a u"), want: "0.0 4.0 5.0", anchor: AnchorReply},
		{name: "there may be none behind it", in: body("u a f c t"), want: "0.0 2.0 5.0", anchor: AnchorReply},
		{name: "an image", in: body("u a i"), want: "0.0 1.0 auto", anchor: AnchorReply},
		{name: "behind an image", in: body("u a i a u"), want: "0.0 4.0 5.0", anchor: AnchorReply},
		{name: "calls before an empty result", in: body("u c e"), want: "0.0 1.0 auto", anchor: AnchorReply},
		{name: "an hour", in: body("u a f"), opts: Options{TTL: TTL1h}, want: "0.0@1h 1.0@1h auto", anchor: AnchorReply},
		{name: "two marks", in: body("u a f"), opts: Options{Reserved: 2}, want: "1.0 auto", anchor: AnchorReply},
		{name: "one mark", in: body("u a f"), opts: Options{Reserved: 3}, want: "auto", anchor: AnchorReply},
		{name: "none", in: body("u a f"), opts: Options{Reserved: 4}, want: ""},
		{name: "four marks", in: body("u a u a f"), opts: Options{RetryAnchor: true}, want: "0.0 3.0 4.0 auto", anchor: AnchorReply},
		{name: "not an image that a retry replaces", in: body("u a i"), opts: Options{RetryAnchor: true}, want: "0.0 1.0 2.0 3.0", anchor: AnchorReply},
		{name: "a route without the mode", in: body("u a f"), opts: Options{Layout: LayoutLiteLLM}, want: "0.0 1.0 2.0", anchor: AnchorReply},
		{name: "a list of messages has no place for it", in: "[" + chatOf("u a f") + "]", want: "0.0 1.0 2.0", anchor: AnchorReply},
		{name: "not before an unmarked message", in: body("u a f a u"), opts: Options{LeaveNewestUserUnmarked: true}, want: "0.0 2.0 4.0", anchor: AnchorReply},
		{name: "not where the last block can be marked", in: body("u a u"), want: "0.0 1.0 3.0", anchor: AnchorReply},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.opts.Layout == LayoutUnset {
				tt.opts.Layout = LayoutOpenRouter
			}
			tt.opts.Strategy = StrategyAnchored
			res, out := place(t, openAI, tt.in, tt.opts)
			if got := short(marksIn(t, openAI, out)); got != tt.want {
				t.Errorf("marks %q, want %q", got, tt.want)
			}
			if res.Anchor != tt.anchor {
				t.Errorf("anchor %q, want %q", res.Anchor, tt.anchor)
			}
			checkLegal(t, openAI, tt.in, tt.opts)
		})
	}
}

// The state names the block that the automatic mode marked, though no mark can stand there.
func TestTheStateKnowsAnEndThatTheAutomaticModeMarked(t *testing.T) {
	opts := Options{Layout: LayoutOpenRouter, Strategy: StrategyAnchored}
	res, _ := place(t, openAI, body("u a f"), opts)
	opts.State = res.State
	// Two answers were added: without the state the anchor would be the user message between them.
	res, out := place(t, openAI, body("u a f a u a u"), opts)
	if got := short(marksIn(t, openAI, out)); got != "0.0 4.0 7.0" || res.Anchor != AnchorState {
		t.Errorf("marks %s, anchor %q", got, res.Anchor)
	}
}

// An answer may be several messages, of which the last says nothing.
func TestTheRetryAnchorPassesOverAnEmptyAnswer(t *testing.T) {
	for _, tt := range []struct{ before, in, want string }{
		{"u c t", "u c t a x u", "0.0 3.0 4.0 6.0"},
		{"u c t", "u c t x u", "0.0 3.0 5.0"}, // nothing of the answer can be marked
	} {
		opts := Options{Layout: LayoutOpenRouter, Strategy: StrategyAnchored, RetryAnchor: true}
		res, _ := place(t, openAI, body(tt.before), opts)
		opts.State = res.State
		_, out := place(t, openAI, body(tt.in), opts)
		if got := short(marksIn(t, openAI, out)); got != tt.want {
			t.Errorf("%s: marks %s, want %s", tt.in, got, tt.want)
		}
	}
}
