package security

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/serverprocess"
	"github.com/elbowroom/elbowroom/internal/testutil/pki"
)

// callLimit is far more than anything here takes.
const callLimit = 60 * time.Second

// The server's bounds. Times are short, so that waiting for them is.
const (
	maxMessage     = 4 << 20
	maxConnections = 64
	maxStreams     = 100
)

// service is the program, what is needed to speak to it, and what it cost before it was
// attacked.
type service struct {
	process  *serverprocess.Process
	strict   *serverprocess.Process // requires client certificates
	ca       *pki.Authority
	stranger *pki.Authority
	issuer   *issuer
	// a, b and c are tokens of three tenants.
	a, b, c string

	client     elbowroomv1.ContextServiceClient
	goroutines int
	heap       int64
}

// start builds and runs the program as an operator would who opens it to others.
func start(t *testing.T) *service {
	t.Helper()
	dir := t.TempDir()
	binary, err := serverprocess.Build(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{ca: pki.New(t), stranger: pki.New(t), issuer: newIssuer(t)}
	var lineA, lineB, lineQuota string
	s.a, lineA = newToken(t, binary, "team-a")
	s.b, lineB = newToken(t, binary, "team-b")
	s.c, lineQuota = newToken(t, binary, "team-c")
	certificate, key := s.ca.Issue(t, "server")
	config := fmt.Sprintf(`
tls: {cert_file: %q, key_file: %q, client_ca_file: %q, client_auth: CLIENT_AUTH}
auth:
  tokens_file: %q
  jwt_issuer: %s
  jwt_audience: elbowroom
  jwt_keys_url: %s
  certificates: true
  reflection: authenticated
limits:
  max_message_bytes: %d
  max_in_flight_bytes: 64MiB
  max_connections: %d
  max_concurrent_streams: %d
  max_blocks: 50000
  handshake_timeout: 1s
  receive_timeout: 2s
  tenant_rate: 100
  tenant_burst: 2000
keepalive: {time: 3s, timeout: 1s, max_connection_idle: 2s}
`, pki.Write(t, dir, "tls.crt", certificate), pki.Write(t, dir, "tls.key", key), pki.Write(t, dir, "ca.crt", s.ca.PEM()),
		pki.Write(t, dir, "tokens", []byte(lineA+"\n"+lineB+"\n"+lineQuota+"\n")), s.issuer.name, s.issuer.url,
		maxMessage, maxConnections, maxStreams)
	run := func(clients string) *serverprocess.Process {
		file := pki.Write(t, dir, clients+".yaml", []byte(regexp.MustCompile("CLIENT_AUTH").ReplaceAllString(config, clients)))
		p, err := serverprocess.Start(t.Context(), serverprocess.Options{Binary: binary, Args: []string{"--config", file}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), callLimit)
			defer cancel()
			if code, err := p.Stop(ctx); code != 0 || err != nil {
				t.Errorf("the server ended with exit code %d: %v\n%s", code, err, p.Log())
			}
		})
		return p
	}
	s.process, s.strict = run("optional"), run("require")
	s.client = elbowroomv1.NewContextServiceClient(s.dial(t, s.process.GRPC, nil))
	for range 10 { // what is made once is made
		s.servesTheHonest(t)
	}
	s.goroutines, s.heap = s.held(t)
	return s
}

