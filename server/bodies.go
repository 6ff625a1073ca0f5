package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
	"github.com/elbowroom/elbowroom/server/wire"
	"github.com/elbowroom/elbowroom/store"
)

// DefaultMaxKeptBytes bounds the bodies that are held for deltas.
const DefaultMaxKeptBytes = 128 << 20

// keptFor is how long a body is held: as long as the longest cache of a provider,
// after which a conversation's next request is dear anyway.
const keptFor = time.Hour

// baseUnknownError is a delta to a body that is not held.
type baseUnknownError struct{ base []byte }

func (e *baseUnknownError) Error() string {
	return "conversation.native.delta.base: no body with the digest " + hex.EncodeToString(e.base) + " is held; send it in full"
}

// tooLargeError are bodies that deltas make larger, together, than a request may be.
type tooLargeError struct{ size, limit int64 }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("conversation.native.delta: made whole, the request has %d bytes, the limit is %d", e.size, e.limit)
}

// bodies holds native bodies for the deltas of later requests. Losing one costs its
// caller a second round trip and nothing else.
type bodies struct {
	held *holdings // nil holds none
	// maxBody bounds the bodies of one request in bytes.
	maxBody int64
}

func newBodies(maxBytes int64, maxBody int) bodies {
	b := bodies{maxBody: int64(maxBody)}
	if maxBytes >= 0 {
		b.held = newHoldings(maxBytes, time.Now)
	}
	return b
}

// usage is what is held.
func (b *bodies) usage() store.Usage {
	if b.held == nil {
		return store.Usage{}
	}
	return b.held.usage()
}

func (b *bodies) keep(ctx context.Context, body string) {
	digest := sha256.Sum256([]byte(body))
	// What does not fit is not held, which callers must be ready for.
	b.held.set(auth.FromContext(ctx).Tenant, string(digest[:]), []byte(body), keptFor)
}

// resolve returns the body that a delta describes. before is the size of those that the
// request has besides.
func (b *bodies) resolve(ctx context.Context, field string, d *elbowroomv1.NativeDelta, before int64) (string, error) {
	var base []byte
	found := false
	if b.held != nil {
		base, found = b.held.get(auth.FromContext(ctx).Tenant, string(d.GetBase()))
	}
	if !found {
		return "", &baseUnknownError{base: d.GetBase()}
	}
	size, at := before+int64(len(base)), int64(0)
	splices := make([]conversation.Splice, len(d.GetSplices()))
	for i, sp := range d.GetSplices() {
		offset, length := sp.GetOffset(), sp.GetLength()
		if offset < at || length < 0 || length > int64(len(base))-offset {
			return "", &requestError{
				field: fmt.Sprintf("%s.splices[%d]", field, i), message: -1,
				reason: fmt.Sprintf("%d bytes at %d are not within the %d bytes of the base, behind the splice before", length, offset, len(base)),
			}
		}
		at = offset + length
		size += int64(len(sp.GetText())) - length
		splices[i] = conversation.Splice{Offset: int(offset), Length: int(length), Text: sp.GetText()}
	}
	if size > b.maxBody {
		return "", &tooLargeError{size: size, limit: b.maxBody}
	}
	body := conversation.ApplySplices(string(base), splices)
	if !utf8.ValidString(body) { // gRPC has checked the pieces
		return "", &requestError{field: field, message: -1, reason: "a splice cuts a character in two: the body is no valid UTF-8"}
	}
	return body, nil
}

// expand is the interceptor that makes deltas whole before a handler sees them, and
// holds the bodies whose callers ask for it. Only those of calls that succeed are
// held: a caller that got an error goes on from the body before.
func (s *Server) expand(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	grown := int64(0)
	defer func() { s.gate.Release(grown) }()
	var kept []string
	for _, n := range nativesOf(req) {
		if d := n.native.GetDelta(); d != nil {
			body, err := s.bodies.resolve(ctx, n.field+".delta", d, grown)
			if err != nil {
				return nil, s.fail(ctx, err)
			}
			if err := s.gate.Acquire(int64(len(body))); err != nil {
				s.telemetry.Refused(ctx, "bodies", status.Code(err))
				return nil, err
			}
			grown += int64(len(body))
			n.native.Body = &elbowroomv1.NativeRequest_Json{Json: body}
		}
		if n.native.GetKeep() && s.bodies.held != nil {
			kept = append(kept, nativeText(n.native))
		}
	}
	s.quota.Charge(ctx, int(grown))
	resp, err := handler(ctx, req)
	if err == nil {
		for _, body := range kept {
			s.bodies.keep(ctx, body)
			if result := resultOf(resp, body); result != body {
				s.bodies.keep(ctx, result)
			}
		}
	}
	return resp, err
}

// hasDelta reports whether a request stands for more than its own bytes.
func hasDelta(req any) bool {
	for _, n := range nativesOf(req) {
		if n.native.GetDelta() != nil {
			return true
		}
	}
	return false
}

// native is a native conversation with its path in the request.
type native struct {
	native *elbowroomv1.NativeRequest
	field  string
}

// nativesOf lists the native conversations of a request.
func nativesOf(req any) []native {
	var out []native
	add := func(c *elbowroomv1.Conversation, path string) {
		if n := c.GetNative(); n != nil {
			out = append(out, native{n, path + "conversation.native"})
		}
	}
	switch req := req.(type) {
	case *elbowroomv1.SimulateCacheRequest:
		for i, r := range req.GetRequests() {
			add(r.GetConversation(), fmt.Sprintf("requests[%d].", i))
		}
	case *elbowroomv1.StreamCompressRequest:
		add(req.GetRequest().GetConversation(), "request.")
	case interface {
		GetConversation() *elbowroomv1.Conversation
	}:
		add(req.GetConversation(), "")
	}
	return out
}

func nativeText(n *elbowroomv1.NativeRequest) string {
	if b := n.GetJsonBytes(); b != nil {
		return string(b)
	}
	return n.GetJson()
}

// resultOf returns what a response made of a body: body itself where it returns no
// conversation.
func resultOf(resp any, body string) string {
	switch resp := resp.(type) {
	case *wire.Reply:
		return resp.Native.Text()
	case interface {
		GetConversation() *elbowroomv1.Conversation
		GetSplices() []*elbowroomv1.Splice
	}:
		if n := resp.GetConversation().GetNative(); n != nil {
			return nativeText(n)
		}
		splices := make([]conversation.Splice, len(resp.GetSplices()))
		for i, sp := range resp.GetSplices() {
			splices[i] = conversation.Splice{Offset: int(sp.GetOffset()), Length: int(sp.GetLength()), Text: sp.GetText()}
		}
		return conversation.ApplySplices(body, splices)
	default:
		return body
	}
}
