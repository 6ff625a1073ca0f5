package wire

import (
	"errors"
	"strings"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// Reply is a response whose native conversation is sent in pieces. Only [Codec] can
// write it: other writers see the response without its conversation.
type Reply struct {
	// Message is the response, in which the conversation is not set.
	proto.Message
	Native Native
}

// Native is a native conversation in pieces.
type Native struct {
	Format elbowroomv1.Format
	// Bytes sends json_bytes in place of json.
	Bytes bool
	// Pieces are the JSON, in order. They are valid UTF-8, every single one.
	Pieces []string
}

// Text is the JSON in one piece.
func (n *Native) Text() string { return strings.Join(n.Pieces, "") }

// Message is the conversation in one piece.
func (n *Native) Message() *elbowroomv1.Conversation {
	out := &elbowroomv1.NativeRequest{Format: n.Format}
	if n.Bytes {
		out.Body = &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: []byte(n.Text())}
	} else {
		out.Body = &elbowroomv1.NativeRequest_Json{Json: n.Text()}
	}
	return &elbowroomv1.Conversation{Native: out}
}

// marshal writes the response, and its conversation as the last field.
func (r *Reply) marshal() (mem.BufferSlice, error) {
	_, field := carrier(r.Message)
	if field == nil {
		return nil, errors.New("marshal a reply: the response has no conversation")
	}
	out, err := proto.Marshal(r.Message)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, piece := range r.Native.Pieces {
		size += len(piece)
	}
	json := protowire.Number(nativeJSON)
	if r.Native.Bytes {
		json = nativeJSONBytes
	}
	var format []byte
	if r.Native.Format != 0 {
		format = protowire.AppendVarint(protowire.AppendTag(nil, nativeFormat, protowire.VarintType), uint64(r.Native.Format)) //nolint:gosec // not negative
	}
	inner := len(format) + protowire.SizeTag(json) + protowire.SizeBytes(size)
	middle := protowire.SizeTag(conversationNative) + protowire.SizeBytes(inner)
	out = appendHead(out, field.Number(), middle)
	out = appendHead(out, conversationNative, inner)
	out = append(out, format...)
	out = appendHead(out, json, size)
	buffers := make(mem.BufferSlice, 0, 1+len(r.Native.Pieces))
	buffers = append(buffers, mem.SliceBuffer(out))
	for _, piece := range r.Native.Pieces {
		if piece != "" {
			buffers = append(buffers, mem.SliceBuffer(bytesOf(piece)))
		}
	}
	return buffers, nil
}

// appendHead writes what stands before the size bytes of a field.
func appendHead(out []byte, number protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(out, number, protowire.BytesType), uint64(size)) //nolint:gosec // not negative
}
