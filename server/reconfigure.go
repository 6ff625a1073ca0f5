package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints/simulator"
)

// Reconfigure gives calls that begin from now on other settings; those being worked
// on finish with the ones they began with. Taken from the options are Compressor,
// Providers, CacheTTL, Caches, StateKeys, UnknownWindow, and of Limits
// MaxInFlightBytes, MaxConcurrentCalls, MaxWorkingCalls, Tenant and Conversation. The rest belongs to
// connections that are open, and stays. With an error nothing has changed.
func (s *Server) Reconfigure(o Options) error {
	set, err := o.settings()
	if err != nil {
		return err
	}
	limits := o.Limits.withDefaults()
	if limits.MaxInFlightBytes < int64(s.maxMessageBytes) {
		return noRoom(limits.MaxInFlightBytes, s.maxMessageBytes)
	}
	s.gate.SetLimits(limits.admission())
	s.quota.SetLimits(limits.Tenant)
	s.current.server.Store(&Server{lasting: s.lasting, settings: set})
	return nil
}

// settings are the options that can change, with their defaults.
func (o Options) settings() (settings, error) {
	limits := o.Limits.withDefaults()
	switch {
	case o.Compressor == nil:
		return settings{}, errors.New("server: no compressor")
	case limits.MaxInFlightBytes < int64(limits.MaxMessageBytes):
		return settings{}, noRoom(limits.MaxInFlightBytes, limits.MaxMessageBytes)
	}
	if o.Caches == nil {
		var err error
		if o.Caches, err = simulator.NewTables(nil); err != nil {
			return settings{}, fmt.Errorf("server: %w", err)
		}
	}
	return settings{
		compressor: o.Compressor,
		providers:  o.Providers,
		window:     o.UnknownWindow,
		cacheTTL:   o.CacheTTL,
		layouts:    o.Caches.Layouts(),
		caches:     o.Caches,
		stateKeys:  o.StateKeys,
		limits:     limits.Conversation,
	}, nil
}

func noRoom(inFlight int64, message int) error {
	return fmt.Errorf("server: %d bytes in flight have no room for one message of %d", inFlight, message)
}

// current is the service that gRPC knows: each call goes to the server as it is set
// when the call begins.
type current struct {
	elbowroomv1.UnimplementedContextServiceServer

	server atomic.Pointer[Server]
}

var _ elbowroomv1.ContextServiceServer = (*current)(nil)

// Compress implements the RPC.
func (c *current) Compress(ctx context.Context, in *elbowroomv1.CompressRequest) (*elbowroomv1.CompressResponse, error) {
	return c.server.Load().Compress(ctx, in)
}

// StreamCompress implements the RPC.
func (c *current) StreamCompress(in *elbowroomv1.StreamCompressRequest, stream grpc.ServerStreamingServer[elbowroomv1.StreamCompressResponse]) error {
	return c.server.Load().StreamCompress(in, stream)
}

// ApplyCacheControl implements the RPC.
func (c *current) ApplyCacheControl(ctx context.Context, in *elbowroomv1.ApplyCacheControlRequest) (*elbowroomv1.ApplyCacheControlResponse, error) {
	return c.server.Load().ApplyCacheControl(ctx, in)
}

// CountTokens implements the RPC.
func (c *current) CountTokens(ctx context.Context, in *elbowroomv1.CountTokensRequest) (*elbowroomv1.CountTokensResponse, error) {
	return c.server.Load().CountTokens(ctx, in)
}

// Prepare implements the RPC.
func (c *current) Prepare(ctx context.Context, in *elbowroomv1.PrepareRequest) (*elbowroomv1.PrepareResponse, error) {
	return c.server.Load().Prepare(ctx, in)
}

// SimulateCache implements the RPC.
func (c *current) SimulateCache(ctx context.Context, in *elbowroomv1.SimulateCacheRequest) (*elbowroomv1.SimulateCacheResponse, error) {
	return c.server.Load().SimulateCache(ctx, in)
}

// ListModels implements the RPC.
func (c *current) ListModels(ctx context.Context, in *elbowroomv1.ListModelsRequest) (*elbowroomv1.ListModelsResponse, error) {
	return c.server.Load().ListModels(ctx, in)
}
