package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc/mem"

	"github.com/elbowroom/elbowroom/internal/serverprocess"
)

// settings are what a run is made of.
type settings struct {
	// seconds is the length of the closed-loop phase. The others follow from it.
	seconds float64
	clients int
	seed    uint64
	// data is the folder with recorded conversations. Where it is missing, conversations
	// are made up.
	data string
	// sample is the share of the answers that is judged.
	sample float64
	// binary is the server's program; "" builds it.
	binary string
	// cores is how many processors the server may use.
	cores int
	// most is what the server may have of memory, in bytes.
	most int64
	// args are more arguments of the server.
	args []string
	// timed says whether latencies are compared.
	timed bool
}

// The lengths of the other phases as parts of the closed-loop one.
const (
	warmPart     = 6
	ordinaryPart = 2
	overloadPart = 4
)

// What the closed-loop phase may last, in seconds.
const (
	leastSeconds = 1
	mostSeconds  = 24 * 3600
)

// ordinary is the share of the capacity that arrives in ordinary times, and overload in
// hard ones.
const (
	ordinary = 0.75
	overload = 3
)

// outcome is what a run found out.
type outcome struct {
	settings
	phases []*phase
	// ordinary and overloaded are the phases that are compared.
	ordinary, overloaded *phase

	begun, answered int64
	modelCalls      int64
	memory          serverprocess.Memory
	// goroutines are the server's before the first connection and after the last.
	before, after int
	corpus        string
}

// limits of waiting for what has to come.
const (
	startLimit = 2 * time.Minute
	drainLimit = 5 * time.Minute
	quietLimit = 30 * time.Second
	stopLimit  = time.Minute
)

// strayGoroutines are those that come and go: the admin port's, and of connections that
// are being closed.
const strayGoroutines = 6

func run(ctx context.Context, s settings, progress io.Writer) (*outcome, error) {
	dir, err := os.MkdirTemp("", "elbowroom-load-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	say := func(format string, args ...any) { fmt.Fprintf(progress, format+"\n", args...) }

	recordings, from, err := corpus(s)
	if err != nil {
		return nil, err
	}
	say("Conversations: %s", from)
	if s.binary == "" {
		say("Building the server")
		if s.binary, err = serverprocess.Build(ctx, dir); err != nil {
			return nil, err
		}
	}
	model, addr, stopModel, err := startModel(ctx)
	if err != nil {
		return nil, err
	}
	defer stopModel()
	server, closeLog, err := startServer(ctx, s, dir, addr)
	if err != nil {
		return nil, err
	}
	defer closeLog()
	defer server.Kill()

	say("Server: process %d, metrics and profiles at http://%s", server.PID, server.Admin)

	out := &outcome{settings: s, corpus: from}
	d := &driver{server: server, source: newSource(recordings, s.seed), every: max(1, int64(1/s.sample)), seed: s.seed, pool: mem.DefaultBufferPool()}
	if out.before, err = server.Goroutines(ctx); err != nil {
		return nil, err
	}
	if err := d.connect(s.clients); err != nil {
		return nil, err
	}
	defer d.disconnect()
	if d.bystander, err = startBystander(ctx, server.GRPC); err != nil {
		return nil, err
	}
	defer d.bystander.stop()
	if err := out.drive(ctx, d, say); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, tailOf(filepath.Join(dir, "server.log")))
	}
	out.modelCalls = model.calls.Load()
	d.disconnect()
	d.bystander.stop()
	if err := out.settle(ctx, server); err != nil {
		return nil, err
	}
	stopping, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	if code, err := server.Stop(stopping); err != nil || code != 0 {
		return nil, fmt.Errorf("the server ended with exit code %d: %w", code, err)
	}
	return out, nil
}

// corpus reads the recorded conversations, or makes some up.
func corpus(s settings) (recordings []*recording, from string, err error) {
	if _, err := os.Stat(s.data); err == nil {
		recordings, err = loadRecordings(s.data)
		return recordings, fmt.Sprintf("%d recorded ones", len(recordings)), err
	}
	recordings, err = generated(s.seed)
	return recordings, fmt.Sprintf("%d made up (there is no %s)", len(recordings), s.data), err
}

