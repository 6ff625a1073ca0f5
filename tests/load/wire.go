package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// largestReply is more than any answer has, in bytes.
const largestReply = 128 << 20

// raw is an answer in the protobuf encoding, which is decoded when the clock has stopped.
type raw []byte

// incoming takes an answer. One that nobody looks at is not copied.
type incoming struct {
	wanted bool
	reply  raw
	length int
}

// rawCodec carries requests that are encoded, in buffers of the pool, and answers as
// they come.
type rawCodec struct{ pool mem.BufferPool }

func (rawCodec) Name() string { return "proto" }

func (c rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("load: %T is not encoded", v)
	}
	return mem.BufferSlice{mem.NewBuffer(m, c.pool)}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(*incoming)
	if !ok {
		return fmt.Errorf("load: %T takes no bytes", v)
	}
	if in.length = data.Len(); in.wanted {
		in.reply = data.Materialize()
	}
	return nil
}

func dial(addr string, pool mem.BufferPool) (*grpc.ClientConn, error) {
	return grpc.NewClient(addr, insecureTransport(),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{pool}), grpc.MaxCallRecvMsgSize(largestReply), grpc.MaxCallSendMsgSize(largestReply)))
}

// service begins the full name of a method.
const service = "/elbowroom.v1.ContextService/"

// invoke makes one attempt and returns the last message of the answer. The request's
// buffer goes back to the pool.
func invoke(ctx context.Context, conn *grpc.ClientConn, method string, request *[]byte, wanted bool) (incoming, error) {
	in := incoming{wanted: wanted}
	if method != elbowroomv1.ContextService_StreamCompress_FullMethodName {
		err := conn.Invoke(ctx, method, request, &in)
		return in, err
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return in, err
	}
	// What a send fails with stands in the answer.
	if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return in, err
	}
	if err := stream.CloseSend(); err != nil {
		return in, err
	}
	for {
		next := incoming{wanted: wanted}
		switch err := stream.RecvMsg(&next); {
		case errors.Is(err, io.EOF):
			return in, nil
		case err != nil:
			return in, err
		}
		in = next
	}
}

// refusal is the time after which a refused call may be made again. ok is false for
// every error that is no refusal with such a time.
func refusal(err error) (wait time.Duration, ok bool) {
	st := status.Convert(err)
	if st.Code() != codes.ResourceExhausted {
		return 0, false
	}
	for _, d := range st.Details() {
		if info, is := d.(*errdetails.RetryInfo); is && info.GetRetryDelay().AsDuration() > 0 {
			return info.GetRetryDelay().AsDuration(), true
		}
	}
	return 0, false
}

// reason is the ErrorInfo's of an error, "" for none.
func reason(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, is := d.(*errdetails.ErrorInfo); is {
			return info.GetReason()
		}
	}
	return ""
}

// insecureTransport is that of a loopback port.
func insecureTransport() grpc.DialOption {
	return grpc.WithTransportCredentials(insecure.NewCredentials())
}
