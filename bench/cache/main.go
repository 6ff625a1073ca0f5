// Command cache replays recorded conversations turn by turn under every placement of cache breakpoints and prints what they
// cost as Markdown tables, each figure relative to no cache at all.
//
// Other people's placements stand beside ours: litellm's and LangChain's packages are run (see packages), two agents' rules
// are restated. All are judged by the same simulator.
//
// Run it with `make bench-cache`. The tables are in docs/cache-simulator.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "cache:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet("cache", flag.ContinueOnError)
	data := flags.String("data", filepath.Join("..", "shared", "data", "conversations"), "directory of recorded conversations")
	model := flags.String("model", "claude-sonnet-5-5", "the model that all of them are replayed with")
	only := flags.String("only", "", "only conversations whose name contains this")
	python := flags.String("python", "", "the Python interpreter that has litellm and langchain-anthropic; without one they are skipped")
	skipped := flags.String("skipped", "no -python", "why they are skipped")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b, err := newBench(*model)
	if err != nil {
		return err
	}
	b.skipped = *skipped
	if *python != "" {
		if b.packages, err = startPackages(ctx, *python, *model); err != nil {
			return err
		}
		defer func() { _ = b.packages.stop() }() // its work is done
	}
	files, err := filepath.Glob(filepath.Join(*data, "*"+*only+"*.json")) // sorted
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no conversations in %s", *data)
	}
	for _, file := range files {
		if err := b.load(file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return b.print(ctx, out)
}

// bench is the recorded conversations and what judges them.
type bench struct {
	registry *tokens.Registry
	counter  *tokens.Counter
	tables   *simulator.Tables
	model    tokens.Model
	recorded []recording
	// packages are other people's, nil where they cannot be run; skipped says why.
	packages *packages
	skipped  string
}

// recording is one conversation.
type recording struct {
	name string
	conv *conversation.Conversation
	// layout is that of its form: Claude's own API, or OpenRouter.
	layout breakpoints.Layout
}

func newBench(model string) (*bench, error) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		return nil, err
	}
	tables, err := simulator.NewTables(nil)
	if err != nil {
		return nil, err
	}
	return &bench{registry: registry, counter: tokens.NewCounter(), tables: tables, model: registry.Lookup(model)}, nil
}

func (b *bench) load(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return b.add(strings.TrimSuffix(filepath.Base(file), ".json"), string(text))
}

// add takes one recorded conversation.
func (b *bench) add(name, text string) error {
	r := recording{name: name, layout: breakpoints.LayoutOpenRouter}
	format := conversation.FormatOpenAIChat
	if strings.Contains(text, `"format": "anthropic"`) || strings.Contains(text, `"format":"anthropic"`) {
		format, r.layout = conversation.FormatAnthropicMessages, breakpoints.LayoutAnthropic
	}
	var err error
	r.conv, err = conversation.Parse(format, text, conversation.Limits{})
	b.recorded = append(b.recorded, r)
	return err
}

// material takes a conversation apart, counted.
func (b *bench) material(ctx context.Context, c *conversation.Conversation) (*simulator.Material, error) {
	sizes, err := simulator.Count(ctx, b.counter, b.model, c)
	if err != nil {
		return nil, err
	}
	return simulator.Read(c, b.model.Name, sizes)
}

// column is a placement in the tables.
type column struct {
	simulator.Contender
	// only is the one form that it is for, if it is.
	only conversation.Format
	// peer is set for other people's.
	peer bool
}

func (c *column) fits(r *recording) bool { return c.only == 0 || c.only == r.conv.Format }

// columns are the placements in the tables.
func (b *bench) columns(ttl breakpoints.TTL) []column {
	opts := breakpoints.Options{Claude: true, TTL: ttl, Layouts: b.tables.Layouts()}
	var out []column
	for _, c := range simulator.Contenders(opts)[1:] { // without marks the cost is 100
		out = append(out, column{Contender: c})
	}
	opts.Strategy, opts.RetryAnchor = breakpoints.StrategyAnchored, true
	out = append(out,
		column{Contender: simulator.Contender{Name: "anchored, retry", New: func(*simulator.Replay) simulator.Placer { return simulator.ByOptions(opts) }}},
		column{Contender: lastTwoUser(), peer: true},
		column{Contender: lastTwo(), peer: true},
	)
	if b.packages != nil {
		out = append(out,
			column{Contender: b.packages.contender("litellm", "litellm"), peer: true},
			column{Contender: b.packages.contender("LangChain", "langchain"), peer: true, only: conversation.FormatAnthropicMessages},
		)
	}
	return out
}
