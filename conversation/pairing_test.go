package conversation

import (
	"testing"
)

// checkPairing checks what holds of the pairing of any conversation.
func checkPairing(t testing.TB, c *Conversation) *Pairing {
	t.Helper()
	p := Pair(c)
	if len(p.Unit) != len(c.Messages) {
		t.Fatalf("%d units for %d messages", len(p.Unit), len(c.Messages))
	}
	for i, u := range p.Unit {
		// A unit is a run of messages that begins at the index it is named by.
		if u != i && (u > i || p.Unit[i-1] != u || p.Unit[u] != u) {
			t.Fatalf("units %v: message %d", p.Unit, i)
		}
	}
	answers := make(map[Ref]Ref, len(p.CallOf))
	for result, call := range p.CallOf {
		if c.At(result).Kind != KindToolResult || c.At(call).Kind != KindToolUse {
			t.Fatalf("%v answers %v", result, call)
		}
		if _, twice := answers[call]; twice {
			t.Fatalf("call %v has two results", call)
		}
		answers[call] = result
		if call.Message >= result.Message || p.Unit[call.Message] != p.Unit[result.Message] {
			t.Fatalf("result %v and its call %v are not in one unit: %v", result, call, p.Unit)
		}
	}
	// Every call of an assistant is answered, missing or in flight, every result
	// answers, is an orphan or a duplicate; each is one of these only.
	seen := make(map[Ref]int)
	for _, refs := range [][]Ref{p.Missing, p.InFlight, p.Orphans, p.Duplicates} {
		for _, r := range refs {
			seen[r]++
		}
	}
	for result, call := range p.CallOf {
		seen[result]++
		seen[call]++
	}
	want := 0
	for i := range c.Messages {
		for b := range c.Messages[i].Blocks {
			ref := Ref{i, b}
			kind := c.At(ref).Kind
			if kind == KindToolResult || kind == KindToolUse && c.Messages[i].Role == RoleAssistant {
				want++
				if seen[ref] != 1 {
					t.Fatalf("%v is named %d times: %+v", ref, seen[ref], p)
				}
			}
		}
	}
	if len(seen) != want {
		t.Fatalf("%d calls and results are named, want %d", len(seen), want)
	}
	return p
}
