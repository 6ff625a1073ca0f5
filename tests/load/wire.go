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

// raw is a message in the protobuf encoding. Requests are encoded before the clock runs
// and answers decoded after it has stopped.
type raw []byte

// rawCodec carries [raw] over the wire.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*raw)
	if !ok {
		return nil, fmt.Errorf("load: %T is not encoded", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*m)}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*raw)
	if !ok {
		return fmt.Errorf("load: %T takes no bytes", v)
	}
	*m = data.Materialize()
	return nil
}

func dial(addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient(addr, insecureTransport(),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(largestReply), grpc.MaxCallSendMsgSize(largestReply)))
}

// service begins the full name of a method.
const service = "/elbowroom.v1.ContextService/"

// invoke makes one attempt and returns the last message of the answer.
func invoke(ctx context.Context, conn *grpc.ClientConn, method string, request raw) (raw, error) {
	var reply raw
	if method != elbowroomv1.ContextService_StreamCompress_FullMethodName {
		err := conn.Invoke(ctx, method, &request, &reply)
		return reply, err
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return nil, err
	}
	// What a send fails with stands in the answer.
	if err := stream.SendMsg(&request); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	for {
		var next raw
		switch err := stream.RecvMsg(&next); {
		case errors.Is(err, io.EOF):
			return reply, nil
		case err != nil:
			return nil, err
		}
		reply = next
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
