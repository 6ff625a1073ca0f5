package compressor

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/elbowroom/elbowroom/conversation"
)

// Sizes of argument pruning, in characters (rows PR15 to PR23).
const (
	argumentsMinChars = 500 // arguments up to this size stay
	leafMaxChars      = 200 // what stays of a longer string inside them
)

// leafMarker begins the note at the end of a cut string. It says what it is, so
// that no model takes it for content (field report: copied markers).
const leafMarker = "...[truncated: "

// pruneArguments cuts the long strings inside a call's arguments. Everything
// else, keys, numbers and spacing included, keeps its bytes, and the result is
// valid JSON because the input was.
func pruneArguments(ref conversation.Ref, b *conversation.Block) (edit, bool) {
	before := utf8.RuneCountInString(b.Input)
	if before <= argumentsMinChars {
		return edit{}, false
	}
	literals, ok := conversation.StringValues(b.Input)
	if !ok {
		return edit{}, false
	}
	var sb strings.Builder
	at := 0
	for _, lit := range literals {
		cut, ok := cutLeaf(lit.Text)
		if !ok {
			continue
		}
		quoted := conversation.Quote(cut)
		if len(quoted) >= lit.Span.Len() {
			continue
		}
		sb.WriteString(b.Input[at:lit.Span.Start])
		sb.WriteString(quoted)
		at = lit.Span.End
	}
	if at == 0 {
		return edit{}, false
	}
	sb.WriteString(b.Input[at:])
	text := sb.String()
	return edit{text, Pruned{
		Ref: ref, Kind: PruneArguments, Tool: b.Name,
		CharsBefore: before, CharsAfter: utf8.RuneCountInString(text),
	}}, true
}

// cutLeaf shortens a string to its first leafMaxChars characters and says how
// many are gone.
func cutLeaf(s string) (string, bool) {
	total := utf8.RuneCountInString(s)
	if total <= leafMaxChars || alreadyCut(s) {
		return "", false
	}
	head := clip(s, leafMaxChars)
	gone := total - utf8.RuneCountInString(head)
	out := head + leafMarker + plural(gone, "more character") + "]"
	return out, len(out) < len(s)
}

// alreadyCut recognizes a string that cutLeaf made.
func alreadyCut(s string) bool {
	at := strings.LastIndex(s, leafMarker)
	if at < 0 || !strings.HasSuffix(s, "]") {
		return false
	}
	var gone int
	_, err := fmt.Sscanf(s[at+len(leafMarker):], "%d more character", &gone)
	return err == nil && utf8.RuneCountInString(s[:at]) <= leafMaxChars
}

// clip returns the longest beginning of s of at most n characters that ends
// between two user-perceived characters, so that no emoji is torn.
func clip(s string, n int) string {
	chars, end := 0, 0
	for it := graphemes.FromString(s); it.Next(); {
		chars += utf8.RuneCountInString(it.Value())
		if chars > n {
			break
		}
		end = it.End()
	}
	return s[:end]
}
