package elbowroom

import (
	"crypto/sha256"
	"unicode/utf8"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// deltaBytes is more than a delta costs beside its text: a digest, two numbers and
// their framing.
const deltaBytes = 96

// deltaOf is what leads from an earlier body to this one: one splice between what
// both begin and what both end with. It is nil where sending the body costs no more.
func deltaOf(base, body []byte) *elbowroomv1.NativeDelta {
	shorter := min(len(base), len(body))
	head := 0
	for head < shorter && base[head] == body[head] {
		head++
	}
	for head > 0 && (splitsRune(body, head) || splitsRune(base, head)) {
		head--
	}
	tail := 0
	for tail < shorter-head && base[len(base)-1-tail] == body[len(body)-1-tail] {
		tail++
	}
	for tail > 0 && splitsRune(body, len(body)-tail) {
		tail--
	}
	text := body[head : len(body)-tail]
	if len(text)+deltaBytes >= len(body) || !utf8.Valid(text) {
		return nil
	}
	digest := sha256.Sum256(base)
	delta := &elbowroomv1.NativeDelta{Base: digest[:]}
	if removed := len(base) - tail - head; removed > 0 || len(text) > 0 {
		delta.Splices = []*elbowroomv1.Splice{{Offset: int64(head), Length: int64(removed), Text: string(text)}}
	}
	return delta
}

// splitsRune reports whether a cut at i parts the bytes of one character.
func splitsRune(text []byte, i int) bool { return i < len(text) && !utf8.RuneStart(text[i]) }
