package elbowroom_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testutil/localserver"
)

// certificate makes a certificate of its own for both sides, valid for the loopback.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestBothSidesShowTheirCertificates(t *testing.T) {
	cert, pool := certificate(t)
	d := &double{answer: func(context.Context, int) error { return nil }}
	addr := serveDouble(t, d, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	})))
	mutual := connectTo(t, addr, elbowroom.WithToken("secret"), elbowroom.WithTLS(&tls.Config{
		RootCAs: pool, Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13,
	}))
	if _, err := mutual.Compress(t.Context(), small, nil); err != nil {
		t.Error(err)
	}
	for name, config := range map[string]*tls.Config{
		"no certificate of the client": {RootCAs: pool, MinVersion: tls.VersionTLS13},
		"an unknown server":            {Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13},
		"no TLS":                       nil,
	} {
		_, err := connectTo(t, addr, elbowroom.WithTLS(config)).Compress(t.Context(), small, nil)
		var unavailable *elbowroom.UnavailableError
		if !errors.As(err, &unavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnEmptyTokenIsNone(t *testing.T) {
	for token, want := range map[string][]string{"": nil, "secret": {"Bearer secret"}} {
		d := &double{answer: func(ctx context.Context, _ int) error {
			got, _ := metadata.FromIncomingContext(ctx)
			if diff := cmp.Diff(want, got.Get("authorization")); diff != "" {
				t.Errorf("token %q (-want +got):\n%s", token, diff)
			}
			return nil
		}}
		if _, err := connectTo(t, serveDouble(t, d), elbowroom.WithToken(token)).Compress(t.Context(), small, nil); err != nil {
			t.Error(err)
		}
	}
	connectTo(t, "10.1.2.3:50051", elbowroom.WithToken("")) // nothing would travel in the open
}

func TestCallsGoToTheReplicasThatAreWell(t *testing.T) {
	const service = "elbowroom.v1.ContextService"
	var doubles []*double
	var states []*health.Server
	var addresses []resolver.Address
	for range 3 {
		d := &double{answer: func(context.Context, int) error { return nil }}
		state := health.NewServer()
		state.SetServingStatus(service, healthv1.HealthCheckResponse_SERVING)
		s := grpc.NewServer()
		pb.RegisterContextServiceServer(s, d)
		healthv1.RegisterHealthServer(s, state)
		lis := localserver.Listen(t, "127.0.0.1:0")
		go func() { _ = s.Serve(lis) }()
		t.Cleanup(s.Stop)
		doubles, states, addresses = append(doubles, d), append(states, state), append(addresses, resolver.Address{Addr: lis.Addr().String()})
	}
	states[1].SetServingStatus(service, healthv1.HealthCheckResponse_NOT_SERVING)
	replicas := manual.NewBuilderWithScheme("replicas")
	replicas.InitialState(resolver.State{Addresses: addresses})
	client := connectTo(t, "replicas:///all", elbowroom.WithDialOptions(grpc.WithResolvers(replicas), grpc.WithTransportCredentials(insecure.NewCredentials())))
	// Calls go to the first replica that is ready until all are.
	for n := 0; doubles[0].calls.Load() == 0 || doubles[2].calls.Load() == 0; n++ {
		if _, err := client.Compress(t.Context(), small, nil); err != nil {
			t.Fatal(err)
		}
		if n == 100_000 {
			t.Fatalf("%d, %d and %d calls", doubles[0].calls.Load(), doubles[1].calls.Load(), doubles[2].calls.Load())
		}
	}
	if n := doubles[1].calls.Load(); n > 0 {
		t.Errorf("%d calls of a replica that is not serving", n)
	}
}
