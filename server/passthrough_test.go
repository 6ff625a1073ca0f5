package server

import (
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
)

func TestBytesOfKeptMessagesThatSplicesTouchAreCounted(t *testing.T) {
	const source = `{"system":"Be brief.","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"}]}`
	c, err := conversation.Parse(conversation.FormatAnthropicMessages, source, conversation.Limits{MaxDepth: 100, MaxBlocks: 100})
	if err != nil {
		t.Fatal(err)
	}
	first, second, third := c.Messages[0].Span, c.Messages[1].Span, c.Messages[2].Span
	for _, x := range []struct {
		name    string
		splices []conversation.Splice
		want    int
	}{
		{"nothing", nil, 0},
		{"the message that is to be dropped", []conversation.Splice{{Offset: second.Start, Length: second.Len() + 1}}, 0},
		{"a message put between two", []conversation.Splice{{Offset: third.Start, Text: `{},`}}, 0},
		{"and behind one", []conversation.Splice{{Offset: first.End, Text: `,{}`}}, 0},
		{"a byte of a kept message", []conversation.Splice{{Offset: first.Start + 5, Length: 1}}, 1},
		{"text put into a kept message", []conversation.Splice{{Offset: third.Start + 5, Text: "ab"}}, 2},
		{"a cut that goes too far", []conversation.Splice{{Offset: second.Start, Length: second.Len() + 1 + 3}}, 3},
		{"a cut that begins too early", []conversation.Splice{{Offset: second.Start - 3, Length: second.Len() + 3}}, 2},
		{"everything", []conversation.Splice{{Offset: 0, Length: len(source)}}, c.System.Span.Len() + first.Len() + third.Len()},
		{"the system prompt", []conversation.Splice{{Offset: c.System.Span.Start + 1, Length: 2, Text: "x"}}, 3},
	} {
		t.Run(x.name, func(t *testing.T) {
			rw := conversation.NewRewrite(c)
			rw.Drop(1)
			k := keeping{c: c}
			k.splices(rw, x.splices)
			if k.changed != x.want {
				t.Errorf("%d bytes, want %d", k.changed, x.want)
			}
		})
	}
}

func TestKeptTypedMessagesThatComeBackOtherwiseAreCounted(t *testing.T) {
	text := func(s string) *elbowroomv1.Message {
		return &elbowroomv1.Message{Blocks: []*elbowroomv1.Block{{Kind: &elbowroomv1.Block_Text{Text: s}}}}
	}
	in := &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{text("one"), text("two"), text("three")}}
	c, err := readTyped(in, conversation.Limits{MaxDepth: 100, MaxBlocks: 100})
	if err != nil {
		t.Fatal(err)
	}
	before := keepTyped(in)
	rw := conversation.NewRewrite(c)
	rw.Drop(1)
	good := before.render(rw)
	for _, x := range []struct {
		name    string
		after   typedResult
		changed bool
	}{
		{"as decided", good, false},
		{"a copy", typedResult{conversation: &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{text("one"), in.GetMessages()[2]}}, from: []int{0, 2}}, true},
		{"one less", typedResult{conversation: &elbowroomv1.Conversation{Messages: in.GetMessages()[:1]}, from: []int{0}}, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			var k keeping
			k.messages(rw, before, x.after)
			if (k.changed > 0) != x.changed {
				t.Errorf("%d bytes", k.changed)
			}
		})
	}
}
