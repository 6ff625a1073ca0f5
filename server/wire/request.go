package wire

import (
	"strings"
	"unsafe"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
)

// The fields on the way to the JSON of a native conversation.
const (
	conversationNative = 3 // of Conversation
	nativeFormat       = 1 // of NativeRequest, as those below
	nativeJSON         = 2
	nativeJSONBytes    = 3
	nativeDelta        = 4
)

// carrier returns a message and its field that holds a conversation, nil where it has
// none.
func carrier(v any) (proto.Message, protoreflect.FieldDescriptor) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, nil
	}
	field := m.ProtoReflect().Descriptor().Fields().ByName("conversation")
	if field == nil || field.Message() == nil || field.IsList() || field.Message().FullName() != "elbowroom.v1.Conversation" {
		return nil, nil
	}
	return m, field
}

// unmarshal reads a message in whose field the JSON of a native conversation is found
// once. It reports false where it is not, or where anything at all is wrong: gRPC's own
// codec is then to begin anew, and to say what it makes of it.
func unmarshal(data mem.BufferSlice, into proto.Message, field protoreflect.FieldDescriptor) bool {
	var gathered strings.Builder
	gathered.Grow(data.Len())
	for _, b := range data {
		gathered.Write(b.ReadOnlyData())
	}
	message := gathered.String() // of its own: what refers to it may stay as long as it likes
	outer, ok := cut(message, field.Number())
	if !ok {
		return false
	}
	middle, ok := cut(outer.value, conversationNative)
	if !ok {
		return false
	}
	inner, ok := cut(middle.value, nativeJSON, nativeJSONBytes, nativeDelta)
	if !ok || inner.number != nativeJSON || !conversation.ValidUTF8(inner.value) {
		return false
	}
	native, whole := &elbowroomv1.NativeRequest{}, &elbowroomv1.Conversation{}
	for _, part := range []struct {
		rest string
		into proto.Message
	}{{outer.rest, into}, {middle.rest, whole}, {inner.rest, native}} {
		if err := proto.Unmarshal(bytesOf(part.rest), part.into); err != nil {
			return false
		}
	}
	native.Body = &elbowroomv1.NativeRequest_Json{Json: inner.value}
	whole.Native = native
	into.ProtoReflect().Set(field, protoreflect.ValueOfMessage(whole.ProtoReflect()))
	return true
}

// found is a field of a message.
type found struct {
	number protowire.Number
	value  string
	// rest is the message without the field.
	rest string
}

// cut takes the one field out of a message that has one of the numbers. It reports
// false where there is none, or more than one, or where it cannot be read.
func cut(message string, numbers ...protowire.Number) (found, bool) {
	var out found
	start, end := -1, 0
	for at := 0; at < len(message); {
		rest := bytesOf(message[at:])
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return found{}, false
		}
		size := protowire.ConsumeFieldValue(number, kind, rest[n:])
		if size < 0 {
			return found{}, false
		}
		for _, wanted := range numbers {
			if number != wanted {
				continue
			}
			value, length := protowire.ConsumeBytes(rest[n:])
			if start >= 0 || kind != protowire.BytesType || length < 0 {
				return found{}, false
			}
			start, end = at, at+n+size
			out.number, out.value = number, message[end-len(value):end]
		}
		at += n + size
	}
	if start < 0 {
		return found{}, false
	}
	switch {
	case start == 0:
		out.rest = message[end:]
	case end == len(message):
		out.rest = message[:start]
	default:
		out.rest = message[:start] + message[end:]
	}
	return out, true
}

// bytesOf is a text for those who read bytes. They only read, and a copy is what this
// package is there to save.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) } //nolint:gosec // see above
