package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
)

//go:embed cache_page.html
var cachePage string

// sortGroups puts the most expensive first.
func sortGroups(groups []*findingGroup) {
	slices.SortStableFunc(groups, func(a, b *findingGroup) int { return cmp.Compare(b.cost, a.cost) })
}

// The size of the chart in units of its own, which the page scales.
const chartWidth, chartHeight = 960, 220

// chartBar is one part of one request's bar.
type chartBar struct {
	X, Y, Width, Height float64
	Class, Title        string
}

// chart draws every request as a bar of what was read, written and paid in full.
func (s *cacheStudy) chart() []chartBar {
	largest := 1
	for _, t := range s.Turns {
		largest = max(largest, t.Prompt)
	}
	step := float64(chartWidth) / float64(len(s.Turns))
	var out []chartBar
	for i, t := range s.Turns {
		y := float64(chartHeight)
		title := fmt.Sprintf("request %d: %s read, %s written, %s uncached, %s", i+1, grouped(t.Read), grouped(t.Written), grouped(t.Uncached), s.money(t.Cost))
		for _, part := range []struct {
			class  string
			tokens int
		}{{"read", t.Read}, {"written", t.Written}, {"uncached", t.Uncached}} {
			height := float64(part.tokens) / float64(largest) * chartHeight
			y -= height
			if part.tokens > 0 {
				out = append(out, chartBar{X: float64(i) * step, Y: y, Width: step * 0.9, Height: height, Class: part.class, Title: title})
			}
		}
	}
	return out
}

// html writes the page. Whatever came from a conversation is escaped.
func (s *cacheStudy) html(out io.Writer) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"grouped": grouped[int], "money": s.money, "percent": shareOf,
		"number": func(i int) int { return i + 1 },
		"short":  func(x float64) string { return fmt.Sprintf("%.2f", x) },
	}).Parse(cachePage)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return page.Execute(out, map[string]any{
		"Study": s, "Chart": s.chart(), "Width": chartWidth, "Height": chartHeight, "Unit": s.unit(), "Sizes": s.sizes(),
	})
}
