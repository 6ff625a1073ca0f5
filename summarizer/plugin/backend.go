package plugin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // The client side of health checks, which serviceConfig asks for.
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/summarizer"
)

const (
	// DefaultMaxResponseBytes is fifty times the largest summary.
	DefaultMaxResponseBytes = 8 << 20
	// maxRequestBytes is far above any prompt; servers set their own limit, which in gRPC is 4 MiB by default.
	maxRequestBytes = 64 << 20
)

// ErrPlaintext is the error of a target on another machine without TLS.
var ErrPlaintext = errors.New("a plug-in on another machine is reached over TLS only")

// Options configure a [Backend].
type Options struct {
	// Name is what reports call the backend. Default "plugin:" and the target.
	Name string
	// Target is where the plug-in listens: "host:port", "dns:///host:port" or
	// "unix:/path". Required.
	Target string
	// TLS secures the connection. nil: plain text, for a loop-back address or a Unix
	// socket only.
	TLS *tls.Config
	// Token is sent as "authorization: Bearer ..." where it is not empty.
	Token string
	// MaxResponseBytes bounds an answer. Default [DefaultMaxResponseBytes].
	MaxResponseBytes int
}

// Backend is one plug-in. It is safe for concurrent use.
type Backend struct {
	name, token string
	maxBytes    int
	conn        *grpc.ClientConn
	service     elbowroomv1.SummarizerServiceClient
}

var _ summarizer.Backend = (*Backend)(nil)

// serviceConfig has every address of a plug-in checked for health, where it
// offers the health service, and none of gRPC's own retries: the ladder retries.
const serviceConfig = `{"loadBalancingConfig":[{"round_robin":{}}],"healthCheckConfig":{"serviceName":""}}`

// New returns the backend for the options. It connects at the first call.
func New(options Options) (*Backend, error) {
	if options.Target == "" {
		return nil, errors.New("plugin: there is no target")
	}
	transport := insecure.NewCredentials()
	if options.TLS != nil {
		transport = credentials.NewTLS(options.TLS)
	} else if !isLocal(options.Target) {
		return nil, fmt.Errorf("plugin: %w: %s", ErrPlaintext, options.Target)
	}
	if options.Name == "" {
		options.Name = "plugin:" + options.Target
	}
	if options.MaxResponseBytes <= 0 {
		options.MaxResponseBytes = DefaultMaxResponseBytes
	}
	conn, err := grpc.NewClient(
		options.Target,
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultServiceConfig(serviceConfig),
		// What a name server says about a target is not asked for.
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		// A plug-in that works for a minute is silent for a minute; a dead one is noticed all the same.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 5 * time.Minute, Timeout: 20 * time.Second}),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(options.MaxResponseBytes), grpc.MaxCallSendMsgSize(maxRequestBytes)),
	)
	if err != nil {
		return nil, fmt.Errorf("plugin: %w", err)
	}
	return &Backend{
		name: options.Name, token: options.Token, maxBytes: options.MaxResponseBytes,
		conn: conn, service: elbowroomv1.NewSummarizerServiceClient(conn),
	}, nil
}

// isLocal reports whether the target cannot leave the machine.
func isLocal(target string) bool {
	if strings.HasPrefix(target, "unix:") || strings.HasPrefix(target, "unix-abstract:") {
		return true
	}
	address := target
	for _, scheme := range []string{"dns:///", "passthrough:///", "dns:"} {
		if rest, ok := strings.CutPrefix(target, scheme); ok {
			address = rest
			break
		}
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Name is the name of the options.
func (b *Backend) Name() string { return b.name }

// Close closes the connection and ends calls under way.
func (b *Backend) Close() error { return b.conn.Close() }

// Complete answers the prompt. The protocol has no stream: onText is called once,
// with the whole text.
func (b *Backend) Complete(ctx context.Context, prompt summarizer.Prompt, onText func(piece string)) (summarizer.Completion, error) {
	response, err := b.service.Summarize(b.outgoing(ctx), &elbowroomv1.SummarizeRequest{
		System:    prompt.System,
		Prompt:    prompt.User,
		MaxTokens: int32(min(prompt.MaxTokens, 1<<30)),
	})
	if err != nil {
		return summarizer.Completion{}, b.explain(ctx, err)
	}
	if onText != nil && response.GetText() != "" {
		onText(response.GetText())
	}
	return summarizer.Completion{
		Text:             response.GetText(),
		Finish:           finish(response.GetFinish()),
		Model:            response.GetModel(),
		PromptTokens:     int(max(response.GetPromptTokens(), 0)),
		CompletionTokens: int(max(response.GetCompletionTokens(), 0)),
	}, nil
}

// outgoing adds the token and the trace context to the call's metadata.
func (b *Backend) outgoing(ctx context.Context) context.Context {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	var pairs []string
	for _, field := range (propagation.TraceContext{}).Fields() {
		if value := carrier.Get(field); value != "" {
			pairs = append(pairs, field, value)
		}
	}
	if b.token != "" {
		pairs = append(pairs, "authorization", "Bearer "+b.token)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

func finish(finish elbowroomv1.SummaryFinish) summarizer.Finish {
	switch finish {
	case elbowroomv1.SummaryFinish_SUMMARY_FINISH_UNSPECIFIED, elbowroomv1.SummaryFinish_SUMMARY_FINISH_STOP:
		return summarizer.FinishStop
	case elbowroomv1.SummaryFinish_SUMMARY_FINISH_LENGTH:
		return summarizer.FinishLength
	case elbowroomv1.SummaryFinish_SUMMARY_FINISH_REFUSAL:
		return summarizer.FinishRefusal
	default:
		return summarizer.FinishOther
	}
}
