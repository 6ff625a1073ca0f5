package simulator

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/tokens"
)

//go:embed prices.json
var priceData []byte

// Rates are prices of a million tokens in US dollars.
type Rates struct {
	Input float64 `json:"input"`
	Read  float64 `json:"read"`
	// Write5m and Write1h are by the life that was asked for. Write is where the provider has one life only.
	Write5m float64 `json:"write_5m"`
	Write1h float64 `json:"write_1h"`
	Write   float64 `json:"write"`
	// Output is what the model writes, 0 where its price is not known.
	Output float64 `json:"output"`
}

// Price is what a model's prompt costs.
type Price struct {
	Rates
	// LongOver, when not 0, is the size in tokens above which the whole prompt is paid at the rates of Long.
	LongOver int   `json:"long_over"`
	Long     Rates `json:"long"`
	// Relative is set when no price in money is known: the rates are then multiples of the price of an uncached token.
	Relative bool `json:"-"`
	// Date is the day from which the price holds, as YYYY-MM-DD, Source where it was read.
	Date   string `json:"date"`
	Source string `json:"source"`
	models []string
}

// Cost is what tokens cost.
type Cost struct {
	// USD is the price in dollars, 0 when none is known.
	USD float64
	// BaseTokens is the price in uncached tokens of a short prompt of the same model.
	BaseTokens float64
}

func (c *Cost) add(o Cost) {
	c.USD += o.USD
	c.BaseTokens += o.BaseTokens
}

// Split is how a prompt is billed, in tokens. The fields add up to the prompt.
type Split struct {
	Read             int
	Write5m, Write1h int
	// Write is written with the provider's only life.
	Write    int
	Uncached int
}

// Prompt is the sum.
func (s Split) Prompt() int { return s.Read + s.Written() + s.Uncached }

// Written is the sum of the writes.
func (s Split) Written() int { return s.Write5m + s.Write1h + s.Write }

func (s *Split) add(o Split) {
	s.Read += o.Read
	s.Write5m += o.Write5m
	s.Write1h += o.Write1h
	s.Write += o.Write
	s.Uncached += o.Uncached
}

// Cost prices a prompt.
func (p *Price) Cost(s Split) Cost {
	r := p.at(s.Prompt())
	sum := float64(s.Read)*r.Read + float64(s.Write5m)*r.Write5m + float64(s.Write1h)*r.Write1h + float64(s.Write)*r.Write + float64(s.Uncached)*r.Input
	c := Cost{BaseTokens: sum}
	if p.Input > 0 {
		c.BaseTokens = sum / p.Input
	}
	if !p.Relative {
		c.USD = sum / 1e6
	}
	return c
}

// at returns the rates for a prompt of a size.
func (p *Price) at(prompt int) Rates {
	if p.LongOver > 0 && prompt > p.LongOver {
		return p.Long
	}
	return p.Rates
}

// Call is the list price in US dollars of calls with so many tokens of prompts, none of them cached, and of answers, both
// summed over the calls. It is false where the price of one of them is not known.
func (p *Price) Call(calls, prompts, answers int) (usd float64, known bool) {
	r := p.at(prompts / max(calls, 1))
	if p.Relative || answers > 0 && r.Output == 0 {
		return 0, false
	}
	return (float64(prompts)*r.Input + float64(answers)*r.Output) / 1e6, true
}

// ErrPrices means that a table of prices cannot be used.
var ErrPrices = errors.New("prices cannot be used")

// readPrices reads rows of prices.json's form, in order of their dates. Errors name the row.
func readPrices(data []byte) ([]Price, error) {
	var rows []json.RawMessage
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrices, err)
	}
	prices := make([]Price, len(rows))
	for i, text := range rows {
		var row struct {
			Price
			Models []string `json:"models"`
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		err := dec.Decode(&row)
		if err == nil {
			err = row.Check()
		}
		if _, bad := time.Parse(time.DateOnly, row.Date); err == nil && bad != nil {
			err = fmt.Errorf("the date %q is no day as YYYY-MM-DD", row.Date)
		}
		if err == nil && len(row.Models) == 0 {
			err = errors.New("it names no models")
		}
		if errors.Is(err, ErrPrices) {
			return nil, fmt.Errorf("row %d (%s): %w", i, strings.Join(row.Models, ", "), err)
		}
		if err != nil {
			return nil, fmt.Errorf("row %d (%s): %w: %w", i, strings.Join(row.Models, ", "), ErrPrices, err)
		}
		prices[i] = row.Price
		prices[i].models = row.Models
	}
	slices.SortStableFunc(prices, func(a, b Price) int { return strings.Compare(a.Date, b.Date) })
	return prices, nil
}

// Check returns an error that wraps [ErrPrices] when a rate is negative or no number, or the input is free.
func (p *Price) Check() error {
	for _, r := range []Rates{p.Rates, p.Long} {
		for _, n := range []float64{r.Input, r.Read, r.Write5m, r.Write1h, r.Write, r.Output} {
			if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
				return fmt.Errorf("%w: a rate of %v", ErrPrices, n)
			}
		}
	}
	if p.Input == 0 || p.LongOver < 0 || p.LongOver > 0 && p.Long.Input == 0 {
		return fmt.Errorf("%w: uncached input must have a price", ErrPrices)
	}
	return nil
}

// names reports whether it is the price of a model.
func (p *Price) names(model *tokens.Model) bool {
	return slices.ContainsFunc(p.models, func(name string) bool { return name != "" && (name == model.ID || name == model.Name) })
}

// WithPrices returns tables in which further prices, in the form of prices.json, are known. They win over built-in rows of
// the same or an earlier date. A row's models are ids of the model registry, or names as requests write them. Errors wrap
// [ErrPrices] and name the row.
func (t *Tables) WithPrices(data []byte) (*Tables, error) {
	more, err := readPrices(data)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(t.prices), more...)
	slices.SortStableFunc(all, func(a, b Price) int { return strings.Compare(a.Date, b.Date) })
	return &Tables{layouts: t.layouts, rules: t.rules, prices: all}, nil
}

// Price returns what a model costs on a day, given as YYYY-MM-DD; the latest price when the day is empty, the first one
// when it is before all. Where no price in money is known, the price is relative: the provider's published multiples.
func (t *Tables) Price(layout breakpoints.Layout, model *tokens.Model, day string) Price {
	found := -1
	for i := range t.prices {
		if t.prices[i].names(model) && (day == "" || found < 0 || t.prices[i].Date <= day) {
			found = i
		}
	}
	if found >= 0 {
		return t.prices[found]
	}
	p := Price{Relative: true, Date: "2026-11-30", Source: "multiples of the input price as the provider publishes them", Rates: Rates{Input: 1, Read: 0.1, Write5m: 1.25, Write1h: 2}}
	switch layout {
	case breakpoints.LayoutOpenAI:
		p.Write = 1.25
	case breakpoints.LayoutXAI:
		p.Read = 0.25
	case breakpoints.LayoutDeepSeek:
		p.Read = 1.0 / 30
	case breakpoints.LayoutUnset:
		p.Read = 1
	}
	return p
}
