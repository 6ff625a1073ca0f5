package main

import (
	"fmt"
	"strings"
)

const (
	// tableRows is how many rows the table of requests has at most; more requests share a row.
	tableRows = 40
	// chartColumns is the width of the chart beside it. With the figures a row stays within 80 columns.
	chartColumns = 22
	// shownFindings is how many findings are printed.
	shownFindings = 10
)

// print shows the study in a terminal of 80 columns.
func (s *cacheStudy) print(p page) {
	p.printf("%s  %s, layout %s\n", p.bold(plural(len(s.Turns), "request")), printable(s.Model, 40), s.Layout)
	wrapped(p, "", fmt.Sprintf("Sizes are %s. Prices: %s, %s.", s.sizes(), s.PriceSource, s.PriceDate))
	p.heading("Requests, placement %s", s.Shown)
	s.printTurns(p)
	p.printf("  █ read  ▒ written  · uncached\n")
	p.heading("Placements")
	rows := [][]string{{"placement", "read", "written", "uncached", s.unit(), "of no cache", ""}}
	for _, c := range s.Placements {
		note := ""
		if c.Refused > 0 {
			note = plural(c.Refused, "request") + " refused"
		}
		rows = append(rows, []string{c.Name, grouped(c.Read), grouped(c.Written), grouped(c.Uncached), s.money(c.Cost), shareOf(c.OfNoCache), note})
	}
	p.table(rows)
	s.printFindings(p)
}

func (s *cacheStudy) sizes() string {
	if s.Estimated {
		return "estimates"
	}
	return "counted"
}

func shareOf(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// printTurns prints a row for each request or for some that follow each other, with a bar as long as the largest prompt
// of the row.
func (s *cacheStudy) printTurns(p page) {
	each := (len(s.Turns) + tableRows - 1) / tableRows
	largest := 1
	for _, t := range s.Turns {
		largest = max(largest, t.Prompt)
	}
	p.printf("  %-9s %10s %10s %10s %10s\n", "request", "read", "written", "uncached", "cost")
	for from := 0; from < len(s.Turns); from += each {
		to := min(from+each, len(s.Turns))
		var sum cacheSplit
		refused := ""
		for _, t := range s.Turns[from:to] {
			sum.Prompt += t.Prompt
			sum.Read += t.Read
			sum.Written += t.Written
			sum.Uncached += t.Uncached
			sum.Cost += t.Cost
			if t.Refused != "" {
				refused = "refused"
			}
		}
		name := fmt.Sprint(from + 1)
		if to > from+1 {
			name = fmt.Sprintf("%d-%d", from+1, to)
		}
		chart := promptBar(sum, largest*(to-from))
		if refused != "" {
			chart = refused
		}
		row := fmt.Sprintf("  %-9s %10s %10s %10s %10s ", name, grouped(sum.Read), grouped(sum.Written), grouped(sum.Uncached), s.money(sum.Cost))
		if chart == "" {
			row = strings.TrimRight(row, " ")
		}
		p.printf("%s%s\n", row, p.accent(chart))
	}
}

// promptBar draws the parts of a prompt. What is not nothing gets a column as long as there is room.
func promptBar(t cacheSplit, largest int) string {
	columns := func(n int) int { return (n*chartColumns + largest/2) / largest }
	read := columns(t.Read)
	written := columns(t.Read+t.Written) - read
	return strings.Repeat("█", read) + strings.Repeat("▒", written) + strings.Repeat("·", max(0, columns(t.Prompt)-read-written))
}

// printFindings prints what cost the most, one line for what happens again and again.
func (s *cacheStudy) printFindings(p page) {
	groups := s.grouped()
	if len(groups) == 0 {
		return
	}
	p.heading("Findings")
	for i, g := range groups {
		if i == shownFindings {
			p.printf("  and %s more; --json and --html have all\n", plural(len(groups)-i, "kind"))
			break
		}
		f := g.first
		where := fmt.Sprintf("request %d", f.Turn)
		if g.times > 1 {
			where = fmt.Sprintf("%d times, first in request %d", g.times, f.Turn)
		}
		code := f.Code
		if f.Class != "" {
			code += " (" + printable(f.Class, 30) + ")"
		}
		p.printf("  %s, %s, %s\n", p.bold(code), where, f.Evidence)
		if g.lost > 0 {
			p.printf("    %s tokens lost, %s\n", grouped(g.lost), s.money(g.cost))
		}
		at := f.Place
		if f.Offset >= 0 {
			at += ", byte " + grouped(f.Offset)
		}
		wrapped(p, "    ", "at "+at+": "+f.Detail)
		if f.Before != f.After {
			p.printf("    before  %s\n    now     %s\n", printable(f.Before, 66), printable(f.After, 66))
		}
		wrapped(p, "    ", "fix: "+f.Fix)
	}
}

// wrapped prints a text in lines of at most 80 columns, each after the indent.
func wrapped(p page, indent, text string) {
	width := 80 - len(indent)
	line := ""
	for _, w := range strings.Fields(printable(text, 1000)) {
		if line != "" && len(line)+1+len(w) > width {
			p.printf("%s%s\n", indent, line)
			line = ""
		}
		line = strings.TrimLeft(line+" "+w, " ")
	}
	p.printf("%s%s\n", indent, line)
}

// findingGroup is findings of one code and class.
type findingGroup struct {
	first cacheFinding
	times int
	lost  int
	cost  float64
}

// grouped gathers the findings by code and class, the most expensive first.
func (s *cacheStudy) grouped() []*findingGroup {
	byKind := make(map[[2]string]*findingGroup)
	var groups []*findingGroup
	for _, f := range s.Findings {
		key := [2]string{f.Code, f.Class}
		g := byKind[key]
		if g == nil {
			g = &findingGroup{first: f}
			byKind[key] = g
			groups = append(groups, g)
		}
		g.times++
		g.lost += f.Lost
		g.cost += f.Cost
	}
	sortGroups(groups)
	return groups
}
