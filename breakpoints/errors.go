package breakpoints

import (
	"errors"
	"fmt"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// Errors of [Place].
var (
	// ErrUnsupportedLayout and its kin: the option names something this package does
	// not know.
	ErrUnsupportedLayout   = errors.New("unsupported layout")
	ErrUnsupportedStrategy = errors.New("unsupported strategy")
	ErrUnsupportedTTL      = errors.New("unsupported ttl")
	ErrUnsupportedExisting = errors.New("unsupported treatment of existing marks")
	// ErrLayoutMismatch: the layout does not fit the conversation's form.
	ErrLayoutMismatch = errors.New("the layout does not fit the form of the conversation")
	// ErrReserved: the number of reserved marks is not 0 to 4.
	ErrReserved = errors.New("reserved marks out of range")
	// ErrTokenCounts: the token counts do not belong to the conversation.
	ErrTokenCounts = errors.New("token counts do not fit the conversation")
	// ErrTooManyMarks: existing marks to be respected are more than four.
	ErrTooManyMarks = errors.New("too many marks")
	// ErrTTLOrder: among existing marks to be respected a longer life follows a
	// shorter one.
	ErrTTLOrder = errors.New("marks out of ttl order")
)

// MarkError says which of the existing marks to be respected is illegal. It wraps
// [ErrTooManyMarks] or [ErrTTLOrder].
type MarkError struct {
	// At is the offending mark: the first beyond the fourth, or the first that
	// outlives a mark before it.
	At Position
	// Count is the number of marks found.
	Count int
	kind  error
}

// Error implements error.
func (e *MarkError) Error() string {
	if errors.Is(e.kind, ErrTTLOrder) {
		return fmt.Sprintf("%v: the 1h mark on %v comes after a 5m mark; tools, system and messages are read in this order and a longer ttl must come first", e.kind, e.At)
	}
	return fmt.Sprintf("%v: %d found, the fifth on %v; a request may carry %d over tools, system and messages, automatic caching included", e.kind, e.Count, e.At, MaxMarks)
}

// Unwrap returns the sentinel.
func (e *MarkError) Unwrap() error { return e.kind }

// check looks at what can be judged without deciding anything.
func (o *Options) check(c *conversation.Conversation) error {
	switch {
	case o.Layout < LayoutUnset || int(o.Layout) >= len(layoutNames()):
		return fmt.Errorf("%w: %v", ErrUnsupportedLayout, o.Layout)
	case o.Strategy < StrategySystemAnd3 || o.Strategy >= strategies:
		return fmt.Errorf("%w: strategy %d", ErrUnsupportedStrategy, int(o.Strategy))
	case o.TTL < TTL5m || o.TTL > TTL30m:
		return fmt.Errorf("%w: ttl %d", ErrUnsupportedTTL, int(o.TTL))
	case o.Existing < ExistingReplace || o.Existing > ExistingRespect:
		return fmt.Errorf("%w: %d", ErrUnsupportedExisting, int(o.Existing))
	case o.Reserved < 0 || o.Reserved > MaxMarks:
		return fmt.Errorf("%w: %d, want 0 to %d", ErrReserved, o.Reserved, MaxMarks)
	case o.Tokens != nil && len(o.Tokens.Messages) != len(c.Messages):
		return fmt.Errorf("%w: counts for %d messages, the conversation has %d", ErrTokenCounts, len(o.Tokens.Messages), len(c.Messages))
	default:
		return nil
	}
}

// mismatch says that a layout was asked for that the form cannot carry.
func mismatch(l Layout, rules *Rules, c *conversation.Conversation) error {
	if c.Format == conversation.FormatAnthropicMessages {
		return fmt.Errorf("%w: %v marks %s conversations; a native Anthropic conversation takes ANTHROPIC, BEDROCK_INVOKE, VERTEX or MINIMAX", ErrLayoutMismatch, l, strings.Join(rules.Forms, " and "))
	}
	return fmt.Errorf("%w: %v marks %s conversations; this one is %v", ErrLayoutMismatch, l, strings.Join(rules.Forms, " and "), c.Format)
}
