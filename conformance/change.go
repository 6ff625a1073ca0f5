package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// change is what a kept message lost or gained.
type change struct {
	results   []string // texts of tool results whose content became a shorter string
	arguments int      // calls whose arguments were cut
	thinking  int      // thinking blocks removed whole
	blank     int      // blank text blocks removed
	dropped   []string // ids of tool results removed
	stubs     []string // ids of stand-in tool results added
	note      string   // text appended to a system message
}

// compare says how out differs from in, or why no allowed change leads from one
// to the other.
func (d Dialect) compare(in, out *message) (ch change, why string) {
	if in == out || bytes.Equal(in.raw, out.raw) {
		return ch, ""
	}
	a, b := &in.object, &out.object
	if in.role != out.role || len(a.members) != len(b.members) || !sameGlue(a.glue, b.glue) {
		return ch, "its frame differs"
	}
	for i := range a.members {
		key := a.members[i].key
		if bytes.Equal(a.members[i].value, b.members[i].value) {
			continue
		}
		switch {
		case key == "content":
			why = d.compareContent(&ch, in, out)
		case key == "tool_calls" && d == OpenAI && in.role == "assistant":
			why = compareCalls(&ch, a.members[i].value, b.members[i].value)
		case key == "function_call" && d == OpenAI && in.role == "assistant":
			why = compareCall(&ch, a.members[i].value, b.members[i].value)
		default:
			why = "the field " + key + " differs"
		}
		if why != "" {
			return ch, why
		}
	}
	return ch, ""
}

// compareContent judges a changed content value.
func (d Dialect) compareContent(ch *change, in, out *message) string {
	switch {
	case in.isSystem() && in.has("tool_result") && out.content.shape == shapeList:
		// With results it is nobody's prompt: they are repaired, and it may get its note.
		blocks, n := out.content.blocks, len(out.content.blocks)
		isLast := func(b block) bool { return bytes.Equal(b.raw, blocks[n-1].raw) }
		if n > 0 && blocks[n-1].kind == "text" && !slices.ContainsFunc(in.content.blocks, isLast) {
			ch.note, blocks = blocks[n-1].text, blocks[:n-1]
		}
		return d.compareBlocks(ch, in.content.blocks, blocks)
	case in.isSystem():
		return compareNote(ch, &in.content, &out.content)
	case d == OpenAI && in.isResult():
		return ch.compareResult(in.content.raw, out.content.raw, d)
	case in.content.shape == shapeString && out.content.shape == shapeList && d == Anthropic && in.role == "user":
		// A stand-in result can only be put before a text that became a block.
		last := len(out.content.blocks) - 1
		if last < 1 || !isTextBlockOf(&out.content.blocks[last], in.content.raw) {
			return "its text differs"
		}
		for i := range out.content.blocks[:last] {
			if why := ch.stub(&out.content.blocks[i]); why != "" {
				return why
			}
		}
		return ""
	case in.content.shape == shapeList && out.content.shape == shapeList:
		return d.compareBlocks(ch, in.content.blocks, out.content.blocks)
	default:
		return "its content differs"
	}
}

// isTextBlockOf reports whether b is a plain text block of a string literal.
func isTextBlockOf(b *block, literal []byte) bool {
	return b.kind == "text" && len(b.object.members) == 2 && bytes.Equal(b.object.get("text"), literal)
}

// stub notes a tool result that was not in the input.
func (ch *change) stub(b *block) string {
	if b.kind != "tool_result" {
		return "a new block that is no stand-in result: " + excerpt(b.raw)
	}
	c, err := readContent(b.object.get("content"))
	if chars, text := c.textOnly(); err != nil || !text || chars == 0 {
		return "a stand-in result without text"
	}
	ch.stubs = append(ch.stubs, b.id)
	return ""
}

// compareBlocks walks two lists of blocks. What is missing must be something that
// may be removed, what is new a stand-in for a result the message did not have.
func (d Dialect) compareBlocks(ch *change, in, out []block) string {
	answered := make(map[string]bool)
	for i := range in {
		if in[i].kind == "tool_result" {
			answered[in[i].id] = true
		}
	}
	i := 0
	for o := range out {
		if out[o].kind == "tool_result" && !answered[out[o].id] {
			if why := ch.stub(&out[o]); why != "" {
				return why
			}
			continue
		}
		found := false
		for ; i < len(in) && !found; i++ {
			var why string
			switch found, why = d.compareBlock(ch, &in[i], &out[o]); {
			case found:
			case why != "" && in[i].kind == "tool_result":
				return why
			case in[i].removable():
				ch.remove(&in[i])
			case why != "":
				return why
			default:
				return "a block is missing: " + excerpt(in[i].raw)
			}
		}
		if !found {
			return "a new block: " + excerpt(out[o].raw)
		}
	}
	for ; i < len(in); i++ {
		if !in[i].removable() {
			return "a block is missing: " + excerpt(in[i].raw)
		}
		ch.remove(&in[i])
	}
	return ""
}

// removable says that a block may be left out whole; whether the policy or a
// repair allows it is judged by the counts.
func (b *block) removable() bool {
	return b.isThinking() || b.isBlank() || b.kind == "tool_result"
}

func (ch *change) remove(b *block) {
	switch {
	case b.isThinking():
		ch.thinking++
	case b.isBlank():
		ch.blank++
	default:
		ch.dropped = append(ch.dropped, b.id)
	}
}

