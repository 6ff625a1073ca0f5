package server

import (
	"context"

	"google.golang.org/grpc"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// streaming makes of an interceptor of unary calls one of the calls that take one
// request and answer with a stream, so that each rule is written once. Streams of
// other services pass.
func streaming(unary grpc.UnaryServerInterceptor) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if info.FullMethod != elbowroomv1.ContextService_StreamCompress_FullMethodName {
			return handler(srv, stream)
		}
		req := new(elbowroomv1.StreamCompressRequest)
		if err := stream.RecvMsg(req); err != nil {
			return err
		}
		_, err := unary(stream.Context(), req, &grpc.UnaryServerInfo{Server: srv, FullMethod: info.FullMethod},
			func(ctx context.Context, _ any) (any, error) {
				return nil, handler(srv, &readStream{ServerStream: stream, ctx: ctx, req: req})
			})
		return err
	}
}

// readStream is a stream whose request has been read already.
type readStream struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // a stream has one
	req *elbowroomv1.StreamCompressRequest
}

func (s *readStream) Context() context.Context { return s.ctx }

// RecvMsg hands the request over without copying the conversation in it.
func (s *readStream) RecvMsg(m any) error {
	if into, ok := m.(*elbowroomv1.StreamCompressRequest); ok && s.req != nil {
		into.Request = s.req.GetRequest()
		s.req = nil
		return nil
	}
	return s.ServerStream.RecvMsg(m)
}
