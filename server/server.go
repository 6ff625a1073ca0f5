package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/telemetry"
	"github.com/elbowroom/elbowroom/server/interceptors/admission"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
	"github.com/elbowroom/elbowroom/server/interceptors/quota"
	"github.com/elbowroom/elbowroom/server/wire"
	"github.com/elbowroom/elbowroom/tokens"
	"github.com/elbowroom/elbowroom/tokens/provider"
)

// The defaults of [Limits].
const (
	DefaultMaxMessageBytes      = 64 << 20
	DefaultMaxInFlightBytes     = 512 << 20
	DefaultMaxConcurrentStreams = 256
	DefaultHandshakeTimeout     = 10 * time.Second
	DefaultReceiveTimeout       = 2 * time.Minute
)

// maxHeaderBytes bounds the metadata of a call, as the HTTP edge bounds headers: a
// token of 16 KB fits well, and gRPC's own 16 MB a call do not.
const maxHeaderBytes = 64 << 10

// streamWindow is how many bytes of a request may arrive before the server says
// go on. gRPC starts with 64 KB, and a conversation of 1 MB then waits for a dozen
// answers on its way.
const streamWindow = 2 << 20

// Limits bound what one caller and all callers together may cost. The zero value
// takes the defaults.
type Limits struct {
	// MaxMessageBytes bounds a request. Larger ones fail with RESOURCE_EXHAUSTED. A
	// response may have twice that: edits and splices both carry what changed.
	// Default 64 MiB.
	MaxMessageBytes int
	// MaxInFlightBytes bounds the requests being worked on together. A request that
	// would exceed it fails with RESOURCE_EXHAUSTED and RetryInfo. Default 512 MiB.
	MaxInFlightBytes int64
	// MaxConcurrentCalls bounds the calls being worked on together, over all
	// connections. One more fails with RESOURCE_EXHAUSTED and RetryInfo. 0: no bound.
	MaxConcurrentCalls int
	// MaxWorkingCalls bounds the calls that have the processors at one time; eight times
	// as many small ones have them besides. More wait for a moment and then fail with
	// RESOURCE_EXHAUSTED and RetryInfo. Calls that wait for a language model are not
	// counted. 0: no bound.
	MaxWorkingCalls int
	// MaxKeptBytes bounds the bodies held for the deltas of later requests, together.
	// When they are too many, the tenant that holds the most loses those it has not used
	// for longest. Default 128 MiB; below 0 none are held.
	MaxKeptBytes int64
	// MaxConcurrentStreams bounds the calls at one time of one connection; more wait.
	// Default 256.
	MaxConcurrentStreams uint32
	// HandshakeTimeout is how long a new connection may take until it has said that it
	// speaks HTTP/2, TLS included. Default 10 seconds.
	HandshakeTimeout time.Duration
	// ReceiveTimeout is how long a request may take to arrive. A later one fails with
	// DEADLINE_EXCEEDED. Default 2 minutes.
	ReceiveTimeout time.Duration
	// Tenant bounds each tenant. The zero value does not.
	Tenant quota.Limits
	// Conversation bounds what one conversation may be made of.
	Conversation conversation.Limits
}

// The defaults of [Keepalive].
const (
	DefaultKeepaliveTime     = time.Minute
	DefaultKeepaliveTimeout  = 20 * time.Second
	DefaultKeepaliveMinTime  = 10 * time.Second
	DefaultMaxConnectionIdle = 15 * time.Minute
)

// Keepalive says how connections are kept. The zero value takes the defaults.
type Keepalive struct {
	// Time is how long a silent connection waits before the server pings it, Timeout
	// how long the answer may take. Defaults 1 minute and 20 seconds.
	Time, Timeout time.Duration
	// MinTime is the shortest allowed time between a client's pings; connections that
	// ping more often are closed. Default 10 seconds.
	MinTime time.Duration
	// MaxConnectionIdle closes connections that have had no call for that time; a client
	// opens a new one when it needs it. Default 15 minutes.
	MaxConnectionIdle time.Duration
	// MaxConnectionAge closes connections after that time, so that clients resolve
	// the server's name again and reach new replicas. 0 never does.
	MaxConnectionAge time.Duration
}

