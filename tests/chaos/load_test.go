package chaos

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	client "github.com/elbowroom/elbowroom/clients/go"
	"github.com/elbowroom/elbowroom/internal/testutil/eventually"
)

const (
	// callLimit is the deadline of one try, far above what any answer takes.
	callLimit = 60 * time.Second
	// patience is how often a call is tried: for minutes.
	patience = 300
	// The waits between tries, doubled up to the longest, where the server names none.
	firstWait, longestWait = 50 * time.Millisecond, time.Second
)

// load is clients that use the service all the time, and what became of their calls.
type load struct {
	t       *testing.T
	target  string
	trust   *tls.Config
	talks   []talk
	clients []*caller
	session atomic.Int64

	stopping chan struct{}
	group    sync.WaitGroup

	mu      sync.Mutex
	epoch   int
	allowed []failure
	calls   map[string]int // in this epoch, by RPC
	failed  map[string]int // in this epoch, by kind
	total   int
	// modelled is how many calls that began in this epoch, and that no earlier summary
	// could answer, the model answered.
	modelled int
	// broken are answers that break a promise, and failures that no fault allows.
	broken []string
}

// caller is one client.
type caller struct {
	*load
	kind  kind
	talk  int
	tries int // what gRPC's own retries are, 0 for none
	done  int // calls that began in this epoch and succeeded, under load.mu
}

// kind is what a client does.
type kind struct {
	name string
	run  func(c *caller, conn *client.Client, k *talk, session int64)
}

// newLoad starts n clients. They go on until stop.
func newLoad(t *testing.T, target string, trust *tls.Config, n int) *load {
	t.Helper()
	l := &load{
		t: t, target: target, trust: trust, talks: talks(t), stopping: make(chan struct{}),
		calls: map[string]int{}, failed: map[string]int{},
	}
	for i := range n {
		l.clients = append(l.clients, &caller{load: l, kind: kinds[i%len(kinds)], talk: i, tries: i % 2})
	}
	for _, c := range l.clients {
		l.group.Go(c.work)
	}
	t.Cleanup(l.stop)
	return l
}

// stop lets the calls under way end and the clients with them. It may be called twice.
func (l *load) stop() {
	l.mu.Lock()
	select {
	case <-l.stopping:
	default:
		close(l.stopping)
	}
	l.mu.Unlock()
	l.group.Wait()
}

func (l *load) stopped() bool {
	select {
	case <-l.stopping:
		return true
	default:
		return false
	}
}

// work has one session after the other, each over a connection of its own.
func (c *caller) work() {
	for !c.stopped() {
		conn, err := c.connect()
		if err != nil {
			c.report("connect: %v", err)
			return
		}
		k := &c.talks[c.talk%len(c.talks)]
		c.talk++
		c.kind.run(c, conn, k, c.session.Add(1))
		_ = conn.Close()
	}
}

func (c *caller) connect() (*client.Client, error) {
	options := []client.Option{client.WithTLS(c.trust), client.WithTimeout(callLimit)}
	if c.tries == 0 {
		options = append(options, client.WithDialOptions(grpc.WithDisableRetry()))
	}
	return client.Connect(c.target, options...)
}

// try makes a call, and again as long as it fails in a way that the fault allows. It
// reports false when the load ends first.
func (c *caller) try(what string, call func(ctx context.Context) error) bool {
	wait := firstWait
	for range patience {
		if c.stopped() {
			return false
		}
		began := c.now()
		ctx, cancel := context.WithTimeout(context.Background(), callLimit)
		err := call(ctx)
		cancel()
		if err == nil {
			c.succeeded(what, began)
			return true
		}
		f, asked := failureOf(err)
		c.refused(what, f, err)
		select {
		case <-c.stopping:
			return false
		case <-time.After(max(wait, asked)):
		}
		wait = min(2*wait, longestWait)
	}
	c.report("%s by %s: no answer after %d tries", what, c.kind.name, patience)
	return false
}

func (l *load) now() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch
}

func (c *caller) succeeded(what string, began int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[what]++
	c.total++
	if began == c.epoch {
		c.done++
	}
}

func (l *load) refused(what string, f failure, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed[f.String()]++
	if f != busy && !slices.Contains(l.allowed, f) {
		l.broken = append(l.broken, fmt.Sprintf("%s failed with %v, which nothing allows: %v", what, f, err))
	}
}

// wrote notes an answer of the model to a call that began in an epoch.
func (l *load) wrote(began int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if began == l.epoch {
		l.modelled++
	}
}

// modelAnswers waits for an answer of the model to a call that begins now.
func (l *load) modelAnswers(t *testing.T, allowed ...failure) {
	t.Helper()
	l.begin(allowed...)
	await(t, "an answer of the model", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.modelled > 0
	})
}

// report says that a promise was broken.
func (l *load) report(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.broken) < 1000 {
		l.broken = append(l.broken, fmt.Sprintf(format, args...))
	}
}

// begin starts an epoch in which calls may fail in these ways.
func (l *load) begin(allowed ...failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch++
	l.modelled = 0
	l.allowed = allowed
	for _, c := range l.clients {
		c.done = 0
	}
}

// tell returns what broke and clears it, with a line about the calls since the last time.
func (l *load) tell() (broken []string, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	write := func(counts map[string]int) string {
		var out []string
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			out = append(out, fmt.Sprintf("%s %d", name, counts[name]))
		}
		clear(counts)
		if len(out) == 0 {
			return "none"
		}
		return strings.Join(out, ", ")
	}
	line = "answers: " + write(l.calls) + "; failures: " + write(l.failed)
	broken, l.broken = l.broken, nil
	return broken, line
}

// answered waits until every client has had n answers to calls that began in this epoch.
func (l *load) answered(t *testing.T, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%d answers for every client", n), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return !slices.ContainsFunc(l.clients, func(c *caller) bool { return c.done < n })
	}, func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		var out []string
		for _, c := range l.clients {
			out = append(out, fmt.Sprintf("%s %d", c.kind.name, c.done))
		}
		return strings.Join(out, ", ") + fmt.Sprint(l.failed, l.broken)
	})
}

// failures waits until n calls have failed in this epoch.
func (l *load) failures(t *testing.T, n int) {
	t.Helper()
	await(t, "failures", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		sum := 0
		for _, times := range l.failed {
			sum += times
		}
		return sum >= n
	})
}

// limit is far more than anything takes that is waited for.
const limit = 4 * time.Minute

// await asks again and again until the answer is yes.
func await(t *testing.T, what string, yes func() bool, why ...func() string) {
	t.Helper()
	eventually.True(t, limit, what, yes, why...)
}
