package conformance

import (
	"bytes"
)

// align is invariant 1 for messages: every output message is an input message
// that was kept, in order, the summary, or a stand-in result.
func (k *compressionCheck) align() {
	k.from = make([]int, len(k.Output.messages))
	k.to = make([]int, len(k.Input.messages))
	k.changes = make(map[int]change)
	for i := range k.to {
		k.to[i] = -1
	}
	k.index()
	next := 0
	for o, out := range k.Output.messages {
		k.from[o] = -1
		if o == k.summary || k.full() {
			continue
		}
		i, ch, why := k.origin(next, out)
		if i < 0 {
			if why != "" {
				k.add(RuleExact, o, "neither kept nor new as allowed: %s (%s)", why, excerpt(out.raw))
			}
			continue
		}
		k.from[o], k.to[i], next = i, o, i+1
		if out.takesTurn() {
			if o == 0 || !k.Output.messages[o-1].takesTurn() {
				k.waiting = make(map[string]int)
			}
			for _, id := range k.missing[i] {
				k.waiting[id]++
			}
		}
		if ch.note != "" {
			k.noted(ch.note, o)
		}
		if len(ch.dropped)+len(ch.stubs)+len(ch.results)+ch.arguments+ch.thinking+ch.blank > 0 {
			k.changes[i] = ch
		}
		k.stubs = append(k.stubs, ch.stubs...)
	}
	k.separators()
}

// origin finds the first input message from next on that out can have come from,
// -1 when there is none; the reason is empty when out is a stand-in result.
// Messages that the report keeps are not stepped over unless they may be lost.
func (k *compressionCheck) origin(next int, out *message) (int, change, string) {
	first := "there is no message left it can have come from"
	for i := k.next[next]; i < len(k.Input.messages); i = k.next[i+1] {
		ch, why := k.Input.dialect.compare(k.Input.messages[i], out)
		if why == "" && len(ch.stubs) > 0 && len(ch.stubs) == len(out.content.blocks) {
			why = "an empty message, filled with stand-in results"
		}
		if why == "" && k.expected(ch.stubs) {
			return i, ch, ""
		}
		if why == "" {
			why = "a stand-in result for a call that was not reported to have none"
		}
		if i == k.next[next] {
			first = why
			if k.standIn(out) {
				return -1, change{}, ""
			}
		}
		if !k.mayGo(i) {
			return -1, change{}, first
		}
	}
	if k.standIn(out) {
		return -1, change{}, ""
	}
	return -1, change{}, first
}

// standIn notes a message of stand-in results for calls that were reported to
// have had none.
func (k *compressionCheck) standIn(out *message) bool {
	ids, ok := k.Input.dialect.standIn(out)
	if !ok || !k.expected(ids) {
		return false
	}
	k.stubs = append(k.stubs, ids...)
	return true
}

// expected reports whether the calls belong to the turn of the model before and were reported
// to have got a stand-in result, and strikes them off the list.
func (k *compressionCheck) expected(ids []string) bool {
	for n, id := range ids {
		if k.waiting[id] == 0 {
			for _, id := range ids[:n] {
				k.waiting[id]++
			}
			return false
		}
		k.waiting[id]--
	}
	return true
}

// mayGo reports whether an input message that was not summarized may be missing:
// it had nothing but thinking, or reported repairs took what else it had.
func (k *compressionCheck) mayGo(i int) bool {
	if k.repairs[i] {
		return true
	}
	m := k.Input.messages[i]
	if m.content.shape != shapeList || len(m.calls) > 0 || k.Input.dialect == OpenAI && m.isResult() {
		return false
	}
	for b := range m.content.blocks {
		if blk := &m.content.blocks[b]; !blk.removable() || !blk.isThinking() && !k.repaired[i] {
			return false
		}
	}
	return true // the thinking is counted
}

// separators checks the bytes between messages that were neighbours and still are.
func (k *compressionCheck) separators() {
	in, out := k.Input.list.glue, k.Output.list.glue
	for o := 1; o < len(k.from); o++ {
		i := k.from[o]
		if i > 0 && k.from[o-1] == i-1 && !bytes.Equal(in[i], out[o]) {
			k.add(RuleExact, o, "the bytes between two kept messages differ")
		}
	}
}

// standIn reports whether a message is a tool result and nothing else, and which
// calls it answers.
func (d Dialect) standIn(m *message) (ids []string, ok bool) {
	if d == OpenAI {
		if chars, text := m.content.textOnly(); !m.isResult() || !text || chars == 0 {
			return nil, false
		}
		return []string{m.object.text("tool_call_id")}, true
	}
	if d == Anthropic && m.role != "user" || d == Typed && m.role != "tool" || len(m.content.blocks) == 0 {
		return nil, false
	}
	var ch change
	for b := range m.content.blocks {
		if ch.stub(&m.content.blocks[b]) != "" {
			return nil, false
		}
	}
	return ch.stubs, true
}
