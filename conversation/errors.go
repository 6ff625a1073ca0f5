package conversation

import "fmt"

// Error says why input could not be read: where, and what was wrong.
type Error struct {
	// Offset is the byte offset in the caller's JSON, -1 when the fault is not at
	// one byte.
	Offset int
	// Path names the value, for example messages[3].content[0].text.
	Path string
	// Message is the index of the message concerned, -1 when none is.
	Message int
	Reason  string
}

// Error implements error.
func (e *Error) Error() string {
	where := e.Path
	if where == "" {
		where = "input"
	}
	if e.Offset < 0 {
		return fmt.Sprintf("%s: %s", where, e.Reason)
	}
	return fmt.Sprintf("%s: %s at byte %d", where, e.Reason, e.Offset)
}

// under puts a parent in front of the error's path.
func (e *Error) under(parent string) *Error {
	if parent == "" {
		parent = `""`
	}
	switch {
	case e.Path == "":
		e.Path = parent
	case e.Path[0] == '[':
		e.Path = parent + e.Path
	default:
		e.Path = parent + "." + e.Path
	}
	return e
}

// Limits bound what one conversation may cost to read.
type Limits struct {
	// MaxDepth is the deepest allowed nesting of JSON values. Default 512.
	MaxDepth int
	// MaxBlocks is the largest number of messages, blocks and tools together.
	// Default 200,000.
	MaxBlocks int
}

// The default limits.
const (
	DefaultMaxDepth  = 512
	DefaultMaxBlocks = 200_000
)

func (l Limits) withDefaults() Limits {
	if l.MaxDepth <= 0 {
		l.MaxDepth = DefaultMaxDepth
	}
	if l.MaxBlocks <= 0 {
		l.MaxBlocks = DefaultMaxBlocks
	}
	return l
}
