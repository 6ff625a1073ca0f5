package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/tokens"
)

// cacheStudy is a simulation as it is shown. The JSON of --json is its form.
type cacheStudy struct {
	Model    string `json:"model"`
	Layout   string `json:"layout"`
	Counting string `json:"counting"`
	// PriceSource and PriceDate are where prices are from; Relative is set when none in money is known: costs are then in
	// uncached tokens.
	PriceSource string `json:"price_source"`
	PriceDate   string `json:"price_date"`
	Relative    bool   `json:"relative"`
	// Estimated is set when the model's own vocabulary is not at hand.
	Estimated bool `json:"estimated"`
	// Shown is the placement that Turns and Findings are of.
	Shown      string           `json:"shown"`
	Turns      []cacheTurn      `json:"turns"`
	Placements []cachePlacement `json:"placements"`
	Findings   []cacheFinding   `json:"findings"`
}

// cacheTurn is one request.
type cacheTurn struct {
	Messages int     `json:"messages"`
	Seconds  float64 `json:"seconds"`
	cacheSplit
	// Refused is why the provider refuses the request, empty if it does not.
	Refused string `json:"refused,omitempty"`
}

// cacheSplit is how tokens are billed.
type cacheSplit struct {
	Prompt   int     `json:"prompt"`
	Read     int     `json:"read"`
	Written  int     `json:"written"`
	Uncached int     `json:"uncached"`
	Cost     float64 `json:"cost"`
}

// cachePlacement is the sum of all requests under one placement.
type cachePlacement struct {
	Name string `json:"name"`
	cacheSplit
	Refused int `json:"refused,omitempty"`
	// OfNoCache is the cost relative to no cache at all.
	OfNoCache float64 `json:"of_no_cache"`
}

// cacheFinding is one thing that cost tokens.
type cacheFinding struct {
	Turn     int     `json:"turn"`
	Code     string  `json:"code"`
	Class    string  `json:"class,omitempty"`
	Evidence string  `json:"evidence"`
	Place    string  `json:"place"`
	Offset   int     `json:"offset"` // -1: no byte is meant
	Before   string  `json:"before,omitempty"`
	After    string  `json:"after,omitempty"`
	Lost     int     `json:"tokens_lost"`
	Cost     float64 `json:"cost"`
	PerTurn  float64 `json:"cost_per_turn"`
	Detail   string  `json:"detail"`
	Fix      string  `json:"fix"`
}

// longestGap is the largest time between two requests. Some thousand of them stay within a time.Duration.
const longestGap = 30 * 24 * time.Hour

// simulate shows what the requests read, write and cost.
func (cmd *cacheCommand) simulate(ctx context.Context, p process) error {
	switch {
	case cmd.Server != "":
		return &usageError{errors.New("--server goes with one file, without --replay and --html: several requests are simulated by the command itself")}
	case cmd.Out != "":
		return &usageError{errors.New("--out goes with one file, without --replay and --html")}
	case cmd.Replay && len(cmd.Files) > 1:
		return &usageError{errors.New("--replay takes one file")}
	case cmd.Gap <= 0 || cmd.Pause <= 0 || cmd.PauseEvery < 0:
		return &usageError{errors.New("--gap and --pause are above 0, --pause-every is not below")}
	case max(cmd.Gap, cmd.Pause) > longestGap:
		return &usageError{fmt.Errorf("--gap and --pause are at most %v", longestGap)}
	}
	study, err := cmd.study(ctx, p)
	if err != nil {
		return err
	}
	if cmd.HTML != "" {
		if err := writeHTML(cmd.HTML, study); err != nil {
			return err
		}
	}
	if cmd.JSON {
		out := json.NewEncoder(p.stdout)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(study)
	}
	study.print(newPage(p, p.stdout))
	return nil
}

// cacheTables are what the simulation knows.
type cacheTables struct {
	registry *tokens.Registry
	counter  *tokens.Counter
	rules    *simulator.Tables
}

func newCacheTables(c *config.Config) (*cacheTables, error) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		return nil, err
	}
	rules, err := cacheRules(&c.PromptCaching)
	if err != nil {
		return nil, err
	}
	return &cacheTables{registry, tokens.NewCounter(), rules}, nil
}

// study simulates the requests under every placement.
func (cmd *cacheCommand) study(ctx context.Context, p process) (*cacheStudy, error) {
	c, err := cmd.configuration(p)
	if err != nil {
		return nil, err
	}
	tables, err := newCacheTables(c)
	if err != nil {
		return nil, err
	}
	study := &cacheStudy{Counting: cmd.Counting}
	replay := &simulator.Replay{}
	schedule := simulator.Schedule{Gap: cmd.Gap, PauseEvery: cmd.PauseEvery, Pause: cmd.Pause}
	for i, file := range cmd.Files {
		text, err := readText(p, file)
		if err != nil {
			return nil, err
		}
		m, rules, price, err := cmd.material(ctx, tables, text, study)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if cmd.Replay {
			replay = simulator.NewReplay(m, rules, price, schedule)
		} else {
			replay.Add(m, rules, price, schedule.Start(i))
		}
	}
	if len(replay.Turns) == 0 {
		return nil, errors.New("there is no request in it: nobody but the model speaks")
	}
	opts := breakpoints.Options{
		Existing: breakpoints.ExistingReplace, Reserved: int(cmd.Reserved), LeaveNewestUserUnmarked: cmd.LeaveNewestUser,
		MarkToolMessages: cmd.MarkToolMessages, RetryAnchor: cmd.RetryAnchor, Layouts: tables.rules.Layouts(),
	}
	if cmd.TTL == "1h" {
		opts.TTL = breakpoints.TTL1h
	}
	contenders := simulator.Contenders(opts)
	study.Shown = cmd.Strategy
	switch rules := replay.Turns[0].Rules; {
	case !cmd.Replay:
		study.Shown = "as sent"
		contenders = slices.Insert(contenders, 0, simulator.Contender{Name: study.Shown, New: func(*simulator.Replay) simulator.Placer { return simulator.AsSent }})
	case rules.MaxMarks == 0: // the provider caches by itself, whatever is marked
		study.Shown, contenders = "none", contenders[:1]
	}
	return study, study.compare(replay, contenders)
}

