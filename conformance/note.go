package conformance

import (
	"bytes"
	"slices"
	"strings"
)

// compareNote judges a system prompt to which text was appended.
func compareNote(ch *change, in, out *content) string {
	switch {
	case bytes.Equal(in.raw, out.raw):
		return ""
	case in.shape == shapeString && out.shape == shapeString:
		note, ok := bytes.CutPrefix(out.raw, in.raw[:len(in.raw)-1])
		if !ok || len(note) < 2 {
			return "the system prompt was rewritten"
		}
		ch.note, _ = decodeString(append([]byte{'"'}, note...))
	case in.shape == shapeNull && out.shape == shapeString:
		ch.note = out.blocks[0].text
	case in.shape == shapeList && out.shape == shapeList:
		return compareNoteBlocks(ch, in.blocks, out.blocks)
	default:
		return "the system prompt changed its shape"
	}
	if strings.TrimSpace(ch.note) == "" {
		return "an empty note"
	}
	return ""
}

// compareNoteBlocks allows one more text block at the end, or a longer last one.
// Blank texts, which no provider takes, may be left out; a repair must say so.
func compareNoteBlocks(ch *change, in, out []block) string {
	var said []block
	for i := range in {
		if !in[i].isBlank() {
			said = append(said, in[i])
		}
	}
	why := compareAppended(ch, in, out)
	if why == "" || len(said) == len(in) {
		return why
	}
	ch.note, ch.blank = "", len(in)-len(said)
	if slices.EqualFunc(said, out, func(a, b block) bool { return bytes.Equal(a.raw, b.raw) }) {
		return ""
	}
	return compareAppended(ch, said, out)
}

// compareAppended allows text at the end of the blocks and nothing else.
func compareAppended(ch *change, in, out []block) string {
	same := 0
	for same < len(in) && same < len(out) && bytes.Equal(in[same].raw, out[same].raw) {
		same++
	}
	switch {
	case same == len(in) && len(out) == len(in)+1 && out[same].kind == "text":
		ch.note = out[same].text
	case same == len(in)-1 && len(out) == len(in) && out[same].kind == "text" && in[same].kind == "text":
		note, ok := strings.CutPrefix(out[same].text, in[same].text)
		if !ok {
			return "the system prompt was rewritten"
		}
		ch.note = note
	default:
		return "the system prompt was rewritten"
	}
	if strings.TrimSpace(ch.note) == "" {
		return "an empty note"
	}
	return ""
}
