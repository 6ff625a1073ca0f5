package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/elbowroom/elbowroom/tokens"
)

var errVoid = errors.New("a ratio is void: the counts differ")

// passes are the CPU times of counting one text twice in a row, and the count.
type passes struct {
	tokens      int
	cold, warm  time.Duration
	unequalWarm bool // the second pass counted something else
}

// measured holds one corpus: a value a round.
type measured struct {
	corpus      corpus
	ours        []passes
	python, npm []passes
}

func (m *measured) equal() bool {
	for _, list := range [][]passes{m.ours, m.python, m.npm} {
		for _, p := range list {
			if p.tokens != m.ours[0].tokens || p.unequalWarm {
				return false
			}
		}
	}
	return true
}

func speed(ctx context.Context, out io.Writer, dir string, rounds int) error {
	texts, err := corpora(ctx, dir)
	if err != nil {
		return err
	}
	if err := reportMachine(ctx, out, texts); err != nil {
		return err
	}
	void := false
	for _, name := range []string{tokens.O200kBase, tokens.CL100kBase} {
		oracles, err := startOracles(ctx, dir, name)
		if err != nil {
			return err
		}
		all, err := measureRounds(ctx, name, oracles, texts, rounds)
		if err != nil {
			return err
		}
		if err := reportSpeed(out, name, oracles, all); err != nil {
			return err
		}
		void = void || slices.ContainsFunc(all, func(m measured) bool { return !m.equal() })
		if err := measureCores(ctx, out, name, texts, rounds); err != nil {
			return err
		}
		equal, err := measureHostile(ctx, out, name, oracles[0])
		if err != nil {
			return err
		}
		void = void || !equal
		for _, o := range oracles {
			if err := o.stop(); err != nil {
				return err
			}
		}
	}
	if void {
		return errVoid
	}
	return nil
}

// measureRounds measures every corpus with all three in turn, in every round. Who begins changes from round to round.
func measureRounds(ctx context.Context, name string, oracles []*oracle, texts []corpus, rounds int) ([]measured, error) {
	all := make([]measured, len(texts))
	for i := range texts {
		all[i].corpus = texts[i]
	}
	// The first calls load and compile: none of our business, for any of the three.
	for _, o := range oracles {
		if _, err := o.count([]string{texts[0].text[:100_000]}); err != nil {
			return nil, err
		}
	}
	for round := range rounds {
		for i := range all {
			turns := []func() error{
				func() error { return all[i].measureOurs(ctx, name) },
				func() error { return measureOracle(oracles[0], all[i].corpus.text, &all[i].python) },
				func() error { return measureOracle(oracles[1], all[i].corpus.text, &all[i].npm) },
			}
			for turn := range turns {
				if err := turns[(turn+round)%len(turns)](); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// measureOurs counts with a new encoding, whose vocabulary is loaded and whose cache is empty but for one word.
func (m *measured) measureOurs(ctx context.Context, name string) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	encoding, err := loaded(ctx, name)
	if err != nil {
		return err
	}
	first, cold, err := counted(ctx, encoding, m.corpus.text)
	if err != nil {
		return err
	}
	second, warm, err := counted(ctx, encoding, m.corpus.text)
	if err != nil {
		return err
	}
	m.ours = append(m.ours, passes{tokens: first, cold: cold, warm: warm, unequalWarm: first != second})
	return nil
}

// loaded returns a new encoding after one tiny count; what loading left behind is collected.
func loaded(ctx context.Context, name string) (*tokens.Encoding, error) {
	encoding, err := tokens.NewEncoding(name)
	if err != nil {
		return nil, err
	}
	if _, err := encoding.Count(ctx, "load"); err != nil {
		return nil, err
	}
	runtime.GC()
	return encoding, nil
}

// counted counts one text and says how much CPU time that took.
func counted(ctx context.Context, encoding *tokens.Encoding, text string) (int, time.Duration, error) {
	before, err := cpuTime()
	if err != nil {
		return 0, 0, err
	}
	n, err := encoding.Count(ctx, text)
	if err != nil {
		return 0, 0, err
	}
	after, err := cpuTime()
	return n, after - before, err
}

func measureOracle(o *oracle, text string, to *[]passes) error {
	answers, err := o.count([]string{text, text})
	if err != nil {
		return err
	}
	first, second := answers[0], answers[1]
	*to = append(*to, passes{tokens: first.tokens, cold: first.cpu, warm: second.cpu, unequalWarm: first.tokens != second.tokens})
	return nil
}

// measureCores counts the corpora one after the other on one core and all at a time on every core, each twice; the
// second pass counts. Wall time, so the best of all rounds is taken.
func measureCores(ctx context.Context, out io.Writer, name string, texts []corpus, rounds int) error {
	size := 0
	for _, c := range texts {
		size += len(c.text)
	}
	var rates []float64
	for _, cores := range []int{1, runtime.NumCPU()} {
		best, err := bestWall(ctx, name, texts, cores, rounds)
		if err != nil {
			return err
		}
		rates = append(rates, float64(size)/1e6/best.Seconds())
	}
	fmt.Fprintf(out, "%s, several cores: the five corpora at a time, warm, wall time: %.0f MB/s on 1 core, %.0f MB/s on %d (best of %d)\n\n",
		name, rates[0], rates[1], runtime.NumCPU(), rounds)
	return nil
}

func bestWall(ctx context.Context, name string, texts []corpus, cores, rounds int) (time.Duration, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	encoding, err := loaded(ctx, name)
	if err != nil {
		return 0, err
	}
	best := time.Duration(1<<63 - 1)
	for range rounds + 1 { // the first one warms the caches
		start := time.Now()
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(cores)
		for _, c := range texts {
			group.Go(func() error {
				_, err := encoding.Count(ctx, c.text)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return best, nil
}
