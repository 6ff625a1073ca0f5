package server

import (
	"fmt"
	"time"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// outputMultiple is the price of a token that a model writes, to one that it reads
// uncached: five for every Claude model, and near it for most others.
const outputMultiple = 5

// pricing is what a compression's effect on the provider's cache is priced by.
type pricing struct {
	format conversation.Format
	model  tokens.Model
	// changed is the offset of the first changed byte, noChange for none.
	changed int
	// layout is the way to the model; where it is not known, that which the form and the model suggest.
	layout breakpoints.Layout
	// life is that of the marks, 0 for the server's.
	life time.Duration
}

// priceChange completes the cache effect of a report.
func (s *Server) priceChange(out *elbowroomv1.CompressionReport, res *compressor.Result, by pricing) {
	effect, change := out.GetCacheEffect(), res.Report.Change
	if effect == nil {
		return
	}
	if by.changed != noChange {
		effect.FirstChangedByte = new(int64(by.changed))
	}
	if by.layout == breakpoints.LayoutUnset {
		by.layout = simulator.LayoutOf(&by.model, by.format)
	}
	if by.life == 0 {
		by.life = s.lifeOf(elbowroomv1.CacheTtl_CACHE_TTL_UNSPECIFIED)
	}
	extra := 0
	if u := res.Report.Summarizer; !u.Reused {
		extra = u.PromptTokens + outputMultiple*u.CompletionTokens
	}
	rules := s.caches.Rules(by.layout, &by.model, simulator.CountingDefault)
	price := s.caches.Price(by.layout, &by.model, "")
	back := price.PayBack(&rules, simulator.Shortened{
		Kept: change.Kept, Rewritten: change.Rewritten, Saved: change.Saved, Extra: extra,
	}, by.life)
	effect.SummaryCostTokens = count(extra)
	effect.ReadMultiple, effect.WriteMultiple = back.Read, back.Write
	if back.Turns >= 0 {
		effect.PaybackTurns = new(count(back.Turns))
	}
	effect.Advice = back.Advice(change.Turns)
	if rules.Mode == simulator.ModeNone {
		effect.Advice = "no prompt cache is known for this model: every token that is not sent is saved in full"
	}
	if change.Head > 0 && rules.Mode != simulator.ModeNone {
		effect.Advice += fmt.Sprintf("; the note in the system prompt costs the cache of %d tokens once, SYSTEM_NOTE_NONE keeps them", change.Head)
	}
}

// lifeOf is the life of the marks that a request asks for.
func (s *Server) lifeOf(ttl elbowroomv1.CacheTtl) time.Duration {
	if ttl == elbowroomv1.CacheTtl_CACHE_TTL_1H || ttl == elbowroomv1.CacheTtl_CACHE_TTL_UNSPECIFIED && s.cacheTTL == breakpoints.TTL1h {
		return time.Hour
	}
	return 5 * time.Minute
}
