package main

import (
	"context"
	"fmt"
	"io"
	"slices"
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
	if b.packages != nil {
		fmt.Fprintf(out, "Peers: %s, run by their packages; Cline's and opencode's rules, restated.\n", b.packages.version)
	} else {
		fmt.Fprintf(out, "Peers: litellm and LangChain are skipped (%s); Cline's and opencode's rules, restated.\n", b.skipped)
	}
	columns := b.columns(breakpoints.TTL5m)
	for _, s := range scenarios() {
		for _, c := range countings() {
			fmt.Fprintf(out, "\n### %s, %s positions\n\n%s\n\n", s.title, c.name, s.about)
			rows, err := b.rows(ctx, &s, c.counting, columns)
			if err != nil {
				return err
			}
			table(out, columns, rows)
			if s.cheapest != "" {
				fmt.Fprintf(out, "\n%s\n", cheaper(s.cheapest, columns, rows))
			}
		}
	}
	return nil
}

// row is one conversation in a table.
type row struct {
	name             string
	requests, tokens int
	// whole is the cost without any cache, in uncached tokens.
	whole float64
	// cells are the columns.
	cells []cell
	// optimum is how much the anchored placement reads of what could be read, anchored and most in tokens.
	anchored, most int
}

// cell is one placement of a conversation.
type cell struct {
	// absent is set where the placement is not for the conversation's form.
	absent bool
	// refused is how many requests the provider refuses for their marks: they cost nothing, so cost says nothing then.
	refused int
	cost    float64
}

// rows runs every placement on every conversation that has a place for the scenario.
func (b *bench) rows(ctx context.Context, s *scenario, counting simulator.Counting, columns []column) ([]row, error) {
	var out []row
	for i := range b.recorded {
		r := &b.recorded[i]
		replay, ok, err := b.replay(ctx, r, s, counting)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		if !ok {
			continue
		}
		line := row{name: r.name, requests: len(replay.Turns), cells: make([]cell, len(columns))}
		for k := range columns {
			c := &columns[k]
			if !c.fits(r) {
				line.cells[k].absent = true
				continue
			}
			report, err := replay.Run(c.New(replay))
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", r.name, c.Name, err)
			}
			for turn := range report.Outcomes {
				rejected := report.Outcomes[turn].Rejections
				if len(rejected) > 0 && !c.peer {
					return nil, fmt.Errorf("%s: %s: turn %d is refused: %v", r.name, c.Name, turn, &rejected[0])
				}
				if len(rejected) > 0 {
					line.cells[k].refused++
				}
			}
			line.cells[k].cost = report.Cost.BaseTokens
			if k == 0 {
				line.whole, line.tokens = report.NoCache.BaseTokens, report.Total.Prompt()
			}
			if c.Name == "anchored" {
				line.anchored = report.Total.Read
			}
		}
		for _, n := range replay.Optimum(simulator.TTL5m, true) { // both layouts have an automatic mode
			line.most += n
		}
		out = append(out, line)
	}
	return out, nil
}

// table prints a row for each conversation and one for their sum. A column that is not for all has no sum.
func table(out io.Writer, columns []column, rows []row) {
	fmt.Fprint(out, "| conversation | requests | tokens |")
	for i := range columns {
		fmt.Fprintf(out, " %s |", columns[i].Name)
	}
	fmt.Fprintf(out, " reads of the optimum |\n|---|--:|--:|%s--:|\n", strings.Repeat("--:|", len(columns)))
	all := row{name: "all", cells: make([]cell, len(columns))}
	for _, r := range rows {
		r.print(out)
		fmt.Fprintln(out, percent(float64(r.anchored), float64(r.most)))
		all.requests += r.requests
		all.tokens += r.tokens
		all.whole += r.whole
		for k, c := range r.cells {
			all.cells[k].absent = all.cells[k].absent || c.absent
			all.cells[k].refused += c.refused
			all.cells[k].cost += c.cost
		}
	}
	all.print(out)
	fmt.Fprintln(out, " |")
}

func (r *row) print(out io.Writer) {
	fmt.Fprintf(out, "| %s | %d | %d |", r.name, r.requests, r.tokens)
	for _, c := range r.cells {
		switch {
		case c.absent:
			fmt.Fprint(out, " - |")
		case c.refused > 0:
			fmt.Fprintf(out, " %d refused |", c.refused)
		default:
			fmt.Fprint(out, percent(c.cost, r.whole))
		}
	}
}

// margin is the least that counts as cheaper, as a share of the cost without any cache: a hundredth of a point, rounded.
// Below are the few tokens of an empty tool result, which is not marked since a provider may refuse that.
const margin = 0.5e-4

// cheaper says in which rows another placement costs less than the one named.
func cheaper(name string, columns []column, rows []row) string {
	at := slices.IndexFunc(columns, func(c column) bool { return c.Name == name })
	var found []string
	for _, r := range rows {
		var others []string
		for k, c := range r.cells {
			if !c.absent && c.refused == 0 && c.cost < r.cells[at].cost-margin*r.whole {
				others = append(others, fmt.Sprintf("`%s` by %.2f", columns[k].Name, 100*(r.cells[at].cost-c.cost)/r.whole))
			}
		}
		if len(others) > 0 {
			found = append(found, r.name+": "+strings.Join(others, ", "))
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("No placement costs 0.01 points less than `%s` in any row.", name)
	}
	return fmt.Sprintf("Cheaper than `%s`, in points: %s.", name, strings.Join(found, "; "))
}

func percent(part, whole float64) string {
	if whole == 0 {
		return " – |"
	}
	return fmt.Sprintf(" %.1f |", 100*part/whole)
}
