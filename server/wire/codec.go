package wire

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// Codec is an encoding.CodecV2. Its zero value is ready to use.
type Codec struct{}

var _ encoding.CodecV2 = Codec{}

// Name implements encoding.CodecV2.
func (Codec) Name() string { return proto.Name }

// Marshal implements encoding.CodecV2. It takes protobuf messages and a [*Reply].
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	if r, ok := v.(*Reply); ok {
		return r.marshal()
	}
	return plain().Marshal(v)
}

// Unmarshal implements encoding.CodecV2. Of a request with a large native
// conversation, its json is not copied out of the bytes that were gathered.
func (Codec) Unmarshal(data mem.BufferSlice, v any) error {
	if data.Len() >= large {
		if into, field := carrier(v); field != nil && unmarshal(data, into, field) {
			return nil
		}
	}
	return plain().Unmarshal(data, v)
}

// large is the size in bytes from which a message is read without a copy. Below it the
// copy costs less than looking for what need not be copied.
const large = 16 << 10

// plain is gRPC's own codec for protobuf.
func plain() encoding.CodecV2 { return encoding.GetCodecV2(proto.Name) }
