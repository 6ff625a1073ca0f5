package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// Options are what a [Server] tells.
type Options struct {
	// Metrics serves /metrics. Required.
	Metrics http.Handler
	// Ready says whether calls are served, for /readyz. Required.
	Ready func() bool
	// Profiles serves /debug/pprof/. Profiles cost time to make and show what the
	// process is made of, so they belong on an address that other machines do not reach.
	Profiles bool
	// Log takes what the HTTP server has to say. Default: none of it is written.
	Log *slog.Logger
}

// Server answers on the admin port.
type Server struct{ http *http.Server }

// The bounds of a request. A profile takes as long as it was asked to.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
)

// New returns a server that is ready to [Server.Serve].
func New(o Options) (*Server, error) {
	switch {
	case o.Metrics == nil:
		return nil, errors.New("admin: no metrics")
	case o.Ready == nil:
		return nil, errors.New("admin: nothing says whether the server is ready")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", o.Metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if o.Ready() {
			say(w, http.StatusOK, "ready")
		} else {
			say(w, http.StatusServiceUnavailable, "not ready")
		}
	})
	if o.Profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return &Server{http: &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}}, nil
}

func say(w http.ResponseWriter, code int, what string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, what+"\n")
}

// Serve answers on the listener until [Server.Shutdown], after which it returns nil.
func (s *Server) Serve(lis net.Listener) error {
	if err := s.http.Serve(lis); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the admin port %s: %w", lis.Addr(), err)
	}
	return nil
}

// Shutdown lets the requests under way finish; those that have not when ctx ends are
// broken off.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("shut down the admin port: %w", err), s.http.Close())
	}
	return nil
}
