package simulator

import (
	"fmt"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// Codes of findings. What follows a slash narrows the first word, which is the provider's own where it has one.
const (
	CodeModelChanged         = "model_changed"
	CodeScopeChanged         = "scope_changed"
	CodeToolsOrder           = "tools_changed/order"
	CodeToolsSet             = "tools_changed/set"
	CodeToolsDefinition      = "tools_changed/definition"
	CodeToolsSerialization   = "tools_changed/serialization"
	CodeSystemVolatile       = "system_changed/volatile"
	CodeSystemText           = "system_changed/text"
	CodeMessagesEdit         = "messages_changed/edit"
	CodeMessagesDelete       = "messages_changed/delete"
	CodeMessagesInsert       = "messages_changed/insert"
	CodeMessagesCompaction   = "messages_changed/compaction"
	CodeMessagesClear        = "messages_changed/clear"
	CodeMessagesWhitespace   = "messages_changed/whitespace"
	CodeMessagesNumberFormat = "messages_changed/number_format"
	CodeMessagesUnicode      = "messages_changed/unicode"
	CodeMessagesKeyOrder     = "messages_changed/key_order"
	CodeParamsChanged        = "params_changed"
	CodeThinkingStripped     = "thinking_stripped"
	CodeLookbackOverflow     = "lookback_overflow"
	CodeNoMarker             = "no_marker_at_entry"
	CodeWriteNeverRead       = "write_never_read"
	CodeBelowMinimum         = "below_minimum"
	CodeTTLExpired           = "ttl_expired"
	CodeNotVisibleYet        = "not_visible_yet"
	CodeTTLDowngraded        = "ttl_downgraded"
	CodeTooManyMarkers       = "too_many_markers"
	CodeTTLOrder             = "ttl_order"
	CodeUnknownTTL           = "unknown_ttl"
	CodeUnmarkable           = "unmarkable_block"
	CodeAutoConflict         = "auto_conflict"
	CodePrewarm              = "prewarm_conflict"
	CodeWastedMarker         = "wasted_marker"
	CodePriceStep            = "price_step"
	CodeUnexplained          = "unexplained"
)

// Evidence is how sure a finding is.
type Evidence int

// The sorts of evidence.
const (
	// EvidenceBytes: the bytes of two requests differ.
	EvidenceBytes Evidence = iota
	// EvidenceRules: the provider's published rules say so.
	EvidenceRules
	// EvidenceBill: what was billed says so, and the request does not explain it.
	EvidenceBill
)

// String names the evidence.
func (e Evidence) String() string {
	switch e {
	case EvidenceBytes:
		return "proved by bytes"
	case EvidenceRules:
		return "predicted by rules"
	default:
		return "inferred from the bill"
	}
}

// Severity is how much a finding matters.
type Severity int

// The severities.
const (
	// SeverityInfo costs nothing.
	SeverityInfo Severity = iota
	// SeverityWarning costs tokens.
	SeverityWarning
	// SeverityError makes the provider refuse the request.
	SeverityError
)

// Finding is one thing that cost, or will cost, tokens.
type Finding struct {
	Code     string
	Severity Severity
	Evidence Evidence
	// Class narrows the code: what changes in a volatile text (date, time, uuid, ...), or the parameter's name.
	Class string
	// Tier is the first tier that is lost.
	Tier Tier
	// At is the place in the request; Message -1 with section messages is the request as a whole.
	At breakpoints.Position
	// Offset is the byte in the request's source at which it differs from the one before, -1 when no byte is meant.
	Offset int
	// Before and After are the bytes around that place, in the request before and in this one.
	Before, After string
	// TokensLost is what would have been read and was not.
	TokensLost int
	// Now is what that cost in this request, PerTurn what every further request like it costs.
	Now, PerTurn Cost
	// Detail says what happened, Fix what to do about it.
	Detail, Fix string
}

// lost fills in what tokens cost that were written, or paid in full, where they could have been read.
func (f *Finding) lost(tokens int, price *Price, prompt int, written, everyTurn bool) {
	f.TokensLost = max(0, tokens)
	if f.TokensLost == 0 {
		return
	}
	r := price.at(prompt)
	rate := r.Input
	if written {
		rate = max(r.Write5m, r.Write)
	}
	sum := float64(f.TokensLost) * (rate - r.Read)
	f.Now = Cost{BaseTokens: sum / price.Input}
	if !price.Relative {
		f.Now.USD = sum / 1e6
	}
	if f.Severity == SeverityInfo && sum > 0 {
		f.Severity = SeverityWarning
	}
	if everyTurn {
		f.PerTurn = f.Now
	}
}

// whole is the request as a whole.
func whole() breakpoints.Position {
	return breakpoints.Position{Section: conversation.SectionMessages, Message: -1, Block: -1}
}

func detail(format string, args ...any) string { return fmt.Sprintf(format, args...) }
