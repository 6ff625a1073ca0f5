package main

import (
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// request is what a call sends. The body stands apart from the message it belongs to, so
// that it is copied once, into memory that is used again: clients and server share the
// machine, and what the clients use is missing to the server.
type request struct {
	message proto.Message
	// session's body goes into the message's conversation where there is a session.
	session *session
	// inside is set where the conversation stands in a field request of the message.
	inside bool
}

// The fields from a request to the text of its conversation.
const (
	fieldRequest      = 1 // of StreamCompressRequest
	fieldConversation = 1
	fieldNative       = 3
	fieldFormat       = 1
	fieldJSON         = 2
)

// encode makes the bytes of a request in a buffer of the pool. A message that stands in
// an encoding twice is one, so the conversation is put behind the rest.
func (q request) encode(pool mem.BufferPool) (*[]byte, error) {
	var rest []byte
	var err error
	if rest, err = proto.Marshal(q.message); err != nil {
		return nil, err
	}
	if q.session == nil {
		buf := pool.Get(len(rest))
		copy(*buf, rest)
		return buf, nil
	}
	s := q.session
	text := s.bodyLength(s.turn)
	native := protowire.SizeTag(fieldFormat) + protowire.SizeVarint(uint64(s.format)) + //nolint:gosec // an enum
		protowire.SizeTag(fieldJSON) + protowire.SizeBytes(text)
	conversation := protowire.SizeTag(fieldNative) + protowire.SizeBytes(native)
	whole := protowire.SizeTag(fieldConversation) + protowire.SizeBytes(conversation)
	size := len(rest) + whole
	if q.inside {
		size += protowire.SizeTag(fieldRequest) + protowire.SizeBytes(whole) - whole
	}
	buf := pool.Get(size)
	b := append((*buf)[:0], rest...)
	if q.inside {
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldRequest, protowire.BytesType), uint64(whole)) //nolint:gosec // a length
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldConversation, protowire.BytesType), uint64(conversation)) //nolint:gosec // a length
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldNative, protowire.BytesType), uint64(native))             //nolint:gosec // a length
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldFormat, protowire.VarintType), uint64(s.format))          //nolint:gosec // an enum
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldJSON, protowire.BytesType), uint64(text))                 //nolint:gosec // a length
	b = s.appendBody(b, s.tag, s.turn)
	*buf = b
	return buf, nil
}

// keeping asks the server to hold the body of a conversation that is put behind it.
func keeping() *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{Keep: true}}
}
