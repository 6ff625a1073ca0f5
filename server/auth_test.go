package server_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"crypto/tls"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/certificates"
	"github.com/elbowroom/elbowroom/internal/testutil/pki"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
)

// guarded starts a server that admits two tenants, and returns a context for each.
func guarded(t *testing.T, change func(o *server.Options)) (f *fixture, a, b context.Context) {
	t.Helper()
	var lines strings.Builder
	as := func(tenant string) context.Context {
		token, line, err := auth.NewToken(tenant)
		if err != nil {
			t.Fatal(err)
		}
		lines.WriteString(line + "\n")
		return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	}
	a, b = as("team-a"), as("team-b")
	tokens, err := auth.NewTokens([]byte(lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	f = start(t, func(o *server.Options) {
		o.Auth = &auth.Gate{Verifiers: []auth.Verifier{tokens}}
		if change != nil {
			change(o)
		}
	})
	return f, a, b
}

func TestStrangersReachHealthAlone(t *testing.T) {
	for _, closed := range []bool{false, true} {
		f, a, _ := guarded(t, func(o *server.Options) { o.ClosedReflection = closed })
		if _, err := healthv1.NewHealthClient(f.conn).Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil {
			t.Errorf("health: %v", err)
		}
		reflect := func(ctx context.Context) error {
			stream, err := reflectionv1.NewServerReflectionClient(f.conn).ServerReflectionInfo(ctx)
			if err != nil {
				return err
			}
			_ = stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
			_, err = stream.Recv()
			return err
		}
		want := codes.OK
		if closed {
			want = codes.Unauthenticated
		}
		if err := reflect(t.Context()); status.Code(err) != want {
			t.Errorf("reflection, closed %v: %v", closed, err)
		}
		if err := reflect(a); err != nil {
			t.Errorf("reflection with a token: %v", err)
		}
		conversation := anthropic(`{"messages":[{"role":"user","content":"hi"}]}`)
		stream, err := f.client.StreamCompress(t.Context(), &elbowroomv1.StreamCompressRequest{Request: &elbowroomv1.CompressRequest{Conversation: conversation}})
		if err == nil {
			_, err = stream.Recv()
		}
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("a stream without a token: %v", err)
		}
		for _, req := range []any{
			&elbowroomv1.CompressRequest{Conversation: conversation}, &elbowroomv1.PrepareRequest{Conversation: conversation},
			&elbowroomv1.ApplyCacheControlRequest{Conversation: conversation}, &elbowroomv1.CountTokensRequest{Conversation: conversation}, &elbowroomv1.ListModelsRequest{},
		} {
			if _, err := callWith(t.Context(), f, req); status.Code(err) != codes.Unauthenticated {
				t.Errorf("%T without a token: %v", req, err)
			}
			if _, err := callWith(a, f, req); err != nil {
				t.Errorf("%T with a token: %v", req, err)
			}
		}
		if !strings.Contains(f.log.String(), `"tenant":"team-a"`) || strings.Contains(f.log.String(), "Bearer") {
			t.Errorf("the log does not name the tenant, or names the token: %s", f.log)
		}
	}
}

func TestTenantsShareNothing(t *testing.T) {
	f, a, b := guarded(t, nil)
	body := growing(20)
	policy := &elbowroomv1.CompressionPolicy{ProtectLastN: new(int32(4))}

	// A body that one tenant left is no base for another's delta.
	kept := anthropic(body)
	kept.Native.Keep = true
	if _, err := f.client.CountTokens(a, &elbowroomv1.CountTokensRequest{Conversation: kept}); err != nil {
		t.Fatal(err)
	}
	delta := sent(deltaTo(body, body), false)
	if _, err := f.client.CountTokens(a, &elbowroomv1.CountTokensRequest{Conversation: delta}); err != nil {
		t.Errorf("its own body: %v", err)
	}
	if _, err := f.client.CountTokens(b, &elbowroomv1.CountTokensRequest{Conversation: delta}); detailsOf(err).reason != "BASE_UNKNOWN" {
		t.Errorf("another tenant's body: %v", err)
	}

	// States carry no further either.
	out, err := f.client.Compress(a, &elbowroomv1.CompressRequest{Conversation: anthropic(body), ContextWindow: 16_000, Force: true, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	again := &elbowroomv1.CompressRequest{Conversation: out.GetConversation(), ContextWindow: 16_000, Force: true, Policy: policy, CompressionState: out.GetCompressionState()}
	for ctx, want := range map[context.Context]string{a: "unverified", b: "ignored"} {
		got, err := f.client.Compress(ctx, again)
		if err != nil || !strings.HasPrefix(got.GetReport().GetState(), want) {
			t.Errorf("compression state: %q, %v; want %s", got.GetReport().GetState(), err, want)
		}
	}
	mark := &elbowroomv1.ApplyCacheControlRequest{Conversation: anthropic(body), Strategy: elbowroomv1.Strategy_STRATEGY_ANCHORED}
	marked, err := f.client.ApplyCacheControl(a, mark)
	if err != nil {
		t.Fatal(err)
	}
	mark.CacheState = marked.GetCacheState()
	for ctx, want := range map[context.Context]string{a: "unverified", b: "ignored"} {
		got, err := f.client.ApplyCacheControl(ctx, mark)
		if err != nil || !strings.HasPrefix(got.GetPlan().GetState(), want) {
			t.Errorf("cache state: %q, %v; want %s", got.GetPlan().GetState(), err, want)
		}
	}
}

// callWith is the fixture's call under another context.
func callWith(ctx context.Context, f *fixture, req any) (any, error) {
	switch req := req.(type) {
	case *elbowroomv1.CompressRequest:
		return f.client.Compress(ctx, req)
	case *elbowroomv1.PrepareRequest:
		return f.client.Prepare(ctx, req)
	case *elbowroomv1.ApplyCacheControlRequest:
		return f.client.ApplyCacheControl(ctx, req)
	case *elbowroomv1.CountTokensRequest:
		return f.client.CountTokens(ctx, req)
	default:
		return f.client.ListModels(ctx, req.(*elbowroomv1.ListModelsRequest))
	}
}

func TestACertificateNamesTheTenant(t *testing.T) {
	ca, stranger, dir := pki.New(t), pki.New(t), t.TempDir()
	cert, key := ca.Issue(t, "server")
	source, err := certificates.New(certificates.Files{
		Certificate: pki.Write(t, dir, "tls.crt", cert), Key: pki.Write(t, dir, "tls.key", key), ClientCAs: pki.Write(t, dir, "ca.crt", ca.PEM()),
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, func(o *server.Options) {
		o.TLS, o.Auth = source.Config("h2"), &auth.Gate{Certificates: true}
	})
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = f.server.Serve(lis) }()
	t.Cleanup(func() { _ = lis.Close(); <-served })
	for _, c := range []struct {
		name   string
		client []tls.Certificate
		want   codes.Code
	}{
		{"no certificate", nil, codes.Unavailable},
		{"a stranger's", []tls.Certificate{stranger.Pair(t, "team-a")}, codes.Unavailable},
		{"a tenant's", []tls.Certificate{ca.Pair(t, "team-a")}, codes.OK},
		{"one that names no tenant", []tls.Certificate{ca.Pair(t, "no tenant")}, codes.Unauthenticated},
	} {
		conn, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: ca.Pool(), Certificates: c.client})))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err = elbowroomv1.NewContextServiceClient(conn).ListModels(ctx, &elbowroomv1.ListModelsRequest{})
		cancel()
		_ = conn.Close()
		if status.Code(err) != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