// compareBlock reports whether out is in, unchanged or shortened as allowed.
func (d Dialect) compareBlock(ch *change, in, out *block) (ok bool, why string) {
	if bytes.Equal(in.raw, out.raw) {
		return true, ""
	}
	if !in.isObject || !out.isObject || in.kind != out.kind || in.id != out.id {
		return false, ""
	}
	a, b := &in.object, &out.object
	if len(a.members) != len(b.members) || !sameGlue(a.glue, b.glue) {
		return false, ""
	}
	for i := range a.members {
		key := a.members[i].key
		if bytes.Equal(a.members[i].value, b.members[i].value) {
			continue
		}
		switch {
		case in.kind == "tool_result" && key == "content":
			why = ch.compareResult(a.members[i].value, b.members[i].value, d)
		case in.kind == "tool_use" && key == "input" && d == Anthropic:
			ch.arguments++
			why = compareJSON(a.members[i].value, b.members[i].value)
		case in.kind == "tool_use" && key == "input" && d == Typed:
			ch.arguments++
			why = compareArguments(a.members[i].value, b.members[i].value)
		default:
			return false, "the field " + key + " of a block differs"
		}
		if why != "" {
			return false, why
		}
	}
	return true, ""
}

// compareResult judges the shortened content of a tool result: text gave way to
// a shorter text, and nothing but text was lost.
func (ch *change) compareResult(in, out []byte, d Dialect) string {
	a, errA := readContent(in)
	b, errB := readContent(out)
	if errA != nil || errB != nil {
		return "a tool result cannot be read"
	}
	before, text := a.textOnly()
	if !text {
		return "a tool result with more than text was replaced"
	}
	after, text := b.textOnly()
	if !text || len(b.blocks) != 1 || d != Typed && b.shape != shapeString {
		return "a tool result did not become one text"
	}
	if after >= before {
		return fmt.Sprintf("a tool result of %d characters became one of %d", before, after)
	}
	if b.blocks[0].isBlank() {
		return "a tool result was emptied"
	}
	ch.results = append(ch.results, a.text())
	return newText(in, out)
}

// newText judges a literal the service wrote.
func newText(in, out []byte) string {
	if loneSurrogates(out) > loneSurrogates(in) {
		return "a surrogate pair was cut"
	}
	// Half a pair reads as the replacement character, and is written as one.
	if bytes.Count(out, []byte("\uFFFD")) > bytes.Count(in, []byte("\uFFFD"))+loneSurrogates(in) {
		return "a character was cut"
	}
	return ""
}

// compareCalls judges a changed tool_calls list.
func compareCalls(ch *change, in, out []byte) string {
	a, errA := splitArray(in)
	b, errB := splitArray(out)
	if errA != nil || errB != nil || len(a.elements) != len(b.elements) || !sameGlue(a.glue, b.glue) {
		return "the list of calls differs"
	}
	for i := range a.elements {
		if bytes.Equal(a.elements[i], b.elements[i]) {
			continue
		}
		if why := compareCall(ch, a.elements[i], b.elements[i]); why != "" {
			return why
		}
	}
	return ""
}

// compareCall judges a changed call: only its arguments may differ.
func compareCall(ch *change, in, out []byte) string {
	a, errA := splitObject(in)
	b, errB := splitObject(out)
	if errA != nil || errB != nil || len(a.members) != len(b.members) || !sameGlue(a.glue, b.glue) {
		return "a call differs"
	}
	for i := range a.members {
		key, was, is := a.members[i].key, a.members[i].value, b.members[i].value
		if bytes.Equal(was, is) {
			continue
		}
		var why string
		switch {
		case (key == "function" || key == "custom") && was[0] == '{':
			why = compareCall(ch, was, is)
		case key == "arguments" || key == "input":
			ch.arguments++
			why = compareArguments(was, is)
		default:
			why = "the field " + key + " of a call differs"
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// compareArguments judges changed arguments that are JSON inside a string, or a
// value as it is.
func compareArguments(in, out []byte) string {
	was, isString := decodeString(in)
	if !isString {
		return compareJSON(in, out)
	}
	is, isString := decodeString(out)
	if !isString {
		return "arguments are no string any more"
	}
	if loneSurrogates(out) > loneSurrogates(in) {
		return "a surrogate pair was cut"
	}
	return compareJSON([]byte(was), []byte(is))
}

// compareJSON walks two JSON texts token by token: same keys in the same order,
// same numbers as spelled, strings equal or shorter.
func compareJSON(in, out []byte) string {
	if why := newText(in, out); why != "" {
		return why
	}
	if len(out) >= len(in) {
		return "arguments did not become shorter"
	}
	a, b := json.NewDecoder(bytes.NewReader(in)), json.NewDecoder(bytes.NewReader(out))
	a.UseNumber()
	b.UseNumber()
	var inObject []bool // the open objects and arrays
	isKey := false
	for {
		was, errA := a.Token()
		is, errB := b.Token()
		if errA == io.EOF && errB == io.EOF {
			return ""
		}
		if errA != nil || errB != nil {
			return fmt.Sprintf("arguments are not the same JSON (%v, %v)", errA, errB)
		}
		key := isKey
		switch was {
		case json.Delim('{'):
			inObject = append(inObject, true)
			isKey = true
		case json.Delim('['):
			inObject = append(inObject, false)
			isKey = false
		case json.Delim('}'), json.Delim(']'):
			inObject = inObject[:len(inObject)-1]
			isKey = len(inObject) > 0 && inObject[len(inObject)-1]
		default:
			isKey = len(inObject) > 0 && inObject[len(inObject)-1] && !key
		}
		if was == is {
			continue
		}
		long, isText := was.(string)
		short, nowText := is.(string)
		if key || !isText || !nowText || len(short) >= len(long) {
			return fmt.Sprintf("arguments differ: %s became %s", excerpt([]byte(fmt.Sprint(was))), excerpt([]byte(fmt.Sprint(is))))
		}
	}
}
