package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/elbowroom/elbowroom/internal/telemetry"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
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
	s.serving.Store(true)
	if err := s.grpc.Serve(greeted(lis)); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve %s: %w", lis.Addr(), err)
	}
	return nil
}

// Ready reports whether the server is serving and not draining.
func (s *Server) Ready() bool { return s.serving.Load() && !s.gate.Draining() }

// held is what the server holds at the moment.
func (s *Server) held() telemetry.Held {
	kept := s.bodies.usage()
	working, waiting := s.gate.Places()
	return telemetry.Held{
		Working: int64(working), Waiting: int64(waiting),
		InFlight: s.gate.InFlight(), Limit: s.gate.Limit(), Bodies: int64(kept.Entries), BodyBytes: kept.Bytes,
	}
}

// Handler is the server as an HTTP handler that speaks gRPC, for the HTTP edge: what
// comes through it passes every interceptor. It does not keep [Server.Shutdown]
// waiting; whoever serves HTTP has to finish its calls first.
func (s *Server) Handler() http.Handler { return s.grpc }

// Recognize does for a request of the HTTP edge, which is a call of a method, what the
// door does for one of gRPC: it puts who calls into the request's context, from the
// headers alone, and reports whether the caller is let in.
func (s *Server) Recognize(r *http.Request, method string) (known *http.Request, ok bool) {
	ctx := metadata.NewIncomingContext(r.Context(), metadata.MD{"authorization": r.Header.Values("Authorization")})
	if r.TLS != nil {
		ctx = peer.NewContext(ctx, &peer.Peer{AuthInfo: credentials.TLSInfo{State: *r.TLS}})
	}
	ctx = s.recognize(ctx, serviceOf(method))
	return r.WithContext(ctx), !auth.Refused(ctx)
}

// Drain makes health say NOT_SERVING and refuses new calls with UNAVAILABLE. Those
// being worked on are not touched.
func (s *Server) Drain() {
	s.gate.Drain() // first: who sees NOT_SERVING is let in no more
	s.health.Shutdown()
}

// Shutdown drains the server: health says NOT_SERVING first, new calls are
// refused with UNAVAILABLE, and those being worked on are finished. When ctx ends
// before that they are broken off and the context's error is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
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