// Options are what a [Server] works with.
type Options struct {
	// Compressor, Counter, Registry and Log are required.
	Compressor Compressor
	Counter    *tokens.Counter
	Registry   *tokens.Registry
	Log        *slog.Logger
	// Telemetry records what calls do. Nil records nothing.
	Telemetry *telemetry.Recorder
	// Providers answers METHOD_PROVIDER. Nil asks nobody: every count is the local one.
	Providers *provider.Counter
	// UnknownWindow is the context window of models that are not known, in tokens.
	// 0: [tokens.DefaultContextWindow].
	UnknownWindow int
	// CacheTTL is the life of breakpoints where a request names none.
	CacheTTL breakpoints.TTL
	// Caches are the layouts, rules and prices of prompt caches. Default: those built in.
	Caches *simulator.Tables
	// StateKeys sign cache states. The first signs, all verify. Without one they carry
	// a checksum only.
	StateKeys [][]byte
	// Auth says who is let in. Nil lets everybody in.
	Auth *auth.Gate
	// TLS secures the connections. Nil serves without.
	TLS *tls.Config
	// ClosedReflection answers reflection to those only whom Auth lets in.
	ClosedReflection bool
	Limits           Limits
	Keepalive        Keepalive
}

// Server serves elbowroom.v1.ContextService, grpc.health.v1 and reflection.
type Server struct {
	elbowroomv1.UnimplementedContextServiceServer

	*lasting
	settings
}

// settings are what a call works with from its beginning to its end. They never
// change; see [Server.Reconfigure].
type settings struct {
	compressor Compressor
	providers  *provider.Counter
	window     int // of unknown models, 0: the registry's
	cacheTTL   breakpoints.TTL
	layouts    *breakpoints.Layouts
	caches     *simulator.Tables
	stateKeys  [][]byte
	limits     conversation.Limits
}

// lasting is what a server keeps as long as it lives.
type lasting struct {
	counter   *tokens.Counter
	registry  *tokens.Registry
	log       *slog.Logger
	telemetry *telemetry.Recorder

	auth            *auth.Gate
	openReflection  bool
	quota           *quota.Keeper
	gate            *admission.Gate
	serving         atomic.Bool
	bodies          bodies
	rooms           rooms
	maxMessageBytes int

	grpc    *grpc.Server
	health  *healthService
	current current
}