// startServer starts the server with limits as in deploy/kubernetes, and with the model
// as its first summarizer.
func startServer(ctx context.Context, s settings, dir, model string) (p *serverprocess.Process, closeLog func(), err error) {
	log, err := os.Create(filepath.Join(dir, "server.log")) //nolint:gosec // in a folder of our own
	if err != nil {
		return nil, nil, err
	}
	closeLog = func() { _ = log.Close() }
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	p, err = serverprocess.Start(limited, serverprocess.Options{
		Binary: s.binary, Log: log, Env: []string{fmt.Sprintf("GOMAXPROCS=%d", s.cores), fmt.Sprintf("GOMEMLIMIT=%d", s.most/10*9)},
		Args: append([]string{
			"--summarizers", "plugin:" + model + ",extractive",
			"--limits-max-message-bytes", "16MiB", "--limits-max-in-flight-bytes", "64MiB", "--limits-max-kept-bytes", "128MiB",
		}, s.args...),
	})
	if err != nil {
		closeLog()
		return nil, nil, fmt.Errorf("%w\n%s", err, tailOf(log.Name()))
	}
	return p, closeLog, nil
}

// tailOf is the end of a file, for people.
func tailOf(file string) string {
	text, err := os.ReadFile(file) //nolint:gosec // our own
	if err != nil {
		return ""
	}
	return string(text[max(0, len(text)-4_000):])
}

// drive goes through the phases.
func (o *outcome) drive(ctx context.Context, d *driver, say func(string, ...any)) error {
	length := time.Duration(o.seconds * float64(time.Second))
	step := func(name string, work func(context.Context)) (*phase, error) {
		say("%s", name)
		p, err := d.during(ctx, name, work)
		if err != nil {
			return nil, err
		}
		o.phases = append(o.phases, p)
		return p, nil
	}
	if _, err := step("Warm-up", d.closed(o.clients, length/warmPart)); err != nil {
		return err
	}
	busy, err := step(fmt.Sprintf("%d clients, each calls again when it has its answer", o.clients), d.closed(o.clients, length))
	if err != nil {
		return err
	}
	capacity := float64(busy.answered()) / busy.took.Seconds()
	busy.judge(o.cores)
	for _, x := range []struct {
		share float64
		part  time.Duration
		into  **phase
	}{{ordinary, ordinaryPart, &o.ordinary}, {overload, overloadPart, &o.overloaded}} {
		var unanswered sync.WaitGroup
		p, err := step(fmt.Sprintf("Arrivals at %.2f times the capacity of %.0f calls a second", x.share, capacity),
			d.open(x.share*capacity, length/x.part, &unanswered))
		if err != nil {
			return err
		}
		*x.into = p
		if _, err := step("Until all of them are answered", func(ctx context.Context) { waitFor(ctx, &unanswered) }); err != nil {
			return err
		}
		p.judge(o.cores)
	}
	for _, p := range o.phases {
		p.judge(o.cores)
	}
	o.begun, o.answered = d.begun.Load(), d.answered.Load()
	o.memory, err = d.server.Memory()
	return err
}

// waitFor waits for calls under way, not forever: what is not answered then is lost.
func waitFor(ctx context.Context, calls *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		calls.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(drainLimit):
	case <-ctx.Done():
	}
}

// settle waits until the server has let go of what the calls needed.
func (o *outcome) settle(ctx context.Context, server *serverprocess.Process) error {
	limited, cancel := context.WithTimeout(ctx, quietLimit)
	defer cancel()
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for {
		n, err := server.Goroutines(ctx)
		if err != nil {
			return err
		}
		if o.after = n; n <= o.before+strayGoroutines {
			return nil
		}
		select {
		case <-look.C:
		case <-limited.Done():
			if errors.Is(limited.Err(), context.DeadlineExceeded) {
				return nil // the verdict says so
			}
			return limited.Err()
		}
	}
}