func newToken(t *testing.T, binary, tenant string) (token, line string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, "token", tenant).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)(elbow_\S+).*\n  (\S+ [0-9a-f]{64})\n`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("no token in %q", out)
	}
	return string(found[1]), string(found[2])
}

// dial connects over TLS, with a client certificate where there is one.
func (s *service) dial(t *testing.T, addr string, shown []tls.Certificate) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		RootCAs: s.ca.Pool(), Certificates: shown, MinVersion: tls.VersionTLS12,
	})), grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(1<<30)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// as is the context of a call with a token.
func as(t *testing.T, token string) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callLimit)
	t.Cleanup(cancel)
	if token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// greeting is a request that costs nothing.
func greeting() *elbowroomv1.CountTokensRequest {
	text := "hello"
	return &elbowroomv1.CountTokensRequest{Text: &text}
}

// servesTheHonest makes a call as anybody would, on a connection that was open before
// the attack, and over HTTP.
func (s *service) servesTheHonest(t *testing.T) {
	t.Helper()
	out, err := s.client.CountTokens(as(t, s.a), greeting(), grpc.WaitForReady(true))
	if err != nil || out.GetTokens() == 0 {
		t.Errorf("an honest call: %v, %v", out, err)
	}
	if got := s.post(t, s.a, plainBody); got != "200" {
		t.Errorf("an honest request over HTTP: %s", got)
	}
}

// Slack is what a server may hold more than before: connections that are being closed,
// what caches have kept.
const (
	slackGoroutines = 30
	slackHeap       = 96 << 20
	// peak is what the process may have taken at any time. It is far above what it needs
	// and far below what the attacks would take.
	peak = 1 << 30
)

// settles waits until the server has let go of what the attack made it take.
func (s *service) settles(t *testing.T) {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	limit := time.After(callLimit)
	for {
		goroutines, heap := s.held(t)
		if goroutines <= s.goroutines+slackGoroutines && heap <= s.heap+slackHeap {
			break
		}
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("%d goroutines and %d MiB, before it was attacked %d and %d", goroutines, heap>>20, s.goroutines, s.heap>>20)
		}
	}
	m, err := s.process.Memory()
	if errors.Is(err, serverprocess.ErrNotHere) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if m.Peak > peak {
		t.Fatalf("the server has taken %d MiB at its peak", m.Peak>>20)
	}
}

var (
	goroutineTotal = regexp.MustCompile(`goroutine profile: total (\d+)`)
	heapInUse      = regexp.MustCompile(`# HeapAlloc = (\d+)`)
)

// held is how many goroutines the server has, and how much of its heap is used after a
// collection.
func (s *service) held(t *testing.T) (goroutines int, heap int64) {
	t.Helper()
	find := func(path string, what *regexp.Regexp) int64 {
		page, err := s.process.Get(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		found := what.FindSubmatch(page)
		if found == nil {
			t.Fatalf("%s does not tell", path)
		}
		n, err := strconv.ParseInt(string(found[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return int(find("/debug/pprof/goroutine?debug=1", goroutineTotal)), find("/debug/pprof/heap?debug=1&gc=1", heapInUse)
}

// issuer signs JSON Web Tokens, and publishes its key.
type issuer struct {
	name, url string
	key       *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{name: "https://issuer.example", key: newKey(t)}
	point, err := i.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	half := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	set := fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","kid":"k1","alg":"ES256","use":"sig","x":%q,"y":%q}]}`, half(point[1:33]), half(point[33:]))
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(set))
	}))
	t.Cleanup(served.Close)
	i.url = served.URL
	return i
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign makes a token of a good one's claims with one of them changed.
func (i *issuer) sign(t *testing.T, key *ecdsa.PrivateKey, claim string, value any) string {
	t.Helper()
	claims := map[string]any{"iss": i.name, "aud": "elbowroom", "sub": "team-a", "exp": time.Now().Add(time.Hour).Unix()}
	if claim != "" {
		claims[claim] = value
	}
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(map[string]any{"alg": "ES256", "kid": "k1"}) + "." + part(claims)
	digest := sha256.Sum256([]byte(signed))
	r, v, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)), v.FillBytes(make([]byte, 32))...))
}

// open makes a TCP connection to the server.
func open(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(callLimit))
	return conn
}

// ends reads until the server closes the connection.
func ends(conn net.Conn) string {
	buf := make([]byte, 4<<10)
	for {
		if _, err := conn.Read(buf); errors.Is(err, os.ErrDeadlineExceeded) {
			return "kept open"
		} else if err != nil {
			return "closed"
		}
	}
}
