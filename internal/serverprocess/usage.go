package serverprocess

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// terminate is the signal that asks for a drain.
const terminate = syscall.SIGTERM

// ErrNotHere is returned where the system has no /proc to read.
var ErrNotHere = errors.New("serverprocess: this system does not tell")

// Memory is what the process takes of the machine's memory, in bytes.
type Memory struct {
	// Resident is what it has now, Peak the most it has had.
	Resident, Peak int64
}

// Memory asks the system. The error wraps [ErrNotHere] where there is no /proc.
func (p *Process) Memory() (Memory, error) {
	text, err := p.proc("status")
	if err != nil {
		return Memory{}, err
	}
	var m Memory
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmRSS": &m.Resident, "VmHWM": &m.Peak}[name]
		if into == nil {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return Memory{}, fmt.Errorf("memory of the server: %w", err)
		}
		*into = kib << 10
	}
	return m, nil
}

// tick is the unit in which Linux tells processor time, on every architecture.
const tick = 10 * time.Millisecond

// ProcessorTime is what the process has used until now, in user and in system mode
// together. The error wraps [ErrNotHere] where there is no /proc.
func (p *Process) ProcessorTime() (time.Duration, error) {
	text, err := p.proc("stat")
	if err != nil {
		return 0, err
	}
	// The second field is the program's name in parentheses, with whatever it contains.
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const user, system = 11, 12 // counted from the third field
	if len(fields) <= system {
		return 0, fmt.Errorf("processor time of the server: %d fields", len(fields))
	}
	total := int64(0)
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("processor time of the server: %w", err)
		}
		total += n
	}
	return time.Duration(total) * tick, nil
}

func (p *Process) proc(file string) (string, error) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return "", ErrNotHere
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.PID, file))
	if err != nil {
		return "", fmt.Errorf("ask about the server: %w", err)
	}
	return string(text), nil
}

// Get asks the admin port for a page. An answer other than 200 is an error.
func (p *Process) Get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Admin+path, nil)
	if err != nil {
		return nil, fmt.Errorf("admin port: %w", err)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("admin port: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("admin port: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("admin port: %s: %s", path, resp.Status)
	}
	return text, nil
}

// Metrics are the series of /metrics by their text, name and labels as they stand.
type Metrics map[string]float64

// Metrics asks the admin port.
func (p *Process) Metrics(ctx context.Context) (Metrics, error) {
	text, err := p.Get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	out := Metrics{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		series, value, found := cutLast(lines.Text(), ' ')
		if !found || strings.HasPrefix(series, "#") {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			out[series] = n
		}
	}
	return out, lines.Err()
}

// Sum adds the series of a metric that have all the labels, each written name="value".
func (m Metrics) Sum(name string, labels ...string) float64 {
	sum := 0.0
	for series, value := range m {
		if series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		all := true
		for _, label := range labels {
			all = all && strings.Contains(series, label)
		}
		if all {
			sum += value
		}
	}
	return sum
}

// Goroutines is how many the server has. The one that answers is among them.
func (p *Process) Goroutines(ctx context.Context) (int, error) {
	m, err := p.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	return int(m.Sum("go_goroutines")), nil
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
