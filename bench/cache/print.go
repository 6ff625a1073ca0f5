package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
)

// countings are the two ways to count, by the name in the tables.
func countings() []struct {
	name     string
	counting simulator.Counting
} {
	return []struct {
		name     string
		counting simulator.Counting
	}{{"collapsed", simulator.CountingCollapsed}, {"raw", simulator.CountingRaw}}
}

func (b *bench) print(ctx context.Context, out io.Writer) error {
	price := b.tables.Price(breakpoints.LayoutAnthropic, &b.model, "")
	fmt.Fprintf(out, "Model %s, prices of %s. Cost of all prompt tokens in percent of the same requests without any cache.\n", b.model.Name, price.Date)
	contenders := b.contenders(breakpoints.TTL5m)[1:] // without marks the cost is 100
	for _, s := range scenarios() {
		for _, c := range countings() {
			fmt.Fprintf(out, "\n### %s, %s positions\n\n%s\n\n", s.title, c.name, s.about)
			if err := b.table(ctx, out, &s, c.counting, contenders); err != nil {
				return err
			}
		}
	}
	return nil
}

// table prints a row for each conversation and one for their sum.
func (b *bench) table(ctx context.Context, out io.Writer, s *scenario, counting simulator.Counting, contenders []simulator.Contender) error {
	fmt.Fprint(out, "| conversation | requests | tokens |")
	for _, c := range contenders {
		fmt.Fprintf(out, " %s |", c.Name)
	}
	fmt.Fprintf(out, " reads of the optimum |\n|---|--:|--:|%s--:|\n", strings.Repeat("--:|", len(contenders)))
	sums := make([]float64, len(contenders))
	whole := 0.0
	requests, prompt := 0, 0
	for i := range b.recorded {
		r := &b.recorded[i]
		replay, ok, err := b.replay(ctx, r, s, counting)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if !ok {
			continue
		}
		row, best := "", 0
		for k, c := range contenders {
			report, err := replay.Run(c.New(replay))
			if err != nil {
				return fmt.Errorf("%s: %s: %w", r.name, c.Name, err)
			}
			for turn := range report.Outcomes {
				if rejected := report.Outcomes[turn].Rejections; len(rejected) > 0 {
					return fmt.Errorf("%s: %s: turn %d is refused: %v", r.name, c.Name, turn, &rejected[0])
				}
			}
			row += percent(report.Cost.BaseTokens, report.NoCache.BaseTokens)
			sums[k] += report.Cost.BaseTokens
			if k == 0 {
				whole += report.NoCache.BaseTokens
				requests += len(replay.Turns)
				prompt += report.Total.Prompt()
				row = fmt.Sprintf("| %s | %d | %d |", r.name, len(replay.Turns), report.Total.Prompt()) + row
			}
			if c.Name == "anchored" {
				best = report.Total.Read
			}
		}
		optimum := 0
		for _, n := range replay.Optimum(simulator.TTL5m, true) {
			optimum += n
		}
		fmt.Fprintf(out, "%s%s\n", row, percent(float64(best), float64(optimum)))
	}
	fmt.Fprintf(out, "| all | %d | %d |", requests, prompt)
	for _, sum := range sums {
		fmt.Fprint(out, percent(sum, whole))
	}
	fmt.Fprint(out, " |\n")
	return nil
}

func percent(part, whole float64) string {
	if whole == 0 {
		return " – |"
	}
	return fmt.Sprintf(" %.1f |", 100*part/whole)
}
