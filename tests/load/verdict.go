package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// slower is how much slower accepted calls may be under overload.
const slower = 2

// leastCompared is how long the closed-loop phase lasts, in seconds, of a run whose
// latencies are compared. An overload begins as a rush, in which calls are let to wait,
// and of a shorter one that is a large part.
const leastCompared = 10

// slice is the least that a latency counts for in that: the time that Go's scheduler
// gives a goroutine. Where no processor is idle, a call that takes less work than that
// waits for one somewhere on its way, in the clients too.
const slice = 10 * time.Millisecond

// Of a kind with fewer answers in either phase nothing is said about its middle, or its
// slowest hundredth.
const (
	leastForMedian = 30
	leastForTail   = 300
)

// broken lists the promises that were not kept.
func (o *outcome) broken() []string {
	var out []string
	for _, p := range o.phases {
		out = append(out, counted(p.name+": ", p.broken)...)
		out = append(out, counted(p.name+": ", p.wrong)...)
		out = append(out, counted(p.name+": alone, ", p.alone.Failed)...)
	}
	if lost := o.begun - o.answered; lost != 0 {
		out = append(out, fmt.Sprintf("%d of %d calls were never answered", lost, o.begun))
	}
	if o.after > o.before+strayGoroutines {
		out = append(out, fmt.Sprintf("goroutines: %d before, %d after", o.before, o.after))
	}
	if o.memory.Peak > o.most {
		out = append(out, fmt.Sprintf("%s of memory, %s were allowed", mebibytes(o.memory.Peak), mebibytes(o.most)))
	}
	if !o.comparable() {
		return out
	}
	for _, c := range o.compared() {
		if c.ratio > slower {
			out = append(out, fmt.Sprintf("under overload the %s of %s is %.2f times that of ordinary times", c.what, c.kind, c.ratio))
		}
	}
	return out
}

// counted lists different texts with their numbers.
func counted(prefix string, list []string) []string {
	n := map[string]int{}
	for _, text := range list {
		n[text]++
	}
	var out []string
	for _, text := range slices.Sorted(maps.Keys(n)) {
		out = append(out, fmt.Sprintf("%s%s (%d times)", prefix, text, n[text]))
	}
	return out
}

// comparable reports whether latencies say anything.
func (o *outcome) comparable() bool { return o.timed && o.seconds >= leastCompared }

type comparison struct {
	kind, what string
	// ordinary and overloaded are the latencies.
	ordinary, overloaded time.Duration
	// ratio is what they are compared by.
	ratio float64
}

// compared sets the accepted calls of both open-loop phases side by side, kind by kind:
// calls of the same kind have the same sizes in both. Of small calls those of the
// bystander count.
func (o *outcome) compared() []comparison {
	var out []comparison
	for _, k := range kindsOf(o.ordinary) {
		a, b := o.ordinary.kinds[k], o.overloaded.kinds[k]
		if b == nil || k.modelled {
			continue
		}
		was, is := sorted(a.accepted), sorted(b.accepted)
		if alone := o.ordinary.alone.Took[k.name]; alone != nil {
			was, is = sorted(alone), sorted(o.overloaded.alone.Took[k.name])
		}
		for _, q := range []struct {
			what  string
			share float64
			least int
		}{{"p50", 0.5, leastForMedian}, {"p99", 0.99, leastForTail}} {
			if len(was) < q.least || len(is) < q.least {
				continue
			}
			x, y := quantile(was, q.share), quantile(is, q.share)
			out = append(out, comparison{k.name, q.what, x, y, float64(y) / float64(max(x, slice))})
		}
	}
	return out
}

// kindsOf are the kinds of a phase in their order.
func kindsOf(p *phase) []*kind {
	return slices.SortedFunc(maps.Keys(p.kinds), func(a, b *kind) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
}

// print writes the tables.
func (o *outcome) print(w io.Writer) {
	for _, p := range o.phases {
		fmt.Fprintf(w, "\n%s\n", p.name)
		fmt.Fprintf(w, "  %.1f s, %d answered (%.0f a second), server %.2f processors, client %.2f, others %.2f; server at most %s until here; %d answers judged\n",
			p.took.Seconds(), p.answered(), float64(p.answered())/p.took.Seconds(),
			p.server.Seconds()/p.took.Seconds(), p.client.Seconds()/p.took.Seconds(),
			p.others.Seconds()/p.took.Seconds(), mebibytes(p.memory), p.judged)
		fmt.Fprintf(w, "  %-18s %8s %8s %8s %8s %8s %8s %9s %9s %10s\n", "", "answered", "p50 ms", "p90", "p99", "max", "refused", "in p99 ms", "told max", "MiB in/out")
		for _, k := range kindsOf(p) {
			m := p.kinds[k]
			took, refused, told := sorted(m.accepted), sorted(m.refused), sorted(m.told)
			fmt.Fprintf(w, "  %-18s %8d %8s %8s %8s %8s %8d %9s %9s %5.0f/%.0f", k.name, len(took),
				millis(quantile(took, 0.5)), millis(quantile(took, 0.9)), millis(quantile(took, 0.99)), millis(quantile(took, 1)),
				len(refused), millis(quantile(refused, 0.99)), millis(quantile(told, 1)), float64(m.in)/(1<<20), float64(m.out)/(1<<20))
			if m.resent > 0 {
				fmt.Fprintf(w, "  %d bases unknown", m.resent)
			}
			fmt.Fprintln(w)
		}
		for _, name := range slices.Sorted(maps.Keys(p.alone.Took)) {
			took := sorted(p.alone.Took[name])
			fmt.Fprintf(w, "  alone: %-18s %d answered, p50 %s, p90 %s, p99 %s, at most %s ms; %d refused\n", name, len(took),
				millis(quantile(took, 0.5)), millis(quantile(took, 0.9)), millis(quantile(took, 0.99)), millis(quantile(took, 1)), p.alone.Refused[name])
		}
	}
	fmt.Fprintf(w, "\nUnder overload against ordinary times, accepted calls\n")
	if !o.comparable() {
		fmt.Fprintf(w, "  are not held against the server: -seconds is below %d\n", leastCompared)
	}
	for _, c := range o.compared() {
		fmt.Fprintf(w, "  %-18s %s %8s -> %8s ms, %.2f times\n", c.kind, c.what, millis(c.ordinary), millis(c.overloaded), c.ratio)
	}
	fmt.Fprintf(w, "\n%d calls, %d answered; %d summaries by the model\n", o.begun, o.answered, o.modelCalls)
	fmt.Fprintf(w, "Server: at most %s of memory (%s are allowed); %d goroutines before, %d after\n",
		mebibytes(o.memory.Peak), mebibytes(o.most), o.before, o.after)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
