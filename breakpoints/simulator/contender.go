package simulator

import "github.com/elbowroom/elbowroom/breakpoints"

// Contender is a way to place marks that is compared with others.
type Contender struct {
	// Name is what tables call it.
	Name string
	// New returns a placer for one run of a replay.
	New func(r *Replay) Placer
}

// Contenders are no marks at all and every strategy of [breakpoints.Place], with the other options given.
func Contenders(opts breakpoints.Options) []Contender {
	all := []Contender{{Name: "none", New: func(*Replay) Placer { return nil }}}
	for _, s := range []struct {
		name     string
		strategy breakpoints.Strategy
	}{
		{"system-only", breakpoints.StrategySystemOnly},
		{"system-and-3", breakpoints.StrategySystemAnd3},
		{"hermes-default", breakpoints.StrategyHermesDefault},
		{"transaction-ends", breakpoints.StrategyTransactionEnds},
		{"auto-plus-system", breakpoints.StrategyAutoPlusSystem},
		{"anchored", breakpoints.StrategyAnchored},
	} {
		o := opts
		o.Strategy = s.strategy
		all = append(all, Contender{Name: s.name, New: func(*Replay) Placer { return ByOptions(o) }})
	}
	return all
}
