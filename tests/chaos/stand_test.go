package chaos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/internal/serverprocess"
	"github.com/elbowroom/elbowroom/internal/testutil/pki"
	"github.com/elbowroom/elbowroom/internal/testutil/redistest"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

var (
	all     = flag.Bool("all", false, "let every fault happen, not only the quick ones")
	rounds  = flag.Int("rounds", 1, "how often each fault happens")
	clients = flag.Int("clients", 6, "how many clients use the service meanwhile")
)

// program is the binary, built once.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(serverprocess.Tests(m, &program))
}

// stand is a service and what it stands on.
type stand struct {
	cleanup func(func()) // after the whole test, not after one of its faults

	redis *redistest.Server
	model *wiredouble.Double
	way   *valve // to the model
	ca    *pki.Authority

	dir               string
	config, cert, key string
	issued            int    // certificates
	addr              string // of the gRPC port, over restarts
	server            *serverprocess.Process
	log               *pipe // of the server, nil where nobody looks at it
	load              *load
}

// settings are in force while nothing is wrong.
const settings = "compression:\n  threshold: 0.5\n"

// newStand starts what the service needs, and not yet the service.
func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{cleanup: t.Cleanup, redis: redistest.Start(t), model: wiredouble.OpenAI(t, good()), ca: pki.New(t), dir: t.TempDir(), addr: "127.0.0.1:0"}
	s.way = newValve(t, strings.TrimPrefix(strings.TrimSuffix(s.model.URL, "/v1"), "http://"))
	s.config = pki.Write(t, s.dir, "elbowroom.yaml", []byte(settings))
	pki.Write(t, s.dir, "keys", []byte(strings.Repeat("k", 32)))
	s.issue(t)
	return s
}

// issue writes another certificate of the server, in two steps as renewals do.
func (s *stand) issue(t *testing.T) {
	t.Helper()
	s.issued++
	cert, key := s.ca.Issue(t, s.name())
	s.cert, s.key = pki.Write(t, s.dir, "tls.crt", cert), pki.Write(t, s.dir, "tls.key", key)
}

// name is the name in the certificate that was issued last.
func (s *stand) name() string { return fmt.Sprintf("certificate %d", s.issued) }

// trust is how clients connect.
func (s *stand) trust() *tls.Config {
	return &tls.Config{RootCAs: s.ca.Pool(), MinVersion: tls.VersionTLS13}
}

// words give the texts of the model something of their own each.
var words = strings.Fields("harbour gate lantern pier ferry tide anchor buoy chart crane dock hull keel mast rope sail")

// good writes a summary that differs with what it sums up.
func good() wiredouble.Step {
	return wiredouble.Func(func(r wiredouble.Request) wiredouble.Step {
		sum := sha256.Sum256([]byte(r.User))
		var text strings.Builder
		for _, b := range sum[:6] {
			text.WriteString(" " + words[int(b)%len(words)])
		}
		return wiredouble.Text("## Goal\n- Go on with the work:" + text.String() + ".\n")
	})
}

// start starts the service, at the address that it had before.
func (s *stand) start(t *testing.T, o serverprocess.Options) {
	t.Helper()
	o.Binary = program
	o.Env = []string{"OPENAI_BASE_URL=http://" + s.way.addr + "/v1", "OPENAI_API_KEY=" + s.model.Key, "ELBOWROOM_STORE_REDIS_URL=" + s.redis.URL()}
	o.Args = append([]string{
		"--grpc-addr", s.addr, "--config", s.config, "--tls-cert-file", s.cert, "--tls-key-file", s.key,
		"--summarizers", "openai:m,extractive", "--summarizer-attempt-timeout", "1s", "--summarizer-retries", "1", "--summarizer-breaker-delay", "1s",
		"--store-encryption-key-file", filepath.Join(s.dir, "keys"),
		"--store-max-bytes", fmt.Sprint(cacheBytes), "--limits-max-kept-bytes", fmt.Sprint(cacheBytes),
	}, o.Args...)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	server, err := serverprocess.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	s.cleanup(server.Kill)
	s.server, s.addr = server, server.GRPC
}

// metric is a series, or the sum of those with the labels.
func (s *stand) metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	m, err := s.server.Metrics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m.Sum(name, labels...)
}

// grows waits until a metric is above what it was.
func (s *stand) grows(t *testing.T, was float64, name string, labels ...string) {
	t.Helper()
	await(t, name, func() bool { return s.metric(t, name, labels...) > was })
}

// certificate is the name in the certificate that a new connection is shown.
func (s *stand) certificate(t *testing.T) string {
	t.Helper()
	conn, err := (&tls.Dialer{NetDialer: &net.Dialer{Timeout: limit}, Config: &tls.Config{
		RootCAs: s.ca.Pool(), MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"},
	}}).DialContext(t.Context(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	secured, _ := conn.(*tls.Conn)
	return secured.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// pipe is a log whose reader can stop reading, and die.
type pipe struct {
	read, write *os.File
	// reading is held by whoever reads, or keeps others from it.
	reading sync.Mutex
	// refused are the lines that a certificate was not taken.
	refused atomic.Int64
}

func newPipe(t *testing.T) *pipe {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &pipe{read: read, write: write}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		text := make([]byte, 64<<10)
		for {
			p.reading.Lock()
			_ = p.read.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			n, err := p.read.Read(text)
			p.reading.Unlock()
			p.refused.Add(int64(bytes.Count(text[:n], []byte("the old ones stay"))))
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
		}
	}()
	t.Cleanup(func() {
		p.die()
		<-ended
	})
	return p
}

// stall stops the reader until resume.
func (p *pipe) stall()  { p.reading.Lock() }
func (p *pipe) resume() { p.reading.Unlock() }

// die closes the reading end.
func (p *pipe) die() {
	_ = p.read.Close()
	_ = p.write.Close()
}
