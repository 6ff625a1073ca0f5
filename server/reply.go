package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/elbowroom/elbowroom/server/wire"
)

// replyKey finds the place in a call's context where its handler leaves the conversation
// of the response.
type replyKey struct{}

// reply is the interceptor that lets handlers answer with a native conversation in
// pieces: to write a megabyte anew, and once more for the wire, takes as long as to place
// marks in it.
func reply(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	var left *wire.Native
	resp, err := handler(context.WithValue(ctx, replyKey{}, &left), req)
	if m, ok := resp.(proto.Message); ok && err == nil && left != nil {
		return &wire.Reply{Message: m, Native: *left}, nil
	}
	return resp, err
}

// leaveToReply leaves a form's conversation to the reply. It reports false where the form
// has no pieces, or the call does not go through [reply]: streams do not.
func leaveToReply(ctx context.Context, f form) bool {
	left, ok := ctx.Value(replyKey{}).(**wire.Native)
	if ok {
		*left = f.pieces()
	}
	return ok && *left != nil
}
