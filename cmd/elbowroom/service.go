package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/internal/telemetry"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/server/interceptors/admission"
	"github.com/elbowroom/elbowroom/server/interceptors/quota"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

// service is a server with what it works with.
type service struct {
	*server.Server
	registry *tokens.Registry
	counter  *tokens.Counter
	state    *state
	ladder   *ladder.Ladder
	rungs    *rungs
	// memo outlives a reload: what is made of a text does not depend on settings.
	memo *memo.Memo
	// caches has the prices in force.
	caches atomic.Pointer[simulator.Tables]
}

// endOfSummaries is how long summaries that are broken off may take to let go of what
// they hold.
const endOfSummaries = time.Second

// Shutdown ends the calls, then the summaries that are still being written for nobody,
// and then what they are kept in.
func (s *service) Shutdown(ctx context.Context) error {
	return errors.Join(s.Server.Shutdown(ctx), s.release(ctx))
}

// release gives back what was opened for the server.
func (s *service) release(ctx context.Context) error {
	var err error
	if s.ladder != nil {
		s.ladder.Close()
		waited, cancel := context.WithTimeout(context.WithoutCancel(ctx), endOfSummaries)
		defer cancel()
		s.ladder.Wait(waited)
	}
	if s.rungs != nil {
		err = s.rungs.Close()
	}
	if s.state != nil {
		s.state.close()
	}
	return err
}

// newServer builds the service that a configuration describes.
func newServer(ctx context.Context, c *config.Config, log *slog.Logger, secured security, recorder *telemetry.Recorder) (*service, error) {
	s := &service{counter: tokens.NewCounter(), memo: memo.New(int64(c.Limits.MaxRememberedBytes))}
	if err := s.build(ctx, c, log, secured, recorder); err != nil {
		return nil, errors.Join(err, s.release(ctx))
	}
	return s, nil
}

func (s *service) build(ctx context.Context, c *config.Config, log *slog.Logger, secured security, recorder *telemetry.Recorder) (err error) {
	if s.registry, err = tokens.NewRegistry(); err != nil {
		return err
	}
	if s.state, err = openState(ctx, c, log, recorder); err != nil {
		return err
	}
	if s.rungs, err = newRungs(ctx, c, s.registry, log, os.Getenv, recorder); err != nil {
		return err
	}
	s.ladder, err = ladder.New(ladder.Options{
		Rungs: s.rungs.list, Store: s.state, CallLimit: c.Summarizer.CallLimit, TenantTokens: int64(c.Limits.TenantSummarizerTokens), Observe: observeRungs(log, recorder, s.costOf),
		Aside: admission.Aside,
	})
	if err != nil {
		return err
	}
	o, err := s.options(ctx, c)
	if err != nil {
		return err
	}
	s.caches.Store(o.Caches)
	o.Counter, o.Registry, o.Log, o.Telemetry = s.counter, s.registry, log, recorder
	o.Auth, o.TLS, o.ClosedReflection = secured.auth, secured.tls("h2"), c.Auth.Reflection == "authenticated" //nolint:contextcheck // each handshake brings its own
	s.Server, err = server.New(o)                                                                             //nolint:contextcheck // each call brings its own
	return err
}

// reconfigure gives calls that begin from now on the reloadable settings of c. The
// summarizers with their breakers, the store and the connections stay.
func (s *service) reconfigure(ctx context.Context, c *config.Config) error {
	o, err := s.options(ctx, c)
	if err != nil {
		return err
	}
	if err := s.Server.Reconfigure(o); err != nil {
		return err
	}
	s.caches.Store(o.Caches)
	s.ladder.SetLimits(c.Summarizer.CallLimit, int64(c.Limits.TenantSummarizerTokens))
	return nil
}

