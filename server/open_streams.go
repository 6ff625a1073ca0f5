package server

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// endOpenStreams ends streams that wait for what their caller asks next, which is
// reflection's, when the server drains: tools keep them open for as long as they run.
func (s *Server) endOpenStreams(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if info.IsClientStream {
		stream = &openStream{stream, s.health.ended}
	}
	return handler(srv, stream)
}

// openStream is a stream whose caller may send more until ended is closed.
type openStream struct {
	grpc.ServerStream
	ended <-chan struct{}
}

// RecvMsg implements grpc.ServerStream. A message that is still waited for at the end is
// given up with the stream: the handler returns, and the wait with it.
func (o *openStream) RecvMsg(m any) error {
	received := make(chan error, 1)
	go func() { received <- o.ServerStream.RecvMsg(m) }()
	select {
	case err := <-received:
		return err
	case <-o.ended:
		return status.Error(codes.Unavailable, "the server is shutting down")
	}
}
