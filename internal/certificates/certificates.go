// Package certificates serves TLS with certificates that are read from files, and
// read again when the files change, so that they can be renewed under a running
// server.
package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/elbowroom/elbowroom/internal/watched"
)

// Files are where the certificates lie, in PEM.
type Files struct {
	// Certificate is the server's, with the chain behind it; Key belongs to it.
	Certificate, Key string
	// ClientCAs sign the certificates of clients. Empty: clients need none.
	ClientCAs string
	// Optional lets clients in that show no certificate; one that is shown must be good.
	Optional bool
}

// Source gives TLS configurations whose certificates are those of the files. It is
// safe for concurrent use.
type Source struct {
	files   Files
	watched *watched.Files
	log     *slog.Logger
	current atomic.Pointer[loaded]
}

type loaded struct {
	certificate tls.Certificate
	clients     *x509.CertPool // nil: none needed
}

// ErrNoAuthority is returned for a file of client authorities that holds none.
var ErrNoAuthority = errors.New("no certificate in PEM")

// New reads the files. Later changes that cannot be read leave the old certificates
// and are logged as errors.
func New(files Files, log *slog.Logger) (*Source, error) {
	s := &Source{files: files, watched: watched.New(files.Certificate, files.Key, files.ClientCAs), log: log}
	l, err := s.load()
	if err != nil {
		return nil, err
	}
	s.current.Store(l)
	return s, nil
}

func (s *Source) load() (*loaded, error) {
	l := &loaded{}
	var err error
	if l.certificate, err = tls.LoadX509KeyPair(s.files.Certificate, s.files.Key); err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	if s.files.ClientCAs == "" {
		return l, nil
	}
	pem, err := os.ReadFile(s.files.ClientCAs)
	if err != nil {
		return nil, fmt.Errorf("read the client authorities: %w", err)
	}
	l.clients = x509.NewCertPool()
	if !l.clients.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the client authorities: %s: %w", s.files.ClientCAs, ErrNoAuthority)
	}
	return l, nil
}

// Config returns a configuration for connections that speak one of the protocols,
// best first, for example h2. Every handshake takes the certificates of its time.
func (s *Source) Config(protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: protocols,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			return s.now(hello.Context(), protocols), nil
		},
	}
}

func (s *Source) now(ctx context.Context, protocols []string) *tls.Config {
	if s.watched.Changed() {
		if l, err := s.load(); err != nil {
			s.log.ErrorContext(ctx, "certificates changed and cannot be read; the old ones stay", "error", err)
		} else {
			s.current.Store(l)
			s.log.InfoContext(ctx, "certificates read again")
		}
	}
	l := s.current.Load()
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols, Certificates: []tls.Certificate{l.certificate}}
	if l.clients != nil {
		c.ClientCAs, c.ClientAuth = l.clients, tls.RequireAndVerifyClientCert
		if s.files.Optional {
			c.ClientAuth = tls.VerifyClientCertIfGiven
		}
	}
	return c
}
