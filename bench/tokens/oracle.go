package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// oracle is another implementation that runs in a process of its own, one encoding a process.
type oracle struct {
	name    string // "Python" or "npm"
	version string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	said    *bytes.Buffer // on standard error
}

// answer is what an oracle says of one text.
type answer struct {
	tokens int // failed where it could not count
	cpu    time.Duration
}

// failed stands for the tokens of a text that an oracle could not count: the regular expressions of the Python package
// run out of stack on a very long run.
const failed = -1

// startOracles starts both oracles for one encoding.
func startOracles(ctx context.Context, dir, encoding string) ([]*oracle, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	ranks := filepath.Join(dir, "ranks")
	if err := writeRanks(ranks, encoding); err != nil {
		return nil, err
	}
	python, err := startOracle(ctx, "Python", filepath.Join(dir, "python", "bin", "python"), filepath.Join("bench", "tokens", "oracle.py"), ranks, encoding)
	if err != nil {
		return nil, err
	}
	npm, err := startOracle(ctx, "npm", "node", filepath.Join("bench", "tokens", "oracle.mjs"), filepath.Join(dir, "npm"), encoding)
	if err != nil {
		return nil, err
	}
	return []*oracle{python, npm}, nil
}

// writeRanks writes the published rank file of an encoding, which the Python package would download.
func writeRanks(dir, encoding string) error {
	file, err := assets.Assets.ReadFile(encoding + ".tiktoken")
	if err != nil {
		return fmt.Errorf("ranks of %s: %w", encoding, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, encoding+".tiktoken"), file, 0o644)
}

func startOracle(ctx context.Context, name, program string, args ...string) (*oracle, error) {
	command := exec.CommandContext(ctx, program, args...)
	var said bytes.Buffer
	command.Stderr = &said
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the %s oracle: %w", name, err)
	}
	o := &oracle{name: name, command: command, in: in, out: bufio.NewReader(out), said: &said}
	version, err := o.out.ReadString('\n')
	if err != nil {
		return nil, o.broken("did not start", err)
	}
	o.version = strings.TrimSpace(version)
	return o, nil
}

// count returns the answers for all texts, in their order. The texts must be valid UTF-8.
func (o *oracle) count(texts []string) ([]answer, error) {
	sent := make(chan error, 1)
	go func() { sent <- o.send(texts) }()
	answers := make([]answer, len(texts))
	for i := range answers {
		line, err := o.out.ReadString('\n')
		if err != nil {
			return nil, o.broken(fmt.Sprintf("stopped at text %d of %d", i, len(texts)), err)
		}
		var tokens, microseconds int
		if _, err := fmt.Sscan(line, &tokens, &microseconds); err != nil {
			return nil, fmt.Errorf("the %s oracle says %q: %w", o.name, line, err)
		}
		answers[i] = answer{tokens: tokens, cpu: time.Duration(microseconds) * time.Microsecond}
	}
	return answers, <-sent
}

func (o *oracle) send(texts []string) error {
	w := bufio.NewWriter(o.in)
	for _, text := range texts {
		if err := binary.Write(w, binary.BigEndian, uint32(len(text))); err != nil {
			return err
		}
		if _, err := w.WriteString(text); err != nil {
			return err
		}
	}
	return w.Flush()
}

// stop ends the process and waits for it.
func (o *oracle) stop() error {
	if err := o.in.Close(); err != nil {
		return err
	}
	if err := o.command.Wait(); err != nil {
		return o.broken("failed", err)
	}
	return nil
}

// broken says what happened to an oracle, after waiting for what it has to say itself.
func (o *oracle) broken(what string, err error) error {
	_ = o.in.Close()     // it may be closed already
	_ = o.command.Wait() // err is the reason
	return fmt.Errorf("the %s oracle %s: %w\n%s", o.name, what, err, o.said)
}
