package serverprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// program is the package of the binary.
const program = "github.com/elbowroom/elbowroom/cmd/elbowroom"

// Build builds the binary as it ships, from the module that the working directory is
// in, and returns its path, which is in dir.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "elbowroom")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, program) //nolint:gosec // dir is the caller's
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return binary, nil
}

// Tests builds the binary for the tests of a package, which find its path in program,
// runs them, and returns the exit code.
func Tests(m interface{ Run() int }, program *string) (code int) {
	dir, err := os.MkdirTemp("", "elbowroom-tests-")
	if err == nil {
		*program, err = Build(context.Background(), dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return m.Run()
}

// Options say how a server is started.
type Options struct {
	// Binary is the path of the program. Required.
	Binary string
	// Args follow those of this package, and win over them: "--config", FILE.
	Args []string
	// Env are variables, KEY=VALUE, besides those of this process. Of the latter the
	// server gets none that would configure it.
	Env []string
	// Log takes what the server writes to its log. A *os.File costs this process
	// nothing. Nil keeps the end of it for [Process.Log].
	Log io.Writer
	// Out takes what the server writes to standard output, besides [Process.Output].
	// When it fails nobody reads that output any more. Nil: nothing does.
	Out io.Writer
}

// own are the first letters of variables that configure the server.
var own = []string{"ELBOWROOM_", "OTEL_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_"}

// Process is a server that was started.
type Process struct {
	// GRPC, HTTP and Admin are its addresses, "off" for none.
	GRPC, HTTP, Admin string
	// PID is the process's number.
	PID int

	cmd    *exec.Cmd
	out    *tail
	log    *tail
	ended  chan struct{}
	client *http.Client
}

// Start starts a server and waits until it is ready. When ctx ends before that the
// process is killed; after that ctx means nothing to it.
func Start(ctx context.Context, o Options) (*Process, error) {
	args := append([]string{"serve", "--grpc-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, o.Args...)
	p := &Process{
		cmd: exec.Command(o.Binary, args...), //nolint:gosec,noctx // the caller's program, which Stop and Kill end
		out: newTail(), log: newTail(), ended: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	p.cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return slices.ContainsFunc(own, func(prefix string) bool { return strings.HasPrefix(v, prefix) })
	}), o.Env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.log
	if o.Out != nil {
		p.cmd.Stdout = io.MultiWriter(p.out, o.Out)
	}
	if o.Log != nil {
		p.cmd.Stderr = o.Log
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	p.PID = p.cmd.Process.Pid
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the exit code is kept
	}()
	if err := p.ready(ctx); err != nil {
		p.Kill()
		return nil, fmt.Errorf("start the server: %w\n%s", err, p.log)
	}
	return p, nil
}

// ready waits for what the server says about itself, and for its being ready.
func (p *Process) ready(ctx context.Context) error {
	last := regexp.MustCompile(`(?m)^Limits: .*\n`)
	for !last.MatchString(p.out.String()) {
		select {
		case <-p.out.changed:
		case <-p.ended:
			return fmt.Errorf("it ended with exit code %d", p.ExitCode())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, port := range []struct {
		name string
		addr *string
	}{{"gRPC", &p.GRPC}, {"HTTP/JSON", &p.HTTP}, {"Admin", &p.Admin}} {
		found := regexp.MustCompile(`(?m)^` + port.name + `: (\S+)$`).FindStringSubmatch(p.out.String())
		if found == nil {
			return fmt.Errorf("it does not say where its %s port is", port.name)
		}
		*port.addr = found[1]
	}
	if p.Admin == "off" {
		return nil
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := p.Get(ctx, "/readyz"); err == nil {
			return nil
		}
		select {
		case <-look.C:
		case <-p.ended:
			return fmt.Errorf("it ended with exit code %d", p.ExitCode())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal the server: %w", err)
	}
	return nil
}

// Stop asks the server to drain and end, and returns its exit code. When ctx ends
// before it has, it is killed.
func (p *Process) Stop(ctx context.Context) (int, error) {
	if err := p.Signal(terminate); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return -1, err
	}
	select {
	case <-p.ended:
		return p.ExitCode(), nil
	case <-ctx.Done():
		p.Kill()
		return -1, fmt.Errorf("stop the server: %w", ctx.Err())
	}
}

// Kill ends the process without a word and waits for its end. It may be called twice.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitCode is that of a process that has ended, -1 of one that a signal killed or that
// is running.
func (p *Process) ExitCode() int {
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	default:
		return -1
	}
}

// Output is the end of what the server wrote to standard output: what is on, and where.
func (p *Process) Output() string { return p.out.String() }

// Log is the end of the log, where [Options.Log] does not take it.
func (p *Process) Log() string { return p.log.String() }
