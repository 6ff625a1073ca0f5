package auth

import (
	"context"
	"errors"
	"log/slog"

	grpcauth "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// ErrRejected is returned for a token that lets nobody in.
var ErrRejected = errors.New("the token is not accepted")

// maxToken bounds a token in bytes, before anything is computed of it.
const maxToken = 16 << 10

// Verifier tells whose a token is. Errors wrap [ErrRejected] where the token is at
// fault.
type Verifier interface {
	Verify(ctx context.Context, token string) (Identity, error)
}

// Gate lets callers in that say who they are. The zero value lets everybody in, as
// nobody.
type Gate struct {
	// Verifiers are asked in order; the first that accepts a token decides.
	Verifiers []Verifier
	// Certificates admits callers whose client certificate the transport has verified:
	// the tenant is the certificate's common name. A token, where one is sent, decides
	// instead.
	Certificates bool
	// Log is told why a token was rejected; the caller is not. Nil tells nobody.
	Log *slog.Logger
}

// Open reports whether everybody is let in.
func (g *Gate) Open() bool { return len(g.Verifiers) == 0 && !g.Certificates }

var _ grpc.UnaryServerInterceptor = (*Gate)(nil).Unary

// Unary is the interceptor of unary calls.
func (g *Gate) Unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, err := g.admit(ctx)
	if err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// Stream is the interceptor of streams.
func (g *Gate) Stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, err := g.admit(stream.Context())
	if err != nil {
		return err
	}
	return handler(srv, &identified{ServerStream: stream, ctx: ctx})
}

type identified struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // a stream has one
}

func (s *identified) Context() context.Context { return s.ctx }

// admit returns the context of a call by the caller it recognizes, or has recognized
// already.
func (g *Gate) admit(ctx context.Context) (context.Context, error) {
	if v, ok := ctx.Value(verdictKey{}).(verdict); ok {
		return ctx, v.err
	}
	return g.identify(ctx)
}

type verdictKey struct{}

// verdict is what became of a call that was looked at ahead of its interceptor.
type verdict struct{ err error }

// Recognize does the interceptor's work ahead of it, so that nothing is done for
// strangers in between. The interceptor then only tells the caller. Who was recognized
// once, as the HTTP edge does, is not looked at again.
func (g *Gate) Recognize(ctx context.Context) context.Context {
	if _, done := ctx.Value(verdictKey{}).(verdict); done {
		return ctx
	}
	known, err := g.identify(ctx)
	if err != nil {
		known = ctx
	}
	return context.WithValue(known, verdictKey{}, verdict{err})
}

// Refused reports whether [Gate.Recognize] has found a call to be a stranger's.
func Refused(ctx context.Context) bool {
	v, _ := ctx.Value(verdictKey{}).(verdict)
	return v.err != nil
}

func (g *Gate) identify(ctx context.Context) (context.Context, error) {
	if g.Open() {
		return ctx, nil
	}
	token, err := grpcauth.AuthFromMD(ctx, "bearer")
	switch {
	case err == nil && token != "":
		id, err := g.verify(ctx, token)
		if err != nil {
			return nil, err
		}
		return NewContext(ctx, id), nil
	case g.Certificates:
		if tenant := commonName(ctx); CheckTenant(tenant) == nil {
			return NewContext(ctx, Identity{Tenant: tenant, Method: "certificate"}), nil
		}
		return nil, status.Error(codes.Unauthenticated, "a client certificate whose common name is a tenant, or a bearer token, is required")
	default:
		return nil, status.Error(codes.Unauthenticated, "a bearer token is required: send it as metadata, authorization: Bearer TOKEN")
	}
}

func (g *Gate) verify(ctx context.Context, token string) (Identity, error) {
	reason := ErrRejected
	if len(token) <= maxToken {
		for _, v := range g.Verifiers {
			id, err := v.Verify(ctx, token)
			if err == nil {
				return id, nil
			}
			if ctx.Err() != nil {
				return Identity{}, status.FromContextError(ctx.Err()).Err()
			}
			reason = err
		}
	}
	if g.Log != nil {
		g.Log.LogAttrs(ctx, slog.LevelInfo, "token rejected", slog.String("reason", reason.Error()))
	}
	return Identity{}, status.Error(codes.Unauthenticated, "the bearer token is not accepted: it is unknown, has expired, or is meant for another service")
}

// commonName is that of a verified client certificate, empty where there is none.
func commonName(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	tls, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(tls.State.VerifiedChains) == 0 || len(tls.State.VerifiedChains[0]) == 0 {
		return ""
	}
	return tls.State.VerifiedChains[0][0].Subject.CommonName
}
