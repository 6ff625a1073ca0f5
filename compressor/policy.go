package compressor

import (
	"fmt"
	"math"
)

// The published defaults (Hermes Agent's context compressor, classic profile).
const (
	// DefaultThreshold and DefaultGatewayThreshold are shares of the window.
	DefaultThreshold        = 0.50
	DefaultGatewayThreshold = 0.85
	// GatewayMinMessages is the least number of messages the gateway layer compresses.
	GatewayMinMessages = 4
	// DefaultTargetRatio is the tail's share of the threshold; policies are clamped
	// to MinTargetRatio and MaxTargetRatio.
	DefaultTargetRatio = 0.20
	MinTargetRatio     = 0.10
	MaxTargetRatio     = 0.80
	// DefaultProtectFirstN counts the system prompt as one.
	DefaultProtectFirstN = 3
	DefaultProtectLastN  = 20
	// DefaultPruneOverChars is in characters: longer tool results are pruned.
	DefaultPruneOverChars = 200
	// DefaultSummaryRatio is the summary's share of the summarized tokens.
	DefaultSummaryRatio     = 0.20
	DefaultSummaryMinTokens = 2_000
	// MaxSummaryTokens and MaxSummaryWindowShare bound the summary budget.
	MaxSummaryTokens      = 12_000
	MaxSummaryWindowShare = 0.05
)

// Layer is one of the two independent layers that ask for compression.
type Layer int

// The layers.
const (
	LayerAgent Layer = iota
	LayerGateway
)

// SystemNote says whether the first compression appends a note to the system prompt.
type SystemNote int

// The settings of SystemNote; the zero value is the default.
const (
	SystemNoteAppend SystemNote = iota
	SystemNoteNone
)

// Thinking says what may happen to signed thinking in kept messages.
type Thinking int

// The settings of Thinking; the zero value is the default.
const (
	ThinkingAuto Thinking = iota
	ThinkingKeep
	ThinkingRemove
)

// Alternation says whether user and assistant messages must alternate.
type Alternation int

// The settings of Alternation; the zero value is the default.
const (
	AlternationRelaxed Alternation = iota
	AlternationStrict
)

// FailurePolicy says what happens when a summarizer fails.
type FailurePolicy int

// The settings of FailurePolicy; the zero value is the default.
const (
	FailureFallback FailurePolicy = iota
	FailureAbort
)

// Policy is what a caller or an operator may choose. A nil pointer, or the zero
// value of an enumeration, takes the server's default and then the published
// one. See the proto for the meaning and unit of each.
type Policy struct {
	Enabled            *bool
	Threshold          *float64
	ThresholdTokens    *int // upper bound of the threshold; <= 0 is none
	TargetRatio        *float64
	ProtectFirstN      *int
	ProtectLastN       *int
	PruneOverChars     *int
	TargetTokens       *int // <= 0 is none
	SystemNote         *SystemNote
	Thinking           *Thinking
	Alternation        *Alternation
	FailurePolicy      *FailurePolicy
	Summarizer         *string
	SummaryRatio       *float64
	SummaryMinTokens   *int
	SummaryMaxTokens   *int
	PruneToolArguments *bool
	MinGain            *float64
	// Redact says whether the embedded summarizer replaces secrets too.
	Redact *bool
}

// rules is a policy with nothing left open.
type rules struct {
	enabled            bool
	threshold          float64
	thresholdTokens    int
	targetRatio        float64
	protectFirstN      int
	protectLastN       int
	pruneOverChars     int
	targetTokens       int
	systemNote         SystemNote
	thinking           Thinking
	alternation        Alternation
	failurePolicy      FailurePolicy
	summarizer         string
	summaryRatio       float64
	summaryMinTokens   int
	summaryMaxTokens   int
	pruneToolArguments bool
	minGain            float64
	redact             bool
}

