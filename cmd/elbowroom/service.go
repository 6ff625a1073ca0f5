package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/telemetry"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/server/interceptors/quota"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

// service is a server with what it works with.
type service struct {
	*server.Server
	ladder *ladder.Ladder
	rungs  *rungs
}

// Shutdown ends the calls, and then the summaries that are still being written for
// nobody.
func (s *service) Shutdown(ctx context.Context) error {
	err := s.Server.Shutdown(ctx)
	s.ladder.Close()
	return errors.Join(err, s.rungs.Close())
}

// newServer builds the service that a configuration describes.
func newServer(ctx context.Context, c *config.Config, log *slog.Logger, secured security, recorder *telemetry.Recorder) (*service, error) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		return nil, err
	}
	memory, err := store.NewMemory(store.MemoryOptions{MaxBytes: int64(c.Store.MaxBytes), MaxEntries: int64(c.Store.MaxEntries)})
	if err != nil {
		return nil, err
	}
	keys, err := c.StateKeys()
	if err != nil {
		return nil, &usageError{err}
	}
	caches, err := cacheRules(&c.PromptCaching)
	if err != nil {
		return nil, err
	}
	rungs, err := newRungs(ctx, c, registry, log, os.Getenv, recorder)
	if err != nil {
		return nil, err
	}
	steps, err := ladder.New(ladder.Options{
		Rungs: rungs.list, Store: memory, CallLimit: c.Summarizer.CallLimit, TenantTokens: int64(c.Limits.TenantSummarizerTokens), Observe: observeRungs(log, recorder),
	})
	if err != nil {
		return nil, err
	}
	counter := tokens.NewCounter()
	engine, err := compressor.New(compressor.Options{
		Counter:    counter,
		Ladder:     steps,
		Store:      memory,
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
	})
	if err != nil {
		return nil, err
	}
	ttl := breakpoints.TTL5m
	if c.PromptCaching.CacheTTL == "1h" {
		ttl = breakpoints.TTL1h
	}
	providers, err := providerCounts(ctx, c.Count, os.Getenv)
	if err != nil {
		return nil, err
	}
	s, err := server.New(server.Options{ //nolint:contextcheck // each call brings its own
		Compressor: engine,
		Counter:    counter,
		Providers:  providers,
		Registry:   registry,
		Log:        log,
		Telemetry:  recorder,
		CacheTTL:   ttl,
		Caches:     caches,
		StateKeys:  keys,
		Auth:       secured.auth, TLS: secured.tls("h2"), ClosedReflection: c.Auth.Reflection == "authenticated", //nolint:contextcheck // a handshake brings its own
		UnknownWindow: c.Compression.UnknownWindow,
		Limits: server.Limits{
			MaxMessageBytes:      int(c.Limits.MaxMessageBytes),
			MaxInFlightBytes:     int64(c.Limits.MaxInFlightBytes),
			MaxKeptBytes:         keptBytes(c.Limits.MaxKeptBytes),
			MaxConcurrentStreams: uint32(c.Limits.MaxConcurrentStreams),
			Tenant:               quota.Limits{Rate: c.Limits.TenantRate, Burst: c.Limits.TenantBurst, Concurrency: c.Limits.TenantConcurrency},
			Conversation:         conversation.Limits{MaxDepth: c.Limits.MaxDepth, MaxBlocks: c.Limits.MaxBlocks},
		},
		Keepalive: server.Keepalive{
			Time: c.Keepalive.Time, Timeout: c.Keepalive.Timeout, MinTime: c.Keepalive.MinTime, MaxConnectionAge: c.Keepalive.MaxConnectionAge,
		},
	})
	if err != nil {
		return nil, err
	}
	return &service{Server: s, ladder: steps, rungs: rungs}, nil
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
	log, err := telemetry.NewLogger(stderr, "error")
	if err != nil {
		return "", nil, err
	}
	s, err := newServer(ctx, c, log, security{}, nil) // nobody else reaches it
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
