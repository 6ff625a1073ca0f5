package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func reportMachine(ctx context.Context, out io.Writer, texts []corpus) error {
	fmt.Fprintf(out, "%s, %d cores, %s, %s\n", processor(), runtime.NumCPU(), runtime.GOOS, runtime.Version())
	for _, c := range texts {
		fmt.Fprintf(out, "%-6s %d bytes: %s\n", c.name, len(c.text), c.origin)
	}
	fmt.Fprintln(out)
	return ctx.Err()
}

// processor is the processor's own name, where the system tells it.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer func() { _ = file.Close() }() // only read
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, found := strings.CutPrefix(lines.Text(), "model name"); found {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return runtime.GOARCH
}

func reportSpeed(out io.Writer, name string, oracles []*oracle, all []measured) error {
	rounds := len(all[0].ours)
	fmt.Fprintf(out, "%s against %s and %s; one core each, CPU time, %d rounds\n", name, oracles[0].version, oracles[1].version, rounds)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MB per CPU second, median\ttokens\tPython\tnpm\tours cold\tours warm\tPython 1st\tPython 2nd\tnpm 1st\tnpm 2nd")
	for i := range all {
		m := &all[i]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d", m.corpus.name, m.ours[0].tokens, m.python[0].tokens, m.npm[0].tokens)
		for _, list := range [][]passes{m.ours, m.python, m.npm} {
			for _, which := range []func(passes) time.Duration{cold, warm} {
				fmt.Fprintf(table, "\t%.1f", float64(len(m.corpus.text))/1e6/median(values(list, which)))
			}
		}
		fmt.Fprintln(table)
	}
	fmt.Fprintln(table, "\t\t\t\t\t\t\t\t\t")
	fmt.Fprintln(table, "times as fast, median (minimum)\tPython cold\tPython warm\tnpm cold\tnpm warm\t\t\t\t\t")
	for i := range all {
		m := &all[i]
		fmt.Fprint(table, m.corpus.name)
		for _, list := range [][]passes{m.python, m.npm} {
			for _, which := range []func(passes) time.Duration{cold, warm} {
				fmt.Fprint(table, "\t"+ratio(m, list, which))
			}
		}
		fmt.Fprintln(table, "\t\t\t\t\t")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return nil
}

// ratio is how many times as long as ours another takes: one ratio a round. With unequal counts it says nothing.
func ratio(m *measured, others []passes, which func(passes) time.Duration) string {
	if !m.equal() {
		return "void"
	}
	ratios := make([]float64, len(others))
	for i := range others {
		ratios[i] = which(others[i]).Seconds() / which(m.ours[i]).Seconds()
	}
	return fmt.Sprintf("%.1fx (%.1fx)", median(ratios), slices.Min(ratios))
}

func cold(p passes) time.Duration { return p.cold }
func warm(p passes) time.Duration { return p.warm }

// values returns the seconds of one kind of pass.
func values(list []passes, which func(passes) time.Duration) []float64 {
	out := make([]float64, len(list))
	for i, p := range list {
		out[i] = which(p).Seconds()
	}
	return out
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
