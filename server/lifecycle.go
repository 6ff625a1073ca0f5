package server

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc"
)

// Warm loads what the first call would otherwise wait for: the vocabulary that
// most models are counted with.
func (s *Server) Warm(ctx context.Context) error {
	if _, err := s.counter.CountText(ctx, "warm", s.registry.Lookup("")); err != nil {
		return fmt.Errorf("load the vocabulary: %w", err)
	}
	return nil
}

// Serve answers calls on the listener until [Server.Shutdown], after which it
// returns nil. It closes the listener.
func (s *Server) Serve(lis net.Listener) error {
	if err := s.grpc.Serve(lis); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve %s: %w", lis.Addr(), err)
	}
	return nil
}

// Shutdown drains the server: health says NOT_SERVING first, new calls are
// refused with UNAVAILABLE, and those being worked on are finished. When ctx ends
// before that they are broken off and the context's error is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.health.Shutdown()
	s.gate.Drain()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.grpc.GracefulStop()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
		return fmt.Errorf("shut down: calls were broken off: %w", ctx.Err())
	}
}
