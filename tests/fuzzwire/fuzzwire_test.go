package fuzzwire

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/serverprocess"
)

// The flags of a run.
var (
	requests = flag.Uint64("requests", 2_000, "how many requests are made")
	seed     = flag.Uint64("seed", 7, "seed of the run")
	only     = flag.Int64("only", -1, "make the request of that number alone")
	most     = flag.Duration("for", 0, "end the run after that time with what has been done; 0: when all are made")
	workers  = flag.Int("workers", 4, "requests at one time")
	failures = flag.String("failures", "", "folder for what broke; default: one of the test's own, which is removed")
)

const (
	// callLimit is far more than a request takes.
	callLimit = time.Minute
	// mostShown bounds what is shown of a run in which everything breaks.
	mostShown = 50
)

// TestNoRequestBreaksAConversation makes the requests of the flags.
func TestNoRequestBreaksAConversation(t *testing.T) {
	binary, err := serverprocess.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// Compressions of the same messages are not found again: every request is judged by itself.
	p, err := serverprocess.Start(t.Context(), serverprocess.Options{Binary: binary, Args: []string{"--no-compression-continuity", "--log-level", "error"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	var calls atomic.Int64
	conn, err := grpc.NewClient(p.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			calls.Add(1)
			return invoke(ctx, method, req, reply, cc, opts...)
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	transport := &http.Transport{MaxIdleConnsPerHost: *workers}
	defer transport.CloseIdleConnections()
	c := &caller{pb.NewContextServiceClient(conn), &web{"http://" + p.HTTP, &http.Client{Transport: transport, Timeout: callLimit}}}

	r := &run{from: readSources(t), caller: c, byCall: map[string]int{}, byCode: map[string]int{}}
	begun := time.Now()
	first, end := uint64(0), *requests
	if *only >= 0 {
		first, end = uint64(*only), uint64(*only)+1
	}
	end = r.all(t, first, end)
	m, _ := p.Memory()
	t.Logf("seed %d: %d requests, with %d calls to compare them with, in %v; by call %s; by code %s; %d answers of which the checker cannot read the request; %d broken; the server's memory at its peak: %d MiB",
		*seed, end-first, calls.Load()+int64(r.byCall["StreamCompress"]+r.byCall["Connect"]+r.byCall["/v1/compress"])-int64(end-first), time.Since(begun).Round(time.Second), table(r.byCall), table(r.byCode), r.unread, r.broken, m.Peak>>20)
	if ok := r.byCode["OK"]; *only < 0 && ok < int(end-first)/3 {
		t.Errorf("only %d of %d requests were answered: the run proves little", ok, end-first)
	}
	stop, cancel := context.WithTimeout(t.Context(), callLimit)
	defer cancel()
	if code, err := p.Stop(stop); code != 0 || err != nil {
		t.Errorf("the server ended with exit code %d: %v", code, err)
	}
	if log := p.Log(); strings.Contains(log, "internal error") || strings.Contains(log, "panic") {
		t.Errorf("the server's log:\n%.4000s", log)
	}
}

// run is what has come of the requests.
type run struct {
	from   sources
	caller *caller

	mu                   sync.Mutex
	byCall, byCode       map[string]int
	made, unread, broken int
}

// all makes the requests of the numbers and returns the one behind the last.
func (r *run) all(t *testing.T, first, end uint64) uint64 {
	var stop <-chan time.Time
	if *most > 0 {
		stop = time.After(*most)
	}
	var next atomic.Uint64
	next.Store(first)
	var all sync.WaitGroup
	for range *workers {
		all.Go(func() {
			for n := next.Add(1) - 1; n < end; n = next.Add(1) - 1 {
				select {
				case <-stop:
					next.Store(end) // nobody begins another
				default:
				}
				ctx, cancel := context.WithTimeout(t.Context(), callLimit)
				r.note(t, n, r.caller.ask(ctx, newDraw(*seed, n, r.from)))
				cancel()
			}
		})
	}
	all.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return first + uint64(r.made)
}

func (r *run) note(t *testing.T, n uint64, v *verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made++
	if r.made%10_000 == 0 {
		fmt.Fprintf(os.Stderr, "%d requests, %d broken\n", r.made, r.broken)
	}
	r.byCall[v.call]++
	r.byCode[v.code]++
	if v.unread {
		r.unread++
	}
	if *only >= 0 {
		t.Logf("%s: %s\n%s\n%s", v.call, v.code, v.text, written(v.req))
	}
	if len(v.broken) == 0 {
		return
	}
	r.broken++
	if r.broken > mostShown {
		t.Fail()
		return
	}
	t.Errorf("-seed %d -only %d: %s\n  %s\n  %s", *seed, n, v.call, strings.Join(v.broken, "\n  "), r.save(t, n, v))
}

// save writes what was sent, for whoever looks into it.
func (r *run) save(t *testing.T, n uint64, v *verdict) string {
	if *failures == "" {
		return ""
	}
	name := filepath.Join(*failures, fmt.Sprintf("%d-%d", *seed, n))
	for ending, text := range map[string]string{".body.json": v.text, ".request.txtpb": written(v.req), ".broken.txt": strings.Join(v.broken, "\n")} {
		if err := os.WriteFile(name+ending, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	return name
}

func written(m proto.Message) string {
	if m == nil {
		return ""
	}
	return prototext.MarshalOptions{Multiline: true}.Format(m)
}

// table writes counts, largest first.
func table(of map[string]int) string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return of[b] - of[a] })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, of[name])
	}
	return strings.Join(names, ", ")
}
