package elbowroom_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// takesBody reports whether a request can be made with the client's own method:
// with a conversation that is native alone and given in full.
func takesBody(req proto.Message) bool {
	c := conversationOf(req)
	n := c.GetNative()
	return n != nil && len(c.GetMessages()) == 0 && n.GetDelta() == nil && n.GetFormat() != pb.Format_FORMAT_UNSPECIFIED
}

// judgeWrapped makes the same call with the client's method. full is what the stub
// answered, nil where it failed.
func (c *conformanceCase) judgeWrapped(ctx context.Context, t *testing.T, client *elbowroom.Client, req, full proto.Message) {
	t.Helper()
	n := conversationOf(req).GetNative()
	var body any = n.GetJson()
	if n.GetJsonBytes() != nil {
		body = n.GetJsonBytes()
	}
	format := elbowroom.WithFormat(n.GetFormat())
	var text json.RawMessage
	var answer proto.Message
	var err error
	switch req := req.(type) {
	case *pb.CompressRequest:
		var r *elbowroom.CompressResult
		if r, err = client.Compress(ctx, body, req, format); err == nil {
			text, answer = r.Body, r.CompressResponse
		}
	case *pb.StreamCompressRequest:
		var r *elbowroom.CompressResult
		if r, err = client.StreamCompress(ctx, body, req.GetRequest(), nil, format); err == nil {
			text, answer = r.Body, r.CompressResponse
		}
	case *pb.ApplyCacheControlRequest:
		var r *elbowroom.CacheResult
		if r, err = client.ApplyCacheControl(ctx, body, req, format); err == nil {
			text, answer = r.Body, r.ApplyCacheControlResponse
		}
	case *pb.PrepareRequest:
		var r *elbowroom.PrepareResult
		if r, err = client.Prepare(ctx, body, req, format); err == nil {
			text, answer = r.Body, r.PrepareResponse
		}
	case *pb.CountTokensRequest:
		answer, err = client.CountTokens(ctx, body, req, format)
	default:
		t.Fatalf("no method for %T", req)
	}
	if want := c.Expect.Error; want != nil {
		if why := want.mismatch(typedFailure(t, err)); why != "" {
			t.Errorf("client: %s: %v", why, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("client: %v", err)
	}
	if text == nil {
		if why := subset("client: response", decode(t, c.Expect.Response), asJSON(t, answer)); why != "" {
			t.Error(why)
		}
		return
	}
	want := c.Expect.JSON
	if want == nil {
		s := resultingJSON(t, req, full)
		want = &s
	}
	if string(text) != *want {
		t.Errorf("client: the body differs:\n got %s\nwant %s", text, *want)
	}
}

// typedFailure is a typed error in the words of the cases.
func typedFailure(t *testing.T, err error) *expectedError {
	t.Helper()
	var base *elbowroom.Error
	if !errors.As(err, &base) {
		t.Fatalf("%v (%T) is no typed error", err, err)
	}
	if base.Advice == "" || base.Message == "" {
		t.Errorf("%#v lacks a message or advice", base)
	}
	out := failure(err) // the reason of errors that have no member for it
	out.Code, out.Field, out.Index, out.ByteOffset = codeName(base.Code), "", nil, nil
	var request *elbowroom.InvalidRequestError
	var refused *elbowroom.RefusedError
	switch {
	case errors.As(err, &request):
		out.Field = request.Field
		if request.Index >= 0 {
			out.Index = &request.Index
		}
		if request.ByteOffset >= 0 {
			offset := int(request.ByteOffset)
			out.ByteOffset = &offset
		}
	case errors.As(err, &refused):
		out.Reason = refused.Reason
		if refused.Index >= 0 {
			out.Index = &refused.Index
		}
	}
	return out
}