// New returns a server that is ready to [Server.Serve].
func New(o Options) (*Server, error) {
	switch {
	case o.Compressor == nil:
		return nil, errors.New("server: no compressor")
	case o.Counter == nil:
		return nil, errors.New("server: no token counter")
	case o.Registry == nil:
		return nil, errors.New("server: no model registry")
	case o.Log == nil:
		return nil, errors.New("server: no logger")
	}
	limits, keep := o.Limits.withDefaults(), o.Keepalive.withDefaults()
	set, err := o.settings()
	if err != nil {
		return nil, err
	}
	s := &Server{settings: set, lasting: &lasting{
		counter:         o.Counter,
		registry:        o.Registry,
		log:             o.Log,
		telemetry:       o.Telemetry,
		auth:            o.Auth,
		openReflection:  !o.ClosedReflection,
		gate:            admission.NewGate(limits.admission()),
		maxMessageBytes: limits.MaxMessageBytes,
		health:          newHealthService(),
	}}
	s.gate.Large = hasDelta
	s.current.server.Store(s)
	s.bodies = newBodies(limits.MaxKeptBytes, limits.MaxMessageBytes)
	if s.auth == nil {
		s.auth = &auth.Gate{}
	}
	if s.quota, err = quota.New(limits.Tenant); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	entry := &door{recognize: s.recognize, admit: s.refuseUnread, limit: limits.ReceiveTimeout, ended: s.health.ended}
	options, err := s.interceptors(entry)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if s.telemetry != nil {
		if err := s.telemetry.WatchServer(s.held); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		options = append(options, grpc.StatsHandler(s.telemetry.ServerHandler("/"+elbowroomv1.ContextService_ServiceDesc.ServiceName+"/")))
	}
	if o.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(o.TLS)))
	}
	s.grpc = grpc.NewServer(append(options,
		grpc.ConnectionTimeout(limits.HandshakeTimeout),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.ForceServerCodecV2(wire.Codec{}),
		grpc.MaxRecvMsgSize(limits.MaxMessageBytes),
		grpc.RPCDecompressor(newInflater(limits.MaxMessageBytes)), //nolint:staticcheck // the other way is a table of the process, not of a server
		grpc.MaxSendMsgSize(min(2*limits.MaxMessageBytes, math.MaxInt32)),
		grpc.MaxConcurrentStreams(limits.MaxConcurrentStreams),
		grpc.InitialWindowSize(streamWindow),
		grpc.InitialConnWindowSize(2*streamWindow),
		grpc.NumStreamWorkers(uint32(runtime.GOMAXPROCS(0))), //nolint:gosec // their stacks have grown to what a call needs
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time: keep.Time, Timeout: keep.Timeout, MaxConnectionIdle: keep.MaxConnectionIdle, MaxConnectionAge: keep.MaxConnectionAge,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keep.MinTime, PermitWithoutStream: true}),
	)...)
	entry.server = s.grpc
	elbowroomv1.RegisterContextServiceServer(entry, &s.current)
	healthv1.RegisterHealthServer(entry, s.health)
	reflection.Register(entry)
	s.setHealth(healthv1.HealthCheckResponse_SERVING)
	return s, nil
}

// setHealth sets the answer for the service and for the server as a whole.
func (s *Server) setHealth(status healthv1.HealthCheckResponse_ServingStatus) {
	s.health.SetServingStatus("", status)
	s.health.SetServingStatus(elbowroomv1.ContextService_ServiceDesc.ServiceName, status)
}

func (l Limits) withDefaults() Limits {
	if l.MaxMessageBytes <= 0 {
		l.MaxMessageBytes = DefaultMaxMessageBytes
	}
	if l.MaxInFlightBytes <= 0 {
		l.MaxInFlightBytes = DefaultMaxInFlightBytes
	}
	if l.MaxKeptBytes == 0 {
		l.MaxKeptBytes = DefaultMaxKeptBytes
	}
	if l.MaxConcurrentStreams == 0 {
		l.MaxConcurrentStreams = DefaultMaxConcurrentStreams
	}
	if l.HandshakeTimeout <= 0 {
		l.HandshakeTimeout = DefaultHandshakeTimeout
	}
	if l.ReceiveTimeout <= 0 {
		l.ReceiveTimeout = DefaultReceiveTimeout
	}
	if l.Conversation.MaxDepth <= 0 {
		l.Conversation.MaxDepth = conversation.DefaultMaxDepth
	}
	if l.Conversation.MaxBlocks <= 0 {
		l.Conversation.MaxBlocks = conversation.DefaultMaxBlocks
	}
	return l
}

// admission is what the gate keeps.
func (l Limits) admission() admission.Limits {
	return admission.Limits{Bytes: l.MaxInFlightBytes, Calls: int64(l.MaxConcurrentCalls), Working: l.MaxWorkingCalls}
}

func (k Keepalive) withDefaults() Keepalive {
	if k.Time <= 0 {
		k.Time = DefaultKeepaliveTime
	}
	if k.Timeout <= 0 {
		k.Timeout = DefaultKeepaliveTimeout
	}
	if k.MinTime <= 0 {
		k.MinTime = DefaultKeepaliveMinTime
	}
	if k.MaxConnectionIdle <= 0 {
		k.MaxConnectionIdle = DefaultMaxConnectionIdle
	}
	return k
}