// resolve fills what p leaves open from the server's policy for the layer, then
// from the published defaults.
func resolve(p, server Policy, layer Layer) (rules, error) {
	threshold := DefaultThreshold
	if layer == LayerGateway {
		threshold = DefaultGatewayThreshold
	}
	r := rules{
		enabled:            pick(p.Enabled, server.Enabled, true),
		threshold:          pick(p.Threshold, server.Threshold, threshold),
		thresholdTokens:    pick(p.ThresholdTokens, server.ThresholdTokens, 0),
		targetRatio:        clamp(pick(p.TargetRatio, server.TargetRatio, DefaultTargetRatio), MinTargetRatio, MaxTargetRatio),
		protectFirstN:      pick(p.ProtectFirstN, server.ProtectFirstN, DefaultProtectFirstN),
		protectLastN:       pick(p.ProtectLastN, server.ProtectLastN, DefaultProtectLastN),
		pruneOverChars:     pick(p.PruneOverChars, server.PruneOverChars, DefaultPruneOverChars),
		targetTokens:       max(pick(p.TargetTokens, server.TargetTokens, 0), 0),
		systemNote:         pick(p.SystemNote, server.SystemNote, SystemNoteAppend),
		thinking:           pick(p.Thinking, server.Thinking, ThinkingAuto),
		alternation:        pick(p.Alternation, server.Alternation, AlternationRelaxed),
		failurePolicy:      pick(p.FailurePolicy, server.FailurePolicy, FailureFallback),
		summarizer:         pick(p.Summarizer, server.Summarizer, ""),
		summaryRatio:       pick(p.SummaryRatio, server.SummaryRatio, DefaultSummaryRatio),
		summaryMinTokens:   pick(p.SummaryMinTokens, server.SummaryMinTokens, DefaultSummaryMinTokens),
		summaryMaxTokens:   pick(p.SummaryMaxTokens, server.SummaryMaxTokens, 0),
		pruneToolArguments: pick(p.PruneToolArguments, server.PruneToolArguments, true),
		minGain:            pick(p.MinGain, server.MinGain, 0),
		redact:             pick(p.Redact, server.Redact, true),
	}
	if r.pruneOverChars == 0 {
		r.pruneOverChars = DefaultPruneOverChars
	}
	switch {
	case !(r.threshold > 0 && r.threshold <= 1):
		return r, &ArgumentError{Field: "policy.threshold", Message: -1, Reason: fmt.Sprintf("%v is not a share between 0 and 1", r.threshold)}
	case r.protectFirstN < 0:
		return r, &ArgumentError{Field: "policy.protect_first_n", Message: -1, Reason: "a number of messages cannot be negative"}
	case r.protectLastN < 0:
		return r, &ArgumentError{Field: "policy.protect_last_n", Message: -1, Reason: "a number of messages cannot be negative"}
	}
	return r, nil
}

func pick[T any](p, server *T, published T) T {
	switch {
	case p != nil:
		return *p
	case server != nil:
		return *server
	default:
		return published
	}
}

func clamp(v, lo, hi float64) float64 { return math.Min(math.Max(v, lo), hi) }

// budgets are the token figures that follow from a window and the rules. They
// depend on nothing else, so a second compression of the same conversation
// arrives at the same ones.
type budgets struct {
	window    int // after the reservation for the answer
	threshold int
	tail      int
}

// newBudgets computes the figures. A reservation that leaves no window is ignored.
func (r rules) newBudgets(contextWindow, maxOutputTokens int) budgets {
	b := budgets{window: contextWindow}
	if maxOutputTokens > 0 && maxOutputTokens < contextWindow {
		b.window -= maxOutputTokens
	}
	b.threshold = floorShare(b.window, r.threshold)
	if r.thresholdTokens > 0 {
		b.threshold = min(b.threshold, r.thresholdTokens)
	}
	b.threshold = max(b.threshold, 1)
	b.tail = max(floorShare(b.threshold, r.targetRatio), 1)
	return b
}

// summary is the token budget of the summary of so many tokens. The minimum
// wins over the window's share on windows under 40,000 tokens, as published.
func (r rules) summary(window, summarized int) int {
	if r.summaryMaxTokens > 0 { // the caller's word wins over the default minimum
		return min(max(r.summaryMinTokens, floorShare(summarized, r.summaryRatio)), r.summaryMaxTokens)
	}
	most := min(floorShare(window, MaxSummaryWindowShare), MaxSummaryTokens)
	return max(r.summaryMinTokens, min(floorShare(summarized, r.summaryRatio), most))
}

// floorShare multiplies without the surprise of 0.29*100 = 28.999...: shares are
// read to a millionth.
func floorShare(n int, share float64) int {
	return int(int64(n) * int64(math.Round(share*1e6)) / 1_000_000)
}
