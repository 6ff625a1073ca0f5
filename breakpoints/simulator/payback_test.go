package simulator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints/simulator"
)

func TestPayBackIsThatOfTheRule(t *testing.T) {
	const hour = time.Hour
	marks, free := simulator.Rules{Mode: simulator.ModeMarks, Has1h: true}, simulator.Rules{Mode: simulator.ModePrefix}
	rates := func(read float64) simulator.Rates {
		return simulator.Rates{Input: 4, Read: 4 * read, Write5m: 5, Write1h: 8}
	}
	for _, c := range []struct {
		name  string
		rules simulator.Rules
		price simulator.Price
		s     simulator.Shortened
		life  time.Duration
		want  int
	}{
		// 150,000 tokens become 30,000, all written anew.
		{"a tenth", marks, simulator.Price{Rates: rates(0.1)}, simulator.Shortened{Rewritten: 30_000, Saved: 120_000}, 0, 3},
		{"a twentieth", marks, simulator.Price{Rates: rates(0.05)}, simulator.Shortened{Rewritten: 30_000, Saved: 120_000}, 0, 6},
		{"a fortieth", marks, simulator.Price{Rates: rates(0.025)}, simulator.Shortened{Rewritten: 30_000, Saved: 120_000}, 0, 13},
		{"one hour", marks, simulator.Price{Rates: rates(0.1)}, simulator.Shortened{Rewritten: 30_000, Saved: 120_000}, hour, 5},
		{"with a summary's cost", marks, simulator.Price{Rates: rates(0.1)}, simulator.Shortened{Rewritten: 30_000, Saved: 120_000, Extra: 150_000}, 0, 16},
		// One result in the depth is pruned.
		{"pruned, a tenth", marks, simulator.Price{Rates: rates(0.1)}, simulator.Shortened{Kept: 40_000, Rewritten: 100_000, Saved: 5_000}, 0, 230},
		{"pruned, a twentieth", marks, simulator.Price{Rates: rates(0.05)}, simulator.Shortened{Rewritten: 100_000, Saved: 5_000}, 0, 480},
		{"pruned, a fortieth", marks, simulator.Price{Rates: rates(0.025)}, simulator.Shortened{Rewritten: 100_000, Saved: 5_000}, 0, 980},
		{"nothing written anew", marks, simulator.Price{Rates: rates(0.1)}, simulator.Shortened{Kept: 30_000, Saved: 100}, 0, 0},
		{"nothing saved", marks, simulator.Price{Rates: rates(0.1)}, simulator.Shortened{Rewritten: 30_000}, 0, -1},
		{"writing is free", free, simulator.Price{Rates: simulator.Rates{Input: 1, Read: 0.1}}, simulator.Shortened{Rewritten: 30_000, Saved: 120_000}, 0, 3},
		{"nothing is cached", simulator.Rules{Mode: simulator.ModeNone}, simulator.Price{Rates: rates(0.1)}, simulator.Shortened{Rewritten: 30_000, Saved: 120_000}, 0, 0},
		// Below the step everything costs a fifth: even the first request is cheaper than one more read of all.
		{"under a price step", marks, simulator.Price{Rates: simulator.Rates{Input: 0.1, Read: 0.01, Write5m: 0.125}, LongOver: 100_000, Long: simulator.Rates{Input: 0.5, Read: 0.05, Write5m: 0.625}},
			simulator.Shortened{Rewritten: 90_000, Saved: 30_000}, 0, 3},
	} {
		if got := c.price.PayBack(&c.rules, c.s, c.life); got.Turns != c.want {
			t.Errorf("%s: %d turns, want %d", c.name, got.Turns, c.want)
		}
	}
}

func TestAdviceSaysWhenToWait(t *testing.T) {
	for _, c := range []struct {
		payBack, turns int
		want           string
	}{
		{0, 0, "at once"}, {-1, 100, "never"}, {9, 8, "not pay yet"}, {8, 8, "pays after 8"},
	} {
		if got := (simulator.PayBack{Turns: c.payBack}).Advice(c.turns); !strings.Contains(got, c.want) {
			t.Errorf("%d of %d turns: %q, want it to say %q", c.payBack, c.turns, got, c.want)
		}
	}
}
