package simulator

import (
	"fmt"
	"math"
	"time"
)

// Shortened is a prompt that was made shorter, in tokens of the main model.
type Shortened struct {
	// Kept can still be read from the cache, Rewritten is written anew once. Together they are the new prompt.
	Kept, Rewritten int
	// Saved is no longer sent.
	Saved int
	// Extra is what making it shorter cost, in uncached tokens.
	Extra int
}

// PayBack says when a shorter prompt has paid for what is written anew.
type PayBack struct {
	// Turns is after how many further turns, 0 at once, -1 never.
	Turns int
	// Read and Write are prices of a token read and of a token written, in uncached tokens.
	Read, Write float64
}

// PayBack compares the turns that follow with a warm cache: what is written anew costs the difference between writing and
// reading once, what is gone saves a read in every turn. life is that of the marks.
func (p *Price) PayBack(r *Rules, s Shortened, life time.Duration) PayBack {
	rates := p.at(s.Kept + s.Rewritten)
	out := PayBack{Turns: -1, Read: 1, Write: 1}
	if r.Mode != ModeNone {
		out.Read, out.Write = rates.Read/rates.Input, r.writeRate(rates, life)/rates.Input
	}
	cost := func(read, written int) float64 {
		at := p.at(read + written)
		return at.Input * (float64(read)*out.Read + float64(written)*out.Write)
	}
	after := s.Kept + s.Rewritten
	once := cost(s.Kept, s.Rewritten) - cost(after, 0) + p.Input*float64(s.Extra)
	each := cost(after+s.Saved, 0) - cost(after, 0)
	switch {
	case once <= 0:
		out.Turns = 0
	case each > 0:
		out.Turns = int(min(math.Ceil(once/each-1e-9), math.MaxInt32))
	}
	return out
}

// writeRate is what a token costs that is written to the cache with a life.
func (r *Rules) writeRate(rates Rates, life time.Duration) float64 {
	switch {
	case r.Mode == ModeMarks && r.Has1h && life >= time.Hour:
		return max(rates.Write1h, rates.Input)
	case r.Mode == ModeMarks:
		return max(rates.Write5m, rates.Write, rates.Input)
	default:
		return max(rates.Write, rates.Input)
	}
}

// Advice says what follows for a conversation of so many turns. A conversation is taken to go on for as long as it has
// lasted, which is the best guess of one who knows nothing else.
func (b PayBack) Advice(turns int) string {
	switch {
	case b.Turns == 0:
		return "nothing has to be written anew: it pays at once"
	case b.Turns < 0:
		return "it never pays on cost alone: nothing is saved by sending less"
	case b.Turns > turns:
		return fmt.Sprintf("it does not pay yet on cost alone: with a warm cache after %d further turns, and the conversation has had %d; compress when the window asks for it, or when the cache has expired", b.Turns, turns)
	default:
		return fmt.Sprintf("with a warm cache it pays after %d further turns, with a cold one at once", b.Turns)
	}
}
