package replicas

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"google.golang.org/grpc"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	client "github.com/elbowroom/elbowroom/clients/go"
	"github.com/elbowroom/elbowroom/internal/serverprocess"
	"github.com/elbowroom/elbowroom/internal/testutil/eventually"
	"github.com/elbowroom/elbowroom/internal/testutil/redistest"
)

// program is the binary, built once.
var program string

func TestMain(m *testing.M) { os.Exit(serverprocess.Tests(m, &program)) }

const (
	// limit is far more than anything takes that is waited for.
	limit = 2 * time.Minute
	// patient is how long Redis may take in tests in which it is not to be away: the
	// machine may be busy.
	patient = "20s"
)

// tenants are those who may call. A tenant's token is its name, repeated.
var tenants = []string{"team-a", "team-b", "team-c", "team-d"}

func tokenOf(tenant string) string { return strings.Repeat(tenant+"-", 6) }

// pair is two servers and what they share.
type pair struct {
	redis *redistest.Server
	model *model
	dir   string
	nodes []*node
}

// node is one of the servers.
type node struct {
	*serverprocess.Process
	// conns are connections to it alone that try nothing again, one for each tenant.
	conns map[string]*client.Client
}

// newStand starts what servers need, and none yet.
func newStand(t *testing.T) *pair {
	t.Helper()
	p := &pair{redis: redistest.Start(t), model: newModel(t), dir: t.TempDir()}
	var tokens strings.Builder
	for _, tenant := range tenants {
		sum := sha256.Sum256([]byte(tokenOf(tenant)))
		fmt.Fprintf(&tokens, "%s %s\n", tenant, hex.EncodeToString(sum[:]))
	}
	p.write(t, "tokens", tokens.String())
	p.write(t, "states", strings.Repeat("s", 32))
	p.write(t, "key-1", strings.Repeat("1", 32))
	p.write(t, "key-2", strings.Repeat("2", 32))
	return p
}

// newPair starts two servers that have the same arguments.
func newPair(t *testing.T, args ...string) *pair {
	t.Helper()
	p := newStand(t)
	for range 2 {
		p.start(t, append([]string{"--store-encryption-key-file", p.file("key-1")}, args...)...)
	}
	return p
}

func (p *pair) file(name string) string { return filepath.Join(p.dir, name) }

func (p *pair) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(p.file(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start starts one more server.
func (p *pair) start(t *testing.T, args ...string) *node {
	t.Helper()
	ctx, cancel := bounded(t)
	defer cancel()
	server, err := serverprocess.Start(ctx, serverprocess.Options{
		Binary: program,
		Env:    []string{"OPENAI_BASE_URL=" + p.model.URL, "OPENAI_API_KEY=" + p.model.Key, "ELBOWROOM_STORE_REDIS_URL=" + p.redis.URL()},
		Args: append([]string{
			"--auth-tokens-file", p.file("tokens"), "--state-key-file", p.file("states"), "--summarizers", "openai:m,extractive", "--summarizer-attempt-timeout", "1m",
			"--limits-max-working-calls", "1000", // refusals are not looked at here
		}, args...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	n := &node{Process: server, conns: map[string]*client.Client{}}
	for _, tenant := range tenants {
		conn, err := client.Connect("passthrough:///"+server.GRPC, client.WithToken(tokenOf(tenant)), client.WithDialOptions(grpc.WithDisableRetry()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		n.conns[tenant] = conn
	}
	p.nodes = append(p.nodes, n)
	return n
}

func (n *node) service(tenant string) elbowroomv1.ContextServiceClient {
	return n.conns[tenant].Service()
}

// metric is a series of the server's, or the sum of those with the labels.
func (n *node) metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	ctx, cancel := bounded(t)
	defer cancel()
	m, err := n.Metrics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m.Sum(name, labels...)
}

// metric is the sum over both servers.
func (p *pair) metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	sum := 0.0
	for _, n := range p.nodes {
		sum += n.metric(t, name, labels...)
	}
	return sum
}

// ask sends a command to the Redis.
func (p *pair) ask(t *testing.T, words ...string) rueidis.RedisResult {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{p.redis.Addr()}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	result := c.Do(t.Context(), c.B().Arbitrary(words...).Build())
	if err := result.Error(); err != nil {
		t.Fatal(err)
	}
	return result
}

// bounded is a context that ends when nothing can be hoped for any more.
func bounded(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), limit)
}

// await asks again and again until the answer is yes.
func await(t *testing.T, what string, yes func() bool) {
	t.Helper()
	eventually.True(t, limit, what, yes)
}
