package server

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server/wire"
)

func TestPiecesAreWhatSplicesMakeOfAText(t *testing.T) {
	const text = "aäb漢c"
	for _, splices := range [][]conversation.Splice{
		nil,
		{{Offset: 0, Length: 1, Text: "x"}},
		{{Offset: 1, Length: 2}, {Offset: 3, Text: "ö"}, {Offset: len(text), Text: "end"}},
		{{Offset: 0, Length: len(text), Text: "anew"}},
	} {
		pieces, ok := cutPieces(text, splices)
		if got, want := strings.Join(pieces, ""), conversation.ApplySplices(text, splices); !ok || got != want {
			t.Errorf("%v: %q, %t, want %q", splices, got, ok, want)
		}
	}
}

// Together the pieces might be valid UTF-8; to tell would take a look at all of them.
func TestPiecesThatAreNoTextByThemselvesAreRefused(t *testing.T) {
	const text = "aäb"
	for _, sp := range []conversation.Splice{{Offset: 2}, {Offset: 0, Length: 2}, {Offset: 1, Text: "\xff"}, {Offset: 4, Text: "\xc3"}} {
		if pieces, ok := cutPieces(text, []conversation.Splice{sp}); ok {
			t.Errorf("%v: %q", sp, pieces)
		}
	}
}

func TestOnlyACallWithAReplyTakesPieces(t *testing.T) {
	f := newNativeForm(&elbowroomv1.NativeRequest{Body: &elbowroomv1.NativeRequest_Json{Json: "[]"}}, elbowroomv1.View_VIEW_FULL)
	handler := func(ctx context.Context, _ any) (any, error) {
		return &elbowroomv1.CompressResponse{Conversation: render(ctx, f, elbowroomv1.View_VIEW_FULL).conversation}, nil
	}
	without, err := handler(t.Context(), nil)
	if err != nil || without.(*elbowroomv1.CompressResponse).GetConversation().GetNative().GetJson() != "[]" {
		t.Errorf("without a reply: %v, %v", without, err)
	}
	with, err := reply(t.Context(), nil, &grpc.UnaryServerInfo{}, handler)
	if r, ok := with.(*wire.Reply); !ok || err != nil || r.Native.Text() != "[]" || r.Message.(*elbowroomv1.CompressResponse).GetConversation() != nil {
		t.Errorf("with a reply: %v, %v", with, err)
	}
	typed := &typedForm{request: &elbowroomv1.Conversation{}, result: keepTyped(&elbowroomv1.Conversation{})}
	plain, err := reply(t.Context(), nil, &grpc.UnaryServerInfo{}, func(ctx context.Context, _ any) (any, error) {
		return &elbowroomv1.CompressResponse{Conversation: render(ctx, typed, elbowroomv1.View_VIEW_FULL).conversation}, nil
	})
	if r, ok := plain.(*elbowroomv1.CompressResponse); !ok || err != nil || r.GetConversation() == nil {
		t.Errorf("typed: %v, %v", plain, err)
	}
}
