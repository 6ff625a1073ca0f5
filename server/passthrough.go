package server

import (
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
)

// keeping counts bytes that a rewrite changes although it keeps what they belong to. It
// looks at what is done, not at why: splices against the spans of messages of which
// nothing was decided. There are none, or something is broken.
type keeping struct {
	// c is the conversation that is rewritten next, nil for none.
	c *conversation.Conversation
	// changed is the number of bytes so far.
	changed int
}

// splices looks at the byte edits of a native conversation, which are in order.
func (k *keeping) splices(rw *conversation.Rewrite, splices []conversation.Splice) {
	if k.c == nil || len(splices) == 0 {
		return
	}
	if k.c.System != nil && rw.System() == nil {
		k.changed += touched(k.c.System.Span, splices)
	}
	next := 0
	for i := range k.c.Messages {
		span := k.c.Messages[i].Span
		for next < len(splices) && splices[next].Offset+splices[next].Length <= span.Start {
			next++
		}
		if rw.Message(i) == nil {
			k.changed += touched(span, splices[next:])
		}
	}
}

// touched counts the bytes of a span that splices replace, and those that they put
// inside it.
func touched(span conversation.Span, splices []conversation.Splice) int {
	n := 0
	for _, sp := range splices {
		if sp.Offset >= span.End {
			break
		}
		end := sp.Offset + sp.Length
		if end <= span.Start {
			continue
		}
		n += max(min(end, span.End)-max(sp.Offset, span.Start), 0)
		if sp.Offset > span.Start || sp.Length > 0 {
			n += len(sp.Text)
		}
	}
	return n
}

// messages looks at the result of a rewrite of a typed conversation, in which what is
// kept is the caller's very message.
func (k *keeping) messages(rw *conversation.Rewrite, before, after typedResult) {
	var want []*elbowroomv1.Message // by their place in the request, nil where something was decided
	for i, from := range before.from {
		for from >= len(want) {
			want = append(want, nil)
		}
		if from >= 0 && rw.Message(i) == nil {
			want[from] = before.conversation.GetMessages()[i]
		}
	}
	for i, from := range after.from {
		if m := after.conversation.GetMessages()[i]; from >= 0 && want[from] != nil {
			if want[from] != m {
				k.changed += proto.Size(m)
			}
			want[from] = nil
		}
	}
	for _, lost := range want {
		k.changed += proto.Size(lost)
	}
}
