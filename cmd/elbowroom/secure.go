package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"

	"github.com/elbowroom/elbowroom/internal/certificates"
	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
)

// security is what protects a server from strangers. The zero value protects it from
// none.
type security struct {
	auth         *auth.Gate
	certificates *certificates.Source
}

func newSecurity(ctx context.Context, c *config.Config, log *slog.Logger) (security, error) {
	gate, err := newAuth(ctx, c.Auth, log)
	if err != nil {
		return security{}, err
	}
	source, err := newCertificates(c.TLS, log)
	return security{gate, source}, err
}

// tls is the configuration of connections that speak one of the protocols, nil
// without TLS.
func (s security) tls(protocols ...string) *tls.Config {
	if s.certificates == nil {
		return nil
	}
	return s.certificates.Config(protocols...)
}

// newAuth returns who may call, nil where everybody may.
func newAuth(ctx context.Context, c config.Auth, log *slog.Logger) (*auth.Gate, error) {
	gate := &auth.Gate{Certificates: c.Certificates, Log: log}
	if c.TokensFile != "" {
		tokens, err := auth.OpenTokenFile(c.TokensFile, log)
		if err != nil {
			return nil, &usageError{fmt.Errorf("auth.tokens_file: %w", err)}
		}
		gate.Verifiers = append(gate.Verifiers, tokens)
	}
	if c.JWTIssuer != "" {
		jwt, err := auth.NewJWT(ctx, auth.JWTOptions{
			Issuer: c.JWTIssuer, Audience: c.JWTAudience, KeysURL: c.JWTKeysURL, TenantClaim: c.JWTTenantClaim,
		})
		if err != nil {
			return nil, fmt.Errorf("auth.jwt_issuer: %w", err)
		}
		gate.Verifiers = append(gate.Verifiers, jwt)
	}
	if gate.Open() {
		return nil, nil
	}
	return gate, nil
}

// newCertificates returns the server's certificates, nil where there is no TLS.
func newCertificates(c config.TLS, log *slog.Logger) (*certificates.Source, error) {
	if c.CertFile == "" {
		return nil, nil
	}
	source, err := certificates.New(certificates.Files{
		Certificate: c.CertFile, Key: c.KeyFile, ClientCAs: c.ClientCAFile, Optional: c.ClientAuth == "optional",
	}, log)
	if err != nil {
		return nil, &usageError{fmt.Errorf("tls: %w", err)}
	}
	return source, nil
}

// tokenCommand makes a bearer token.
type tokenCommand struct {
	Tenant string `arg:"" help:"Whose token it is."`
}

// Run prints a fresh token and the line that admits it.
func (cmd *tokenCommand) Run(p process) error {
	token, line, err := auth.NewToken(cmd.Tenant)
	if err != nil {
		return &usageError{err}
	}
	page := newPage(p, p.stdout)
	page.printf("Give the token to %s; it is shown this once:\n\n  %s\n\n", cmd.Tenant, token)
	page.printf("Add this line to auth.tokens_file:\n\n  %s\n", line)
	return nil
}
