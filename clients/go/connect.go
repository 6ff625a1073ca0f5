package elbowroom

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // health checks of the balancer

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// DefaultTimeout is how long a call may take where neither its context nor an
// option says so.
const DefaultTimeout = 30 * time.Second

// The largest messages, in bytes: what the server takes, and twice that.
const (
	maxSendBytes    = 64 << 20
	maxReceiveBytes = 128 << 20
	// A request is kept until it is answered; beyond this size it would be sent once.
	maxRetryBytes = maxSendBytes + 1<<10
)

// serviceConfig balances over all addresses of the target that report healthy, and
// tries calls again that no server has worked on: because there is none, or because it
// is overloaded and says when to come back. A stream is the caller's to repeat.
const serviceConfig = `{
	"loadBalancingConfig": [{"round_robin": {}}],
	"healthCheckConfig": {"serviceName": "elbowroom.v1.ContextService"},
	"methodConfig": [{
		"name": [
			{"service": "elbowroom.v1.ContextService", "method": "Compress"},
			{"service": "elbowroom.v1.ContextService", "method": "ApplyCacheControl"},
			{"service": "elbowroom.v1.ContextService", "method": "CountTokens"},
			{"service": "elbowroom.v1.ContextService", "method": "Prepare"},
			{"service": "elbowroom.v1.ContextService", "method": "SimulateCache"},
			{"service": "elbowroom.v1.ContextService", "method": "ListModels"}
		],
		"retryPolicy": {
			"maxAttempts": 4,
			"initialBackoff": "0.1s",
			"maxBackoff": "2s",
			"backoffMultiplier": 2,
			"retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]
		}
	}]
}`

// Client is a connection to the service. It is safe for concurrent use.
type Client struct {
	conn    *grpc.ClientConn
	stub    elbowroomv1.ContextServiceClient
	timeout time.Duration
}

// Option is a setting of [Connect].
type Option func(*settings)

type settings struct {
	tls            *tls.Config
	token          string
	tokenInTheOpen bool
	timeout        time.Duration
	dial           []grpc.DialOption
}

// WithTLS connects by TLS. An empty configuration uses the system's certificates;
// one with Certificates set authenticates the client too. Default: no TLS.
func WithTLS(config *tls.Config) Option {
	return func(s *settings) { s.tls = config }
}

// WithToken sends a bearer token with every call. Without TLS it is sent to
// addresses of this machine only, see [WithTokenInTheOpen]. An empty token is none.
func WithToken(token string) Option {
	return func(s *settings) { s.token = token }
}

// WithTokenInTheOpen sends the token of [WithToken] without TLS to other machines
// too, for networks that encrypt by themselves.
func WithTokenInTheOpen() Option {
	return func(s *settings) { s.tokenInTheOpen = true }
}

// WithTimeout sets how long a call may take, its retries included, where its
// context has no earlier deadline. Default [DefaultTimeout]; negative: no limit.
func WithTimeout(timeout time.Duration) Option {
	return func(s *settings) { s.timeout = timeout }
}

// WithDialOptions adds options of gRPC. They come last and win: interceptors, a
// stats handler that passes on the trace context, another service config.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(s *settings) { s.dial = append(s.dial, options...) }
}

// Connect returns a client of the service at target, in gRPC's syntax, for example
// "localhost:50051" or "dns:///elbowroom.internal:50051". It does not wait for the
// connection, which is made at the first call and again whenever it is lost.
func Connect(target string, options ...Option) (*Client, error) {
	s := settings{timeout: DefaultTimeout}
	for _, option := range options {
		option(&s)
	}
	transport := insecure.NewCredentials()
	if s.tls != nil {
		transport = credentials.NewTLS(s.tls)
	}
	dial := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(maxSendBytes), grpc.MaxCallRecvMsgSize(maxReceiveBytes),
			grpc.MaxRetryRPCBufferSize(maxRetryBytes)),
		grpc.WithConnectParams(grpc.ConnectParams{
			// Shorter than gRPC's default, so that calls that are tried again meet a server that has restarted.
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 10 * time.Second,
		}),
		grpc.WithUserAgent("elbowroom-go"),
	}
	if s.token != "" {
		if s.tls == nil && !s.tokenInTheOpen && !onThisMachine(target) {
			return nil, errors.New("elbowroom: the token would travel in the open; use WithTLS, or WithTokenInTheOpen if the network encrypts")
		}
		dial = append(dial, grpc.WithPerRPCCredentials(bearer{token: s.token, encrypted: s.tls != nil}))
	}
	conn, err := grpc.NewClient(target, append(dial, s.dial...)...)
	if err != nil {
		return nil, fmt.Errorf("elbowroom: connect to %s: %w", target, err)
	}
	return &Client{conn: conn, stub: elbowroomv1.NewContextServiceClient(conn), timeout: s.timeout}, nil
}

// Close ends the connection and the calls on it.
func (c *Client) Close() error { return c.conn.Close() }

// Service is the generated stub over the same connection: for the typed form, and
// for whatever this package does not wrap. Its errors are gRPC's.
func (c *Client) Service() elbowroomv1.ContextServiceClient { return c.stub }

// onThisMachine reports whether a target is an address of this machine.
func onThisMachine(target string) bool {
	if strings.HasPrefix(target, "unix:") || strings.HasPrefix(target, "unix-abstract:") {
		return true
	}
	if _, endpoint, ok := strings.Cut(target, ":///"); ok {
		target = endpoint
	}
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		host = target
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// bearer is a token as gRPC sends it.
type bearer struct {
	token     string
	encrypted bool
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (b bearer) RequireTransportSecurity() bool { return b.encrypted }
