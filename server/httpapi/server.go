package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// The defaults of [Options].
const (
	DefaultMaxMessageBytes  = 64 << 20
	DefaultMaxInFlightBytes = 512 << 20
	DefaultPace             = 30 * time.Second
	DefaultHeaderTimeout    = 10 * time.Second
	DefaultReceiveTimeout   = 2 * time.Minute
)

// What a connection may take.
const (
	// idleTimeout is how long a connection without a request is kept.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes bounds the headers of a request.
	maxHeaderBytes = 64 << 10
)

// Options are what a [Server] works with.
type Options struct {
	// GRPC is the gRPC server as an HTTP handler. Required.
	GRPC http.Handler
	// Recognize puts who makes a request, which is a call of a method of gRPC, into the
	// request's context, from its headers alone, and reports whether the caller is let in.
	// Nil lets everybody send a body, and leaves the question to GRPC.
	Recognize func(r *http.Request, method string) (known *http.Request, ok bool)
	// Log gets what net/http has to say. Required.
	Log *slog.Logger
	// MaxMessageBytes bounds the body of a request, as it comes and after
	// decompression. Larger ones are refused with 413 and RESOURCE_EXHAUSTED.
	// Default 64 MiB.
	MaxMessageBytes int
	// MaxInFlightBytes bounds the bodies held at one time by all requests together. A
	// request that would exceed it is refused with 429, RESOURCE_EXHAUSTED and
	// RetryInfo. Default 512 MiB.
	MaxInFlightBytes int64
	// AllowedOrigins are the origins whose web pages may call, as browsers name them:
	// https://app.example. "*" is any. Default: none.
	AllowedOrigins []string
	// Pace is how long a peer may take to send or to take a piece of 256 KiB, or what
	// is left of a body, before its connection is closed. Default 30 seconds.
	Pace time.Duration
	// HeaderTimeout is how long TLS and the headers of a request may take before the
	// connection is closed. Default 10 seconds.
	HeaderTimeout time.Duration
	// ReceiveTimeout is how long the whole body of a request may take to arrive. Default
	// 2 minutes.
	ReceiveTimeout time.Duration
}

// Server answers HTTP requests.
type Server struct {
	http     *http.Server
	rpc      *rpcHandler
	grpc     http.Handler
	whoCalls func(r *http.Request, method string) (known *http.Request, ok bool)
	browsers *browserPolicy
	limit    int
	held     budget
	pace     time.Duration // what a piece of a body may take
	receive  time.Duration // what all of it may
	// ended ends when bodies are not waited for any more, by end.
	ended context.Context //nolint:containedctx // it is the server's own
	end   context.CancelFunc
}

// lastArrivals is how long bodies may take to arrive once the server drains. Calls whose
// bodies are long on their way are refused anyway: nobody who sends half of one may keep
// the server from stopping.
const lastArrivals = time.Second

// New returns a server that is ready to [Server.Serve].
func New(o Options) (*Server, error) {
	switch {
	case o.GRPC == nil:
		return nil, errors.New("httpapi: no gRPC server")
	case o.Log == nil:
		return nil, errors.New("httpapi: no logger")
	}
	if o.MaxMessageBytes <= 0 {
		o.MaxMessageBytes = DefaultMaxMessageBytes
	}
	if o.MaxInFlightBytes <= 0 {
		o.MaxInFlightBytes = DefaultMaxInFlightBytes
	}
	if o.Pace <= 0 {
		o.Pace = DefaultPace
	}
	if o.HeaderTimeout <= 0 {
		o.HeaderTimeout = DefaultHeaderTimeout
	}
	if o.ReceiveTimeout <= 0 {
		o.ReceiveTimeout = DefaultReceiveTimeout
	}
	rpc, err := newRPCHandler(o.GRPC, o.MaxMessageBytes)
	if err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	s := &Server{
		rpc:      rpc,
		grpc:     o.GRPC,
		whoCalls: o.Recognize,
		browsers: newBrowserPolicy(o.AllowedOrigins),
		limit:    o.MaxMessageBytes,
		pace:     min(o.Pace, o.ReceiveTimeout),
		receive:  o.ReceiveTimeout,
	}
	s.ended, s.end = context.WithCancel(context.Background())
	s.SetMaxInFlightBytes(o.MaxInFlightBytes)
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: o.HeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// Broken handshakes and the like: nothing that the operator has to act on.
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// SetMaxInFlightBytes changes [Options.MaxInFlightBytes] for what is read from now on.
func (s *Server) SetMaxInFlightBytes(limit int64) { s.held.limit.Store(limit) }

// Serve answers requests on the listener until [Server.Shutdown], after which it
// returns nil. It closes the listener. On a loopback address it answers only
// requests whose Host names this machine.
func (s *Server) Serve(lis net.Listener) error {
	if tcp, ok := lis.Addr().(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		s.browsers.localOnly.Store(true)
	}
	if err := s.http.Serve(lis); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP on %s: %w", lis.Addr(), err)
	}
	return nil
}

// Shutdown closes the listener and waits for the requests being worked on, but not for
// bodies that do not arrive. When ctx
// ends before that they are broken off and the context's error is returned. It has
// to come before the gRPC server stops, which would break them off at once.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.end()
	defer time.AfterFunc(lastArrivals, s.end).Stop()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
		return fmt.Errorf("shut down HTTP: calls were broken off: %w", err)
	}
	return nil
}

// budget bounds the bytes that all requests hold together.
type budget struct{ limit, used atomic.Int64 }

// take reserves n bytes and reports whether there was room. What was taken has to
// be given back, room or none.
func (b *budget) take(n int64) bool { return b.used.Add(n) <= b.limit.Load() }

func (b *budget) give(n int64) { b.used.Add(-n) }
