package llm

import "strings"

// visible is a text without the characters that a reader does not see and a model
// or a terminal obeys: controls other than the tab and the line feed, overrides of
// the writing direction, and characters without width that can carry a hidden
// text or part a word for whoever looks for it. Whatever else ends a line becomes
// a line feed. The joiners and direction marks that scripts need stay
// (U+200C to U+200F, U+061C), and so do U+FE00 to U+FE0F, which emoji need.
func visible(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\t':
			return c
		case c == '\r', c == '\v', c == '\f', c == 0x85, c == 0x2028, c == 0x2029:
			return '\n'
		case c < ' ', c >= 0x7F && c <= 0x9F, // C0, DEL, C1
			c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069, // embeddings, overrides, isolates
			c == 0xAD, c == 0x180E, c == 0x200B, c >= 0x2060 && c <= 0x2065, c >= 0x206A && c <= 0x206F, c == 0xFEFF,
			c >= 0xFFF9 && c <= 0xFFFB, c >= 0xE0000 && c <= 0xE0FFF: // annotations; tags and variation selectors
			return -1
		default:
			return c
		}
	}, text)
}
