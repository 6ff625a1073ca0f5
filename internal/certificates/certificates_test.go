package certificates_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/internal/certificates"
	"github.com/elbowroom/elbowroom/internal/testutil/pki"
	"github.com/elbowroom/elbowroom/internal/watched"
)

// handshake connects a client with the server's configuration and returns the name
// on the server's certificate.
func handshake(t *testing.T, server, client *tls.Config) (string, error) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lis.Close() }()
	served := make(chan error, 1)
	go func() {
		raw, err := lis.Accept()
		if err == nil {
			err = tls.Server(raw, server).HandshakeContext(t.Context())
			_ = raw.Close()
		}
		served <- err
	}()
	raw, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	conn := tls.Client(raw, client)
	if err := conn.HandshakeContext(t.Context()); err != nil {
		_ = raw.Close()
		_ = <-served //nolint:staticcheck // the client's error counts
		return "", err
	}
	name := conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	return name, <-served // in TLS 1.3 the server judges the client last
}

func TestChangedCertificatesAreServedWithoutARestart(t *testing.T) {
	ca, dir := pki.New(t), t.TempDir()
	write := func(name string) certificates.Files {
		cert, key := ca.Issue(t, name)
		return certificates.Files{Certificate: pki.Write(t, dir, "tls.crt", cert), Key: pki.Write(t, dir, "tls.key", key)}
	}
	var log bytes.Buffer
	files := write("first")
	s, err := certificates.New(files, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	server, client := s.Config("h2"), &tls.Config{RootCAs: ca.Pool(), ServerName: "localhost", NextProtos: []string{"h2"}}
	want := func(name string) {
		t.Helper()
		if got, err := handshake(t, server, client); err != nil || got != name {
			t.Errorf("served %q, %v; want %q", got, err, name)
		}
	}
	touch := func(ahead time.Duration) {
		at := time.Now().Add(ahead)
		for _, path := range []string{files.Certificate, files.Key} {
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(watched.Interval)
	}
	want("first")
	write("second")
	touch(-3 * time.Minute)
	want("second")
	pki.Write(t, dir, "tls.crt", []byte("half a file"))
	touch(-2 * time.Minute)
	want("second")
	if !strings.Contains(log.String(), "the old ones stay") {
		t.Errorf("log %q", log.String())
	}
	write("third")
	touch(-time.Minute)
	want("third")
}

func TestClientCertificatesAreChecked(t *testing.T) {
	ca, stranger, dir := pki.New(t), pki.New(t), t.TempDir()
	cert, key := ca.Issue(t, "server")
	files := certificates.Files{
		Certificate: pki.Write(t, dir, "tls.crt", cert), Key: pki.Write(t, dir, "tls.key", key), ClientCAs: pki.Write(t, dir, "ca.crt", ca.PEM()),
	}
	for _, c := range []struct {
		name     string
		optional bool
		client   []tls.Certificate
		ok       bool
	}{
		{"none", false, nil, false},
		{"good", false, []tls.Certificate{ca.Pair(t, "team-a")}, true},
		{"a stranger's", false, []tls.Certificate{stranger.Pair(t, "team-a")}, false},
		{"none, optional", true, nil, true},
		{"a stranger's, optional", true, []tls.Certificate{stranger.Pair(t, "team-a")}, false},
	} {
		files.Optional = c.optional
		s, err := certificates.New(files, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		client := &tls.Config{RootCAs: ca.Pool(), ServerName: "localhost"}
		if len(c.client) > 0 { // sent whoever is asked for
			client.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &c.client[0], nil }
		}
		if _, err := handshake(t, s.Config(), client); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestFilesThatCannotBeReadAreNamed(t *testing.T) {
	ca, dir := pki.New(t), t.TempDir()
	cert, key := ca.Issue(t, "server")
	good := certificates.Files{Certificate: pki.Write(t, dir, "tls.crt", cert), Key: pki.Write(t, dir, "tls.key", key)}
	_, other := ca.Issue(t, "server")
	for want, change := range map[string]func(f *certificates.Files){
		"missing.crt":           func(f *certificates.Files) { f.Certificate = "missing.crt" },
		"private key":           func(f *certificates.Files) { f.Key = pki.Write(t, dir, "other.key", other) },
		"missing-ca.crt":        func(f *certificates.Files) { f.ClientCAs = "missing-ca.crt" },
		"no certificate in PEM": func(f *certificates.Files) { f.ClientCAs = pki.Write(t, dir, "empty.crt", nil) },
	} {
		files := good
		change(&files)
		if _, err := certificates.New(files, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
}
