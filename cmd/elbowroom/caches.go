package main

import (
	"fmt"
	"os"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// costOf is the list price of a rung's calls on their day: that of the model that
// answered, else of the one that was asked.
func (s *service) costOf(o ladder.Observation) (usd float64, known bool) {
	_, asked := o.Backend()
	tables := s.caches.Load()
	for _, name := range []string{o.Model, asked} {
		if name == "" || tables == nil {
			continue
		}
		model := s.registry.Lookup(name)
		price := tables.Price(breakpoints.LayoutUnset, &model, time.Now().UTC().Format(time.DateOnly))
		if usd, known = price.Call(o.Attempts, o.PromptTokens, o.CompletionTokens); known {
			return usd, true
		}
	}
	return 0, false
}

// cacheRules are the layouts, rules and prices of prompt caches: those built in, with what the configured files say
// instead. Errors name the setting, the file and the row.
func cacheRules(c *config.PromptCaching) (*simulator.Tables, error) {
	layouts, err := breakpoints.NewLayouts(nil)
	if err != nil {
		return nil, err
	}
	if c.LayoutsFile != "" {
		text, err := os.ReadFile(c.LayoutsFile)
		if err != nil {
			return nil, &usageError{fmt.Errorf("prompt_caching.layouts_file: %w", err)}
		}
		if layouts, err = breakpoints.NewLayouts(text); err != nil {
			return nil, &usageError{fmt.Errorf("prompt_caching.layouts_file: %s: %w", c.LayoutsFile, err)}
		}
	}
	tables, err := simulator.NewTables(layouts)
	if err != nil || c.PricesFile == "" {
		return tables, err
	}
	text, err := os.ReadFile(c.PricesFile)
	if err != nil {
		return nil, &usageError{fmt.Errorf("prompt_caching.prices_file: %w", err)}
	}
	if tables, err = tables.WithPrices(text); err != nil {
		return nil, &usageError{fmt.Errorf("prompt_caching.prices_file: %s: %w", c.PricesFile, err)}
	}
	return tables, nil
}