// options are what the settings of a configuration say about calls.
func (s *service) options(ctx context.Context, c *config.Config) (server.Options, error) {
	keys, err := c.StateKeys()
	if err != nil {
		return server.Options{}, &usageError{err}
	}
	caches, err := cacheRules(&c.PromptCaching)
	if err != nil {
		return server.Options{}, err
	}
	engine, err := compressor.New(compressor.Options{
		Counter:    s.counter,
		Ladder:     s.ladder,
		Store:      s.state,
		Continuity: c.Compression.Continuity,
		Policy: compressor.Policy{
			Enabled:      &c.Compression.Enabled,
			Threshold:    &c.Compression.Threshold,
			TargetRatio:  &c.Compression.TargetRatio,
			ProtectLastN: &c.Compression.ProtectLastN,
		},
		GatewayThreshold: c.Compression.GatewayThreshold,
		ModelThresholds:  c.Compression.ModelThresholds,
		StateKeys:        keys,
		Memo:             s.memo,
	})
	if err != nil {
		return server.Options{}, err
	}
	ttl := breakpoints.TTL5m
	if c.PromptCaching.CacheTTL == "1h" {
		ttl = breakpoints.TTL1h
	}
	providers, err := providerCounts(ctx, c.Count, os.Getenv)
	if err != nil {
		return server.Options{}, err
	}
	return server.Options{
		Compressor: engine,
		Providers:  providers,
		CacheTTL:   ttl,
		Caches:     caches,
		StateKeys:  keys,

		UnknownWindow: c.Compression.UnknownWindow,
		Limits: server.Limits{
			MaxMessageBytes:      int(c.Limits.MaxMessageBytes),
			MaxInFlightBytes:     int64(c.Limits.MaxInFlightBytes),
			MaxConcurrentCalls:   c.Limits.MaxConcurrentCalls,
			MaxWorkingCalls:      workingCalls(c.Limits.MaxWorkingCalls),
			MaxKeptBytes:         keptBytes(c.Limits.MaxKeptBytes),
			MaxConcurrentStreams: uint32(c.Limits.MaxConcurrentStreams),
			HandshakeTimeout:     c.Limits.HandshakeTimeout,
			ReceiveTimeout:       c.Limits.ReceiveTimeout,
			Tenant:               quota.Limits{Rate: c.Limits.TenantRate, Burst: c.Limits.TenantBurst, Concurrency: c.Limits.TenantConcurrency},
			Conversation:         conversation.Limits{MaxDepth: c.Limits.MaxDepth, MaxBlocks: c.Limits.MaxBlocks},
		},
		Keepalive: server.Keepalive{
			Time: c.Keepalive.Time, Timeout: c.Keepalive.Timeout, MinTime: c.Keepalive.MinTime,
			MaxConnectionIdle: c.Keepalive.MaxConnectionIdle, MaxConnectionAge: c.Keepalive.MaxConnectionAge,
		},
	}, nil
}

// processorsACall is how many processors there are for a call that is being worked on. It
// spreads over them by itself; with more calls at one time, requests and answers wait
// their turn behind work at every step of their way, and all calls are late.
const processorsACall = 2

// workingCalls translates a bound of 0, which is made from the processors.
func workingCalls(limit int) int {
	if limit == 0 {
		return max(1, runtime.GOMAXPROCS(0)/processorsACall)
	}
	return limit
}

// keptBytes translates a bound of 0, which holds nothing.
func keptBytes(limit config.Bytes) int64 {
	if limit == 0 {
		return -1
	}
	return int64(limit)
}

// connection is a client of a server, its own or somebody else's.
type connection struct {
	client elbowroomv1.ContextServiceClient
	// addr is where the server listens.
	addr string
	stop func()
}

// connect dials the server at addr or, when that is empty, starts one of its own
// on a free loopback port, which it stops with the connection.
func connect(ctx context.Context, p process, c *config.Config, addr string, by remote) (*connection, error) {
	stop, options := func() {}, []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	var err error
	if addr == "" {
		addr, stop, err = startLocal(ctx, c, p.stderr)
	} else {
		options, err = by.dialOptions(p)
	}
	if err != nil {
		return nil, err
	}
	size := 2 * int(c.Limits.MaxMessageBytes) // as large as a response may be
	conn, err := grpc.NewClient(addr, append(options,
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(size), grpc.MaxCallSendMsgSize(size)))...)
	if err != nil {
		stop()
		return nil, &usageError{fmt.Errorf("server %s: %w", addr, err)}
	}
	return &connection{client: elbowroomv1.NewContextServiceClient(conn), addr: addr, stop: func() {
		_ = conn.Close()
		stop()
	}}, nil
}

// startLocal serves on a free loopback port.
func startLocal(ctx context.Context, c *config.Config, stderr io.Writer) (addr string, stop func(), err error) {
	s, err := newServer(ctx, c, telemetry.NewLogger(stderr, slog.LevelError), security{}, nil) // nobody else reaches it
	if err != nil {
		return "", nil, err
	}
	var listen net.ListenConfig
	lis, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen on loopback: %w", err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	return lis.Addr().String(), func() {
		deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = errors.Join(s.Shutdown(deadline), <-served) // nobody is left to tell
	}, nil
}
