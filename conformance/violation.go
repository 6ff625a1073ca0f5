package conformance

import (
	"fmt"
	"strings"
)

// Rule names the promise that was broken.
type Rule string

// The rules; the numbers are those of the design's invariants.
const (
	RuleExact   Rule = "EXACT"   // 1: what is kept leaves as it came
	RuleOrder   Rule = "ORDER"   // 1: and in the order in which it came
	RuleLegal   Rule = "LEGAL"   // 2: a legal input stays legal, an illegal one is repaired
	RuleLost    Rule = "LOST"    // 3: nothing goes without a summary or a reported repair
	RuleReport  Rule = "REPORT"  // 3: the report says what happened
	RuleGain    Rule = "GAIN"    // 4: a change makes the conversation smaller
	RuleRequest Rule = "REQUEST" // 5: the newest request survives verbatim
	RuleSummary Rule = "SUMMARY" // one summary, its own message, never last
	RuleEdits   Rule = "EDITS"   // edits and splices give exactly the full output
	RuleMarks   Rule = "MARKS"   // breakpoints are legal and change nothing else
)

// Violation is one broken promise.
type Violation struct {
	Rule Rule
	// Index is the message of the output concerned, of the input for what was
	// lost; -1 when the violation is not about one message.
	Index  int
	Detail string
}

// String renders the violation for a test log.
func (v Violation) String() string {
	if v.Index < 0 {
		return fmt.Sprintf("%s: %s", v.Rule, v.Detail)
	}
	return fmt.Sprintf("%s at message %d: %s", v.Rule, v.Index, v.Detail)
}

// maxViolations bounds a list: a broken answer is often broken everywhere.
const maxViolations = 20

// findings collects violations.
type findings struct{ list []Violation }

func (f *findings) add(rule Rule, index int, format string, args ...any) {
	if len(f.list) < maxViolations {
		f.list = append(f.list, Violation{rule, index, fmt.Sprintf(format, args...)})
	}
}

func (f *findings) full() bool { return len(f.list) >= maxViolations }

// excerpt shortens bytes for a message to people.
func excerpt(b []byte) string {
	const most = 120
	s := strings.ToValidUTF8(string(b[:min(len(b), most)]), "?")
	if len(b) > most {
		return fmt.Sprintf("%s... (%d bytes)", s, len(b))
	}
	return s
}