// material reads one file.
func (cmd *cacheCommand) material(ctx context.Context, tables *cacheTables, text string, study *cacheStudy) (*simulator.Material, *simulator.Rules, *simulator.Price, error) {
	format := conversation.FormatOpenAIChat
	if cmd.conversation(text).GetNative().GetFormat() == elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES {
		format = conversation.FormatAnthropicMessages
	}
	c, err := conversation.Parse(format, text, conversation.Limits{})
	if err != nil {
		return nil, nil, nil, err
	}
	name := cmd.Model
	if name == "" {
		name = c.Model
	}
	if name == "" {
		return nil, nil, nil, &usageError{errors.New("no model is named in it; name one with --model")}
	}
	model := tables.registry.Lookup(name)
	layout := simulator.LayoutOf(&model, format)
	if cmd.Layout != "auto" {
		layout = breakpoints.Layout(elbowroomv1.Layout_value["LAYOUT_"+enumWord(cmd.Layout)]) // the numbers are the same
	}
	counting := simulator.CountingDefault
	switch cmd.Counting {
	case "collapsed":
		counting = simulator.CountingCollapsed
	case "raw":
		counting = simulator.CountingRaw
	}
	sizes, err := simulator.Count(ctx, tables.counter, model, c)
	if err != nil {
		return nil, nil, nil, err
	}
	m, err := simulator.Read(c, name, sizes)
	if err != nil {
		return nil, nil, nil, err
	}
	rules, price := tables.rules.Rules(layout, &model, counting), tables.rules.Price(layout, &model, "")
	study.Model, study.Layout = name, word(layout.String(), "")
	study.PriceSource, study.PriceDate = price.Source, price.Date
	study.Relative = study.Relative || price.Relative
	study.Estimated = study.Estimated || !sizes.Exact
	return m, &rules, &price, nil
}

// compare runs every placement, and keeps the requests of the one that is shown.
func (s *cacheStudy) compare(replay *simulator.Replay, contenders []simulator.Contender) error {
	for _, c := range contenders {
		report, err := replay.Run(c.New(replay))
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		row := cachePlacement{Name: c.Name, cacheSplit: s.split(report.Total, report.Cost)}
		for i := range report.Outcomes {
			if len(report.Outcomes[i].Rejections) > 0 {
				row.Refused++
			}
		}
		if whole := s.amount(report.NoCache); whole > 0 {
			row.OfNoCache = row.Cost / whole
		}
		s.Placements = append(s.Placements, row)
		if c.Name == s.Shown {
			s.show(replay, report)
		}
	}
	return nil
}

func (s *cacheStudy) show(replay *simulator.Replay, report *simulator.Report) {
	for i := range report.Outcomes {
		o, turn := &report.Outcomes[i], &replay.Turns[i]
		row := cacheTurn{Messages: turn.Messages, Seconds: turn.Start.Seconds(), cacheSplit: s.split(o.Split, o.Cost)}
		if len(o.Rejections) > 0 {
			row.Refused = o.Rejections[0].String()
		}
		s.Turns = append(s.Turns, row)
		for _, f := range o.Findings {
			s.Findings = append(s.Findings, cacheFinding{
				Turn: i + 1, Code: f.Code, Class: f.Class, Evidence: f.Evidence.String(), Place: f.At.String(), Offset: f.Offset,
				Before: f.Before, After: f.After, Lost: f.TokensLost, Cost: s.amount(f.Now), PerTurn: s.amount(f.PerTurn), Detail: f.Detail, Fix: f.Fix,
			})
		}
	}
}

func (s *cacheStudy) split(t simulator.Split, c simulator.Cost) cacheSplit {
	return cacheSplit{Prompt: t.Prompt(), Read: t.Read, Written: t.Written(), Uncached: t.Uncached, Cost: s.amount(c)}
}

// amount is a cost in dollars, in uncached tokens where no price in money is known.
func (s *cacheStudy) amount(c simulator.Cost) float64 {
	if s.Relative {
		return c.BaseTokens
	}
	return c.USD
}

// money writes a cost.
func (s *cacheStudy) money(amount float64) string {
	if s.Relative {
		return grouped(int(amount + 0.5))
	}
	return fmt.Sprintf("$%.4f", amount)
}

// unit heads a column of costs.
func (s *cacheStudy) unit() string {
	if s.Relative {
		return "cost (uncached tokens)"
	}
	return "cost"
}

func writeHTML(file string, s *cacheStudy) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := s.html(out); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
